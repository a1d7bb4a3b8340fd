/** Who is asked before a file is deleted: the person at the terminal, or one whose answers are known beforehand. */
import { Approval, ApprovalController } from "@assent/ai"
import type { ScriptedApprover } from "@assent/ai/testing"
import { Console, Effect, Predicate, type Terminal } from "effect"
import { Prompt } from "effect/cli"

const message = "Delete? [y]es / [n]o / n <reason>"

/** The reason of somebody who pressed Ctrl-C, or whose input ended, instead of answering. */
export const leaving = "I am leaving, stop here."

/** Shows each request, and takes a line as the answer. Anything but a clear yes is a no, with what was typed as its reason. */
const asking = <R>(answer: Effect.Effect<string, Terminal.QuitError, R>) =>
  ApprovalController.layerInteractive((request) =>
    Console.log(question(request)).pipe(
      Effect.andThen(answer),
      Effect.map((line) => isYes.test(line) ? true : Approval.deny(request, line.replace(no, "").trim() || undefined)),
      Effect.catch(() => Effect.succeed(Approval.deny(request, leaving)))
    )
  )

const isYes = /^\s*(y|yes)\s*$/i
const no = /^\s*(no|n)(\s|$)/i

/** Asks at the terminal. */
export const atTerminal = asking(Prompt.run(Prompt.String({
  message,
  validate: (line) =>
    isYes.test(line) || no.test(line) ? Effect.succeed(line) : Effect.fail("Type y, n, or n and a reason.")
})))

/** Types these answers, and denies whatever is asked after them. */
export const scripted = (steps: ReadonlyArray<ScriptedApprover.ParsedStep>) => {
  const lines = steps.map((step) => step === "approve" ? "y" : Predicate.isString(step) ? "n" : `n ${step.deny}`).values()
  return asking(Effect.suspend(() => {
    const line = lines.next().value ?? "n no more answers"
    return Effect.as(Console.log(`? ${message} › ${Approval.escapeText(line)}\n`), line)
  }))
}

/** Everything in it comes from a model or a file, so everything is escaped and cut (law L15). */
const question = ({ params, presentation, toolName }: Approval.ApprovalRequest): string => {
  const begin = presentation?.content.trimEnd().split("\n").slice(0, 3) ?? []
  const rows = [
    ...Object.entries({ ...(Predicate.isObject(params) ? params : {}), ...presentation?.metadata }),
    ...begin.map((text, index) => [index === 0 ? "content" : "", text] as const)
  ]
  return [`\n? ${Approval.escapeText(toolName)}`, ...rows.map(([key, value]) =>
    `  | ${key.padEnd(8)}${Approval.escapeText(String(value), { maxLength: 60 })}`
  )].join("\n")
}
