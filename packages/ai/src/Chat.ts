/**
 * Upstream's `Chat`, with approvals around whatever service its turns find, and with {@link answer}.
 *
 * @since 0.1.0
 */
import * as Upstream from "effect/ai/Chat"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import type * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import * as Bounds from "./internal/bounds.ts"
import * as Ending from "./internal/history/ending.ts"
import * as Transcript from "./internal/history/transcript.ts"
import * as Posted from "./internal/posted.ts"
import { imported, protectOnce, protectPersistence } from "./internal/turn/protectChat.ts"
import * as ProtectedTag from "./internal/turn/protectedTag.ts"
import * as Prompts from "./Prompt.ts"

export * from "effect/ai/Chat"

// =============================================================================
// Services
// =============================================================================

/**
 * A chat, as upstream has it.
 *
 * @category models
 * @since 0.1.0
 */
export type Chat = Upstream.Chat

/**
 * Upstream's tag of chats. The chat it gives has approvals around it, whoever provided it.
 *
 * @example
 * import { Chat, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 * import { Chat as Upstream } from "effect/ai"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.Chat
 *   return Response.isWaiting(yield* chat.generateText({ prompt: "Clean up.", toolkit }))
 * }).pipe(
 *   // Somebody else provided it, without approvals.
 *   Effect.provideServiceEffect(Upstream.Chat, Upstream.empty),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category services
 * @since 0.1.0
 */
export const Chat: typeof Upstream.Chat = ProtectedTag.make(Upstream.Chat, protectOnce)

/**
 * Upstream's tag of what keeps chats. The chats it gives have approvals around them, whoever provided it.
 *
 * @example
 * import { Chat } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer } from "effect"
 * import { Persistence } from "effect/persistence"
 *
 * const program = Effect.gen(function*() {
 *   const chats = yield* Chat.Persistence
 *   const chat = yield* chats.getOrCreate("chat-7")
 *   yield* chat.generateText({ prompt: "Hello." })
 *   const again = yield* chats.get("chat-7")
 *   return (yield* again.exportJson).includes("Good morning.")
 * }).pipe(
 *   Effect.provide(Layer.provide(Chat.layerPersisted({ storeId: "chats" }), Persistence.layerBackingMemory)),
 *   Effect.provide(ScriptedModel.layer({ turns: ["Good morning."] }))
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category services
 * @since 0.1.0
 */
export const Persistence: typeof Upstream.Persistence = ProtectedTag.make(Upstream.Persistence, protectPersistence)

/**
 * What keeps chats, as upstream has it.
 *
 * @category models
 * @since 0.1.0
 */
export type Persistence = Upstream.Persistence

