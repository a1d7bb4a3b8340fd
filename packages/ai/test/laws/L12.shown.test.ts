/**
 * L12 and L8: a call that was approved by what was shown of it, and that the policy forbids after all, holds up none of
 * those that were shown and approved behind it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalPolicy,
  ApprovalPresentation,
  LanguageModel,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

const WriteFile = Tool.present(
  Tool.make("WriteFile", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true }),
  ({ path }) => Effect.succeed(ApprovalPresentation.text(path))
)

const write = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "WriteFile", params: { path } })

describe("an object, and calls that were shown", () => {
  it.effect("L12 what is forbidden once it was approved holds up none behind it", () =>
    C.fresh(Effect.gen(function*() {
      const runs: Array<string> = []
      const toolkit = yield* C.withHandlers(Toolkit.make(WriteFile), {
        WriteFile: ({ path }: { readonly path: string }) => Effect.sync(() => (runs.push(path), "written"))
      })
      const approved = new Set<string>()
      const person = ApprovalController.interactive((request) => (approved.add(request.toolCallId), true))
      const policy = ApprovalPolicy.make(({ toolCallId }) =>
        toolCallId === "c1" && approved.has("c1") ? Approval.blocked("not today") : undefined
      )
      const script = yield* ScriptedModel.make({
        turns: [[ScriptedModel.text(`{"count":2}`), write("c1", "a"), write("c2", "b")]]
      })
      const { content, value } = yield* LanguageModel.generateObject({
        prompt: "write",
        toolkit,
        schema: Schema.Struct({ count: Schema.Number })
      }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model),
        Effect.provideService(ApprovalController.ApprovalController, person),
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
      )
      const results = content.flatMap((part) => part.type === "tool-result" ? [[part.id, part.isFailure]] : [])
      assert.deepStrictEqual([value, runs, results], [{ count: 2 }, ["b"], [["c1", true], ["c2", false]]])
    })))
})
