/** Answers that are put into a chat's history between two turns. */
import type { ApprovalError } from "@assent/ai"
import {
  Approval,
  ApprovalJournal,
  ApprovalPolicy,
  Chat,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Ref, Schema } from "effect"
import { AiError } from "effect/ai"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)

const story = (turns: ReadonlyArray<ScriptedModel.Turn>) =>
  Effect.gen(function*() {
    const runs: Array<string> = []
    const { model } = yield* ScriptedModel.make({
      turns: [[ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: "a" } })], ...turns]
    })
    const within = Effect.provide(Layer.mergeAll(
      toolkit.toLayer({
        DeleteFile: ({ path }) =>
          Effect.sync(() => {
            runs.push(path)
            return path
          })
      }),
      Layer.succeed(LanguageModel.LanguageModel, model)
    ))
    const chat = yield* Chat.empty
    const asked = yield* within(chat.generateText({ prompt: "tidy up", toolkit }))
    return { asked, chat, runs, within, request: Response.approvalRequests(asked)[0]! }
  })

const decidedBy = ({ content }: { readonly content: ReadonlyArray<Response.AnyPart> }) =>
  content.flatMap((part) =>
    part.type === "tool-result"
      ? [(part.metadata.assent as { readonly decidedBy?: unknown } | undefined)?.decidedBy]
      : []
  )

const fresh = Effect.provide(ApprovalJournal.layerMemory())

const reasonOf = (effect: Effect.Effect<void, ApprovalError.ApprovalError>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason._tag)

describe("Chat.answer", () => {
  it.effect("says nothing of who answers: it is nobody known, whatever the answer says (L16)", () =>
    Effect.gen(function*() {
      const { chat, request, runs, within } = yield* story(["done"])
      const by = { id: "ada", via: "conversation" }
      yield* Chat.answer(chat, [{ ...Approval.approve(request), by, decidedBy: by } as Approval.ApprovalAnswer])
      const turn = yield* within(chat.generateText({ prompt: Prompt.empty, toolkit }))
      assert.deepStrictEqual([decidedBy(turn), runs], [[{ via: "message" }], ["a"]])
    }).pipe(fresh))

  it.effect("settles nothing where the policy names who may decide: the request stays open (L16)", () =>
    Effect.gen(function*() {
      const { chat, request, runs, within } = yield* story(["done"])
      const policy = ApprovalPolicy.make(() => Effect.succeed(Approval.needsApproval({ approvers: ["ada"] })))
      yield* Chat.answer(chat, [Approval.approve(request)])
      const turn = yield* within(chat.generateText({ prompt: Prompt.empty, toolkit })).pipe(
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
      )
      assert.deepStrictEqual(Response.approvalRequests(turn).map(({ approvalId }) => approvalId), [request.approvalId])
      assert.deepStrictEqual(runs, [])
    }).pipe(fresh))

  it.effect("an answer stays when the model call of the turn that carries it out fails, and the call runs once", () =>
    Effect.gen(function*() {
      const down = AiError.make({
        module: "test",
        method: "generateText",
        reason: new AiError.InternalProviderError({ description: "down" })
      })
      const { chat, request, runs, within } = yield* story([down, "done"])
      yield* Chat.answer(chat, [Approval.approve(request)])
      const next = within(chat.generateText({ prompt: Prompt.empty, toolkit }))
      assert.strictEqual((yield* Effect.flip(next)).reason._tag, "InternalProviderError")
      const turn = yield* next
      assert.deepStrictEqual([turn.text, runs], ["done", ["a"]])
    }).pipe(fresh))

  it.effect("a saved chat goes on after fromJson: the open request comes back with what a page shows, and is answered", () =>
    Effect.gen(function*() {
      const { chat, request, runs, within } = yield* story(["kept"])
      const saved = yield* Chat.fromJson(yield* chat.exportJson)
      const poll = yield* within(saved.generateText({ prompt: Prompt.empty, toolkit }))
      assert.deepStrictEqual(Response.approvalRequests(poll), [request])
      yield* Chat.answer(saved, [Approval.deny(request, "keep it")])
      const turn = yield* within(saved.generateText({ prompt: Prompt.empty, toolkit }))
      assert.deepStrictEqual([turn.text, runs], ["kept", []])
    }).pipe(fresh))

  it.effect("an unknown id, and a request that has its result, are refused and change nothing", () =>
    Effect.gen(function*() {
      const { chat, request, within } = yield* story(["done"])
      const before = yield* Ref.get(chat.history)
      const unknown = Approval.approve({ approvalId: "x".repeat(10_000) })
      assert.strictEqual(yield* reasonOf(Chat.answer(chat, [unknown])), "UnknownApproval")
      assert.strictEqual(yield* Ref.get(chat.history), before)
      const refused = yield* Chat.answer(chat, [Approval.approve(request), unknown])
      assert.deepStrictEqual(refused.map(({ error }) => error.reason._tag), ["UnknownApproval"])
      yield* within(chat.generateText({ prompt: Prompt.empty, toolkit }))
      assert.strictEqual(yield* reasonOf(Chat.answer(chat, [Approval.deny(request)])), "AlreadyDecided")
    }).pipe(fresh))
})
