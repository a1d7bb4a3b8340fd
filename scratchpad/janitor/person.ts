/** Who is asked before a file is deleted: the person at the terminal, or one whose answers are known beforehand. */
import { Approval, ApprovalController } from "@assent/ai"
import type { ScriptedApprover } from "@assent/ai/testing"
import { Console, Effect, Predicate, type Terminal } from "effect"
import { Prompt } from "effect/cli"
import { clip } from "./transcript.ts"

const message = ({ toolName }: Approval.ApprovalRequest) =>
  `${toolName === "DeleteFile" ? "Delete" : "Allow"}? [y]es / [n]o / n <reason>`

const yes = /^\s*(y|yes)\s*$/i
const no = /^\s*(n|no)(\s|$)/i

/** The reason of somebody who pressed Ctrl-C, or whose input ended, instead of answering. */
export const leaving = "I am leaving, stop here."

/** Shows a request and takes a line for the answer. Whatever is not a yes is a no, and the rest of it the reason. */
const asking = <R>(answer: (message: string) => Effect.Effect<string, Terminal.QuitError, R>) =>
  ApprovalController.layerInteractive((request) =>
    // What the agent says of it is shown before.
    Effect.sleep("10 millis").pipe(
      Effect.andThen(Console.log(question(request))),
      Effect.andThen(answer(message(request))),
      Effect.map((line) => yes.test(line) || Approval.deny(request, line.replace(no, "").trim() || undefined)),
      Effect.catch(() => Effect.as(Console.log(), Approval.deny(request, leaving)))
    )
  )

/** Asks at the terminal. */
export const atTerminal = asking((message) =>
  Prompt.run(Prompt.String({
    message,
    validate: (line) =>
      yes.test(line) || no.test(line) ? Effect.succeed(line) : Effect.fail("Type y, n, or n and a reason.")
  }))
)

/** Answers by a script; what it leaves open is denied. */
export const scripted = (steps: ReadonlyArray<ScriptedApprover.ParsedStep>) => {
  const rest = steps.values()
  return asking((message) =>
    Effect.suspend(() => {
      const step = rest.next().value
      const line = step === "approve" ? "y" : Predicate.isObject(step) ? `n ${step.deny}` : "n"
      return Effect.as(Console.log(`? ${message} › ${Approval.escapeText(line)}`), line)
    })
  )
}

/** What is asked, with what the tool presents. It all comes from a model or a file, so it is all escaped (law L15). */
const question = ({ params, presentation, toolName }: Approval.ApprovalRequest): string =>
  [
    `\n  ${Approval.escapeText(toolName)}`,
    ...Object.entries({ ...Object(params), ...presentation?.metadata }).map(([key, value]) => row(key, String(value))),
    ...(presentation?.content.trimEnd().split("\n").slice(0, 3).map((text) => row("", text)) ?? [])
  ].join("\n")

const row = (name: string, value: string): string => `  | ${clip(name, 6).padEnd(6)}${clip(value, 66)}`