/**
 * What keeps chats, as upstream has it.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace Persistence {
  export type Service = Upstream.Persistence.Service
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * A chat without a history.
 *
 * @example
 * import { Chat, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * // The service is a bare one: the chat puts the engine around it by itself.
 * const program = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]]
 *   })
 *   const chat = yield* Chat.empty
 *   const turn = yield* chat.generateText({ prompt: "Clean up.", toolkit }).pipe(
 *     Effect.provideService(LanguageModel.LanguageModel, model)
 *   )
 *   return Response.isWaiting(turn)
 * }).pipe(Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })))
 *
 * await Effect.runPromise(program) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: typeof Upstream.empty = Effect.map(Upstream.empty, protectOnce)

/**
 * A chat that begins with a prompt, such as the instructions of the system.
 *
 * @example
 * import { Chat, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.fromPrompt([{ role: "system", content: "You keep this computer clean." }])
 *   return Response.isWaiting(yield* chat.generateText({ prompt: "Clean up.", toolkit }))
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromPrompt: typeof Upstream.fromPrompt = (prompt) => Effect.flatMap(Upstream.fromPrompt(prompt), imported)

/**
 * A chat that goes on from what `export` gave, open requests included.
 *
 * @example
 * import { Approval, Chat, Prompt, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { success: Schema.String, needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.empty
 *   const asked = yield* chat.generateText({ prompt: "Clean up.", toolkit })
 *   const later = yield* Chat.fromExport(yield* chat.export)
 *   const answers = Response.approvalRequests(asked).map((request) => Approval.approve(request))
 *   const turn = yield* later.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
 *   return turn.toolResults[0]?.result
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.succeed("3 files") })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })], "All is gone."]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => "3 files"
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromExport: typeof Upstream.fromExport = (data) =>
  Effect.flatMap(Effect.suspend(() => Upstream.fromExport(Bounds.cutBelow(data, Bounds.readable))), imported)

/**
 * A chat that goes on from what `exportJson` gave, open requests included.
 *
 * @example
 * import { Approval, Chat, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { success: Schema.String, needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.empty
 *   const [request] = Response.approvalRequests(yield* chat.generateText({ prompt: "Clean up.", toolkit }))
 *   const kept: string = yield* chat.exportJson
 *   // A week later, in another process.
 *   const later = yield* Chat.fromJson(kept)
 *   yield* Chat.answer(later, [Approval.deny(request!, "Not the photographs.")])
 *   return (yield* later.generateText({ prompt: [], toolkit })).text
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.succeed("3 files") })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })], "I left them."]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => "I left them."
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromJson: typeof Upstream.fromJson = (data) => {
  const read = Result.try((): unknown => JSON.parse(data))
  // What is no JSON, upstream tells best.
  return Result.isSuccess(read) ? fromExport(read.success) : Effect.map(Upstream.fromJson(data), protectOnce)
}

/**
 * What keeps chats in the `BackingPersistence` of `effect/persistence`: each turn is saved, open requests included.
 *
 * @example
 * import { Chat } from "@assent/ai"
 * import { Effect } from "effect"
 * import { Persistence } from "effect/persistence"
 *
 * const program = Effect.gen(function*() {
 *   const chats = yield* Chat.makePersisted({ storeId: "chats" })
 *   const missing = yield* Effect.flip(chats.get("chat-8"))
 *   yield* chats.getOrCreate("chat-8")
 *   return [missing._tag, (yield* chats.get("chat-8")).id]
 * }).pipe(Effect.provide(Persistence.layerBackingMemory))
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["ChatNotFoundError", "chat-8"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const makePersisted: typeof Upstream.makePersisted = (options) =>
  Effect.map(Upstream.makePersisted(options), protectPersistence)

/**
 * {@link makePersisted} as a layer, under the tag {@link Persistence}.
 *
 * @example
 * import { Chat, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer } from "effect"
 * import { Persistence } from "effect/persistence"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 * const Chats = Chat.layerPersisted({ storeId: "chats" }).pipe(Layer.provide(Persistence.layerBackingMemory))
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Effect.flatMap(Chat.Persistence, (chats) => chats.getOrCreate("chat-7"))
 *   return Response.isWaiting(yield* chat.generateText({ prompt: "Clean up.", toolkit }))
 * }).pipe(
 *   Effect.provide(Chats),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPersisted: typeof Upstream.layerPersisted = (options) =>
  Layer.effect(Persistence, makePersisted(options))

// =============================================================================
// Answering
// =============================================================================

/**
 * Puts answers into a chat's history, between two turns; the next turn carries them out. Unlike answers that are passed
 * as a turn's prompt, they stay when that turn's model call fails, and `export` has them.
 *
 * Every answer stands alone. Gives those that have no effect, with why: `InvalidAnswer` for what cannot be read as an
 * answer, `UnknownApproval` where the history has no request of that id, and `AlreadyDecided` where the request's call
 * has its result. If none has an effect, it fails with the first of these, and changes nothing.
 *
 * Whoever may write a chat's history may put an answer there, and the history does not say who did. So an answer given
 * here is of nobody known (law L16), and edited parameters count only where the policy says so (law L4). Where a policy
 * names approvers it settles nothing: decide through a `Conversation`, or a controller, which say who it is.
 *
 * @example
 * import { Approval, ApprovalError, Chat } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.empty
 *   yield* Chat.answer(chat, [Approval.approve({ approvalId: "id-1" })])
 *   return "answered"
 * }).pipe(ApprovalError.catchReason("UnknownApproval", () => Effect.succeed("no such request")))
 *
 * await Effect.runPromise(program) // => "no such request"
 *
 * @category approvals
 * @since 0.1.0
 */
export const answer = Effect.fnUntraced(function*(
  chat: Chat,
  answers: ReadonlyArray<Approval.AnswerInput>
): Effect.fn.Return<ReadonlyArray<Posted.RefusedAnswer>, ApprovalError.ApprovalError> {
  const read = yield* Effect.suspend(() => Effect.fromResult(Posted.each(answers)))
  const refused = [...read.refused]
  const said: Array<Approval.ApprovalAnswer> = []
  const history = yield* Ref.get(chat.history)
  const known = new Map(Transcript.readWhole(history.content).allRequests.map((one) => [one.part.approvalId, one]))
  for (const answer of read.answers) {
    const { approvalId } = answer
    const request = known.get(approvalId)
    const reason = request === undefined
      ? new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) })
      : (request.call ?? request.providerCall)?.result === undefined
      ? undefined
      : new ApprovalError.AlreadyDecided({ approvalId, state: Ending.stateOf(request) })
    if (reason === undefined) said.push(answer)
    else refused.push({ approvalId, error: ApprovalError.make(reason) })
  }
  const [first] = refused
  if (first !== undefined && said.length === 0) return yield* first.error
  yield* Ref.update(chat.history, Prompt.concat(Prompts.approvalResponses(said)))
  return refused
})
