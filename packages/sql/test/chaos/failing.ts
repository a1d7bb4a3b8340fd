/** What a failure that is passed on may say, and what a model may read of it. */
import type { Prompt } from "@assent/ai"
import { Cause, type Exit } from "effect"
import type * as World from "./world.ts"

/** What is wrong with how a process ended: an error that is typed, and one that says what it has to say. */
export const problemsOfExit = (exit: Exit.Exit<unknown, unknown>, says?: string): ReadonlyArray<string> => {
  if (exit._tag === "Success") return []
  const [reason, ...more] = exit.cause.reasons
  if (reason === undefined || more.length > 0 || !Cause.isFailReason(reason)) {
    return [`it failed with no typed error: ${Cause.pretty(exit.cause).split("\n")[0]}`]
  }
  const { _tag, message } = reason.error as { readonly _tag?: string; readonly message?: string }
  if (!["ConversationError", "ApprovalError", "StoreError", "AiError"].includes(_tag ?? "")) {
    return [`it failed with ${_tag}: ${message}`]
  }
  return says === undefined || message?.includes(says) === true ? [] : [`the error does not say "${says}": ${message}`]
}

/** No path and no SQL is in what a model was sent. */
export const problemsOfPrompts = (world: World.World, prompts: ReadonlyArray<Prompt.Prompt>): ReadonlyArray<string> => {
  const sent = JSON.stringify(prompts.map(({ content }) => content))
  // Not four letters in the middle of an id, which are there by chance once in a dozen long runs.
  return [world.folder, "approvals.db", "assent_", "INSERT", "UPDATE", "SELECT", "COMMIT", "SQLITE", " disk"]
    .filter((words) => sent.includes(words))
    .map((words) => `the model was sent "${words}"`)
}
