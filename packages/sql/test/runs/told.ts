/** A model that pays unless it is told that it has, and what it is told. */
import type { Prompt } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"

const partsOf = (prompt: Prompt.Prompt) =>
  prompt.content.flatMap((message): ReadonlyArray<Prompt.Part> => message.role === "system" ? [] : message.content)

export const unlessTold = (tool: string) =>
  ScriptedModel.make({
    turns: [],
    afterLastTurn: ({ prompt }) =>
      partsOf(prompt).some((part) => part.type === "tool-call")
        ? "Done."
        : [ScriptedModel.toolCall({ id: "pay-1", name: tool, params: {} })]
  })

/** What became of the calls. */
export const of = (prompt: Prompt.Prompt): ReadonlyArray<{ readonly isFailure: boolean; readonly result: unknown }> =>
  partsOf(prompt).flatMap((part) =>
    part.type === "tool-result" ? [{ isFailure: part.isFailure, result: part.result }] : []
  )
