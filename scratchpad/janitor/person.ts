/** Who is asked before a file is deleted: the person at the terminal, or one whose answers are known beforehand. */
import { Approval, ApprovalController } from "@assent/ai"
import type { ScriptedApprover } from "@assent/ai/testing"
import { TerminalController } from "@assent/terminal"
import { Console, Effect, Predicate } from "effect"
import { clip } from "./transcript.ts"

const message = ({ toolName }: Approval.ApprovalRequest) =>
  `${toolName === "DeleteFile" ? "Delete" : "Allow"}? [y]es / [n]o / n <reason>`

const yes = /^\s*(y|yes)\s*$/i
const no = /^\s*(n|no)(\s|$)/i

/** Asks at the terminal. */
export const atTerminal = TerminalController.layer()

/** Answers by a script; what it leaves open is denied. Whatever is not a yes is a no, and the rest of it the reason. */
export const scripted = (steps: ReadonlyArray<ScriptedApprover.ParsedStep>) => {
  const rest = steps.values()
  return ApprovalController.layerInteractive((request) =>
    Effect.gen(function*() {
      // What the agent says of it is shown before.
      yield* Effect.sleep("10 millis")
      const step = rest.next().value
      const line = step === "approve" ? "y" : Predicate.isObject(step) ? `n ${step.deny}` : "n"
      yield* Console.log(question(request))
      yield* Console.log(`? ${message(request)} › ${Approval.escapeText(line)}`)
      return yes.test(line) || Approval.deny(request, line.replace(no, "").trim() || undefined)
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
