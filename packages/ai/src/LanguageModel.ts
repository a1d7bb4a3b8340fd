/**
 * Upstream's `LanguageModel`, with approvals that can be trusted.
 *
 * Everything of `effect/ai/LanguageModel` is here. {@link generateText}, {@link streamText} and {@link generateObject} put
 * the engine around whatever service they find, and so does the tag, {@link LanguageModel}; {@link withApproval} and
 * {@link approval} do so once, for programs that call upstream's own functions or `Chat`.
 *
 * @since 0.1.0
 */
import * as Upstream from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Layer from "effect/Layer"
import * as Approval from "./Approval.ts"
import type * as ApprovalError from "./ApprovalError.ts"
import * as ApprovalSeal from "./ApprovalSeal.ts"
import * as Environment from "./internal/environment/environment.ts"
import { definedFields } from "./internal/fields.ts"
import * as Suspension from "./internal/gather/suspension.ts"
import * as Verdict from "./internal/gather/verdict.ts"
import * as ProviderPrompt from "./internal/history/providerPrompt.ts"
import * as Transcript from "./internal/history/transcript.ts"
import * as HostedSeal from "./internal/hosted/seal.ts"
import * as ApprovalId from "./internal/seal/approvalId.ts"
import * as Wrap from "./internal/turn/wrap.ts"

export * from "effect/ai/LanguageModel"

// =============================================================================
// Service
// =============================================================================

/**
 * A language model, as upstream has it.
 *
 * @category models
 * @since 0.1.0
 */
export type LanguageModel = Upstream.LanguageModel

/**
 * Upstream's tag of language models, which gives them with approvals around: `yield* LanguageModel.LanguageModel`, its
 * `use` and `useSync`, and wherever else it is run as an effect. The key is the same, so what is provided by one tag is
 * found by the other.
 *
 * What reads a context instead of running the tag, `Context.get` and `Effect.serviceOption`, finds the service as it was
 * provided; {@link withApproval} puts approvals around that.
 *
 * @example
 * import { LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const model = yield* LanguageModel.LanguageModel
 *   const response = yield* model.generateText({ prompt: "Clean up.", toolkit })
 *   return Response.isWaiting(response)
 * }).pipe(
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
export const LanguageModel: typeof Upstream.LanguageModel = Wrap.tag

// =============================================================================
// Options
// =============================================================================

/**
 * How the engine behaves; every field has a safe default.
 *
 * @category options
 * @since 0.1.0
 */
export interface ApprovalOptions {
  /**
   * What a new user message means for requests that are open (law L6). `"supersede"` (default): they fail as
   * superseded and may be asked again. `"keep"`: the model goes on and sees that they wait; a later answer still
   * counts, and what came of it is told where the prompt ends then (law L7). `"hold"`: the model is not called.
   * `"fail"`: the call fails with `ApprovalRequired`.
   */
  readonly onNewMessage?: "supersede" | "keep" | "hold" | "fail" | undefined
  /** What a bad approval becomes (law L4): a failed result that says why (`"result"`, default), or an error. */
  readonly onInvalid?: "result" | "fail" | undefined
  /** How many approved calls run at once, where the call itself does not say (default 8). */
  readonly concurrency?: number | undefined
  /** How long a request can be answered, where the policy does not say (default: it waits until it is answered). */
  readonly expiresIn?: Duration.Input | undefined
  /** How long a policy may take before a person is asked instead (default 30 seconds, law L1). */
  readonly policyTimeLimit?: Duration.Input | undefined
  /** Whether the parameters of approved calls are written into their spans (default no, law L15). */
  readonly paramsInSpans?: boolean | undefined
  /**
   * How large the result of a call may be as JSON (default 10 MiB, law L17). In the place of a larger one the model gets a
   * failed result, which says that the call ran and that it is to ask for less.
   */
  readonly maxResultSize?: ByteSize.Input | undefined
}

// =============================================================================
// Around an existing provider
// =============================================================================

/**
 * Puts approvals around a language model service. Without options, a service that has them is returned as it is, and a
 * bare one always gives the same wrapped service. Options count over those that were given before. Seal, journal,
 * policy and controller are those of the context in which the calls are made.
 *
 * @example
 * import { LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 * import { LanguageModel as Upstream } from "effect/ai"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * // What calls upstream's own functions, such as another library, finds a model that asks.
 * const library = Upstream.generateText({ prompt: "Clean up.", toolkit })
 *
 * const program = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]]
 *   })
 *   const careful = LanguageModel.withApproval(model, { expiresIn: "1 hour" })
 *   return Response.isWaiting(yield* Effect.provideService(library, Upstream.LanguageModel, careful))
 * }).pipe(Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })))
 *
 * await Effect.runPromise(program) // => true
 *
 * @category combinators
 * @since 0.1.0
 */
export const withApproval: {
  (options?: ApprovalOptions): (model: LanguageModel) => LanguageModel
  (model: LanguageModel, options?: ApprovalOptions): LanguageModel
} = dual(
  (args) => Wrap.isModel(args[0]),
  (model: LanguageModel, options?: ApprovalOptions): LanguageModel =>
    options === undefined
      ? Wrap.wrapDefault(model)
      : Wrap.wrapOver(model, Context.empty(), definedFields(options))
)

/**
 * Puts approvals around the language model of a layer, keeping its other services: `OpenAiLanguageModel.model("…")`
 * stays a `Model`. Seal, journal, policy and controller provided to the layer are kept for its calls; those provided
 * to a call win.
 *
 * @example
 * import { LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 * import { Chat } from "effect/ai"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * // In a program: `OpenAiLanguageModel.model("gpt-5.2").pipe(LanguageModel.approval())`, and its like.
 * const Model = ScriptedModel.layer({
 *   turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]]
 * }).pipe(LanguageModel.approval({ expiresIn: "1 day" }))
 *
 * // Upstream's own Chat, which knows nothing of approvals, asks all the same.
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.empty
 *   return Response.isWaiting(yield* chat.generateText({ prompt: "Clean up.", toolkit }))
 * }).pipe(Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })))
 *
 * await Effect.runPromise(Effect.provide(program, Model)) // => true
 *
 * @category combinators
 * @since 0.1.0
 */
export const approval =
  (options?: ApprovalOptions) => <L extends Layer.Layer<LanguageModel, unknown, unknown>>(self: L): L =>
    Wrap.mapLayer(
      self,
      (model, context) => Wrap.wrapOver(model, Environment.capture(context), definedFields(options))
    )

// =============================================================================
// For authors of providers
// =============================================================================

/**
 * Upstream's `make`, with approvals: for authors of providers.
 *
 * The hooks get a well-formed prompt (law L7): every local call directly followed by its one result, and no approval
 * part but those the provider itself asked for. For a call the provider runs itself (`providerExecuted: true`), emit
 * the call and a `tool-approval-request` part with the provider's own id. The answer comes back in a later prompt as a
 * `tool-approval-response` part, once and in its place, together with the request it answers (law L9); map both to the
 * provider's form. What the provider must have back of a request belongs in the call's `metadata`.
 *
 * Where one tool stands for many, as for those of an MCP server, the call's `metadata.assent` says what it is about: `{
 * source: "mcp.github", toolName: "mcp.github.create_issue", params }`; that is what policies and people see.
 *
 * A call is sealed together with its request, so that a history cannot change what is decided about. For that, emit the
 * request in the same response as its call; in a stream, right behind the call, within 100 milliseconds. All other
 * providers call {@link sealRequest}. Where a policy, a controller or a memory decides, a request whose call has no
 * true seal is denied (law L4).
 *
 * A policy or a controller may answer at once: then the hook is called again within the turn, and the program's history
 * holds neither request nor answer. What tells of them later is the call's metadata and its result: one that the
 * provider gave was approved, and a failed one whose `options.assent` names an approval was denied.
 *
 * @example
 * import { LanguageModel, Prompt } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 *
 * // A provider that answers with what it was sent.
 * const provider = LanguageModel.make({
 *   generateText: ({ prompt }) => {
 *     const roles = prompt.content.map(({ role }) => role)
 *     return Effect.succeed([ScriptedModel.text(roles.join(", ")), ScriptedModel.finish("stop")])
 *   },
 *   streamText: () => Stream.empty
 * })
 *
 * // A turn that was cut has left a call without its result; real providers refuse such a prompt.
 * const call = Prompt.toolCallPart({ id: "call-1", name: "Look", params: {}, providerExecuted: false })
 * const prompt = Prompt.concat(Prompt.fromMessages([Prompt.assistantMessage({ content: [call] })]), "And then?")
 * const program = Effect.flatMap(provider, (model) => model.generateText({ prompt }))
 *
 * await Effect.runPromise(program).then(({ text }) => text) // => "assistant, tool, user"
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  params: Parameters<typeof Upstream.make>[0],
  options?: ApprovalOptions
): Effect.Effect<LanguageModel> =>
  Effect.contextWith((context: Context.Context<never>) => {
    return Effect.map(
      Upstream.make({
        ...params,
        generateText: (request) => params.generateText(ProviderPrompt.withRequests(request)),
        streamText: (request) => params.streamText(ProviderPrompt.withRequests(request))
      }),
      (model) => Wrap.wrapOver(model, Environment.capture(context), definedFields(options))
    )
  })

/**
 * Seals a call that the provider runs and asks about, with everything the call says of itself. The seal is in
 * `metadata.assent`, which chats keep. A call that has a seal already, or whose params or metadata are not JSON, is
 * returned as it is.
 *
 * @example
 * import { LanguageModel, Prompt } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const call = { id: "mcp_1", name: "Mcp", params: { repository: "docs" }, metadata: {} }
 *   const sealed = yield* LanguageModel.sealRequest(call, "mcpr_1")
 *   // The seal goes with the call, and holds for this request alone.
 *   const read = Prompt.toolCallPart({ ...call, providerExecuted: true, options: sealed.metadata })
 *   yield* LanguageModel.verifyRequest(read, "mcpr_1")
 *   return (yield* Effect.flip(LanguageModel.verifyRequest(read, "mcpr_2"))).reason._tag
 * })
 *
 * await Effect.runPromise(program) // => "Forged"
 *
 * @category constructors
 * @since 0.1.0
 */
export const sealRequest = <Call extends HostedCall>(call: Call, approvalId: string): Effect.Effect<Call> =>
  Effect.gen(function*() {
    return yield* HostedSeal.seal(yield* ApprovalSeal.ApprovalSeal, yield* Approval.Scope, call, approvalId)
  })

/**
 * Checks that a call of a history is the one that was sealed for this request, in this scope: for a provider that sends
 * a request again and runs what stands in it. Fails with `Forged`, `UnknownKey` or `Expired` (law L4).
 *
 * @example
 * import { LanguageModel, Prompt } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const asked = { type: "tool-call", id: "mcp_1", name: "Mcp", params: { repository: "docs" }, providerExecuted: true }
 *   const { metadata, ...call } = yield* LanguageModel.sealRequest({ ...asked, metadata: {} }, "mcpr_1")
 *   const read = Prompt.toolCallPart({ ...call, options: metadata })
 *   yield* LanguageModel.verifyRequest(read, "mcpr_1")
 *   const changed = Prompt.toolCallPart({ ...read, params: { repository: "billing" } })
 *   return (yield* Effect.flip(LanguageModel.verifyRequest(changed, "mcpr_1"))).reason._tag
 * })
 *
 * await Effect.runPromise(program) // => "Forged"
 *
 * @category reading
 * @since 0.1.0
 */
export const verifyRequest = (
  call: Prompt.ToolCallPart,
  approvalId: string
): Effect.Effect<void, ApprovalError.ApprovalError> =>
  Effect.gen(function*() {
    yield* HostedSeal.verify(yield* ApprovalSeal.ApprovalSeal, yield* Approval.Scope, call, approvalId)
  })

/**
 * A call of a response, as a provider emits it or as it comes out of one.
 *
 * @category models
 * @since 0.1.0
 */
export type HostedCall = Pick<Response.ToolCallPartEncoded, "id" | "name" | "params" | "metadata">

// =============================================================================
// Accessors
// =============================================================================

/**
 * Upstream's `generateText`, with approvals around whatever service it finds.
 *
 * The response holds results of calls that were settled, the model's parts, requests for calls that wait, and the
 * finish; while somebody is waited for, `Response.isWaiting` holds. Called again while a request is open, it does not call
 * the model: it settles what was answered, asks again for the rest with the same ids, and its finish reason is `"pause"`
 * (law L5).
 *
 * @example
 * import { Approval, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { success: Schema.String, needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const asked = yield* LanguageModel.generateText({ prompt: "Clean up.", toolkit })
 *   const history = Prompt.concat(Prompt.make("Clean up."), Prompt.fromResponseParts(asked.content))
 *   const answers = Response.approvalRequests(asked).map((request) => Approval.approve(request))
 *   const prompt = Prompt.concat(history, Prompt.approvalResponses(answers))
 *   const done = yield* LanguageModel.generateText({ prompt, toolkit })
 *   return [Response.isWaiting(asked), done.toolResults[0]?.result, done.text]
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.succeed("3 files") })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })], "All is gone."]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => [true, "3 files", "All is gone."]
 *
 * @category text generation
 * @since 0.1.0
 */
export const generateText: typeof Upstream.generateText = Wrap.generateText

/**
 * Upstream's `streamText`, with approvals around whatever service it finds. Parts pass in the provider's own chunks.
 * Requests come just before the finish, and only where the response is complete.
 *
 * @example
 * import { LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = LanguageModel.streamText({ prompt: "Clean up.", toolkit }).pipe(
 *   Stream.map((part) => part.type),
 *   Stream.runCollect,
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * const types = await Effect.runPromise(program)
 *
 * types.slice(-3) // => ["tool-call", "tool-approval-request", "finish"]
 *
 * @category text generation
 * @since 0.1.0
 */
export const streamText: typeof Upstream.streamText = Wrap.streamText

/**
 * Upstream's `generateObject`, with approvals around whatever service it finds. A finished value cannot wait: with an
 * open request it fails with `ApprovalRequired`, and nothing runs (law L12). Add the error's `content` and then the
 * answers to the history, and call it again.
 *
 * @example
 * import { ApprovalError, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("ReadMail", { needsApproval: true }))
 *
 * const program = LanguageModel.generateObject({
 *   prompt: "Who wrote last?",
 *   schema: Schema.Struct({ name: Schema.String }),
 *   toolkit
 * }).pipe(
 *   Effect.map(({ value }) => value.name),
 *   ApprovalError.catchReason("ApprovalRequired", ({ requests }) => Effect.succeed(`May I ${requests[0]?.toolName}?`)),
 *   Effect.provide(toolkit.toLayer({ ReadMail: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "ReadMail", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => "May I ReadMail?"
 *
 * @category object generation
 * @since 0.1.0
 */
export const generateObject: typeof Upstream.generateObject = Wrap.generateObject

// =============================================================================
// Reading a history
// =============================================================================

/**
 * A request of a history, with everything the history says of it. `toolCall` is missing when the call was trimmed,
 * `response` while nobody has answered, `result` while the call has none.
 *
 * @category models
 * @since 0.1.0
 */
export interface CollectedApproval {
  readonly approvalId: string
  readonly request: Prompt.ToolApprovalRequestPart
  readonly toolCall: Prompt.ToolCallPart | undefined
  /** Every answer: those that count, in order, and then those that came too late or could not be one. */
  readonly responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
  /** The answer that counts: a denial wins over an approval, and the first of its kind over later ones (law L3). */
  readonly response: Prompt.ToolApprovalResponsePart | undefined
  readonly result: Prompt.ToolResultPart | undefined
}

/**
 * A request that was answered, of a call that has no result yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnsweredApproval extends CollectedApproval {
  readonly toolCall: Prompt.ToolCallPart
  readonly response: Prompt.ToolApprovalResponsePart
  readonly result: undefined
}

/**
 * A request that nobody has answered, of a call that has no result.
 *
 * @category models
 * @since 0.1.0
 */
export interface PendingApproval extends CollectedApproval {
  readonly toolCall: Prompt.ToolCallPart
  readonly response: undefined
  readonly result: undefined
}

/**
 * The approvals of a history: `approved` are still to run, `denied` still to be told to the model, `pending` wait for
 * an answer. `settled` are over: their call has its result, asks for something else by now, or was trimmed. A request
 * that was repeated by polling is one request. This only reads: nothing is verified here, and to stand in a list proves
 * nothing.
 *
 * @example
 * import { LanguageModel, Prompt } from "@assent/ai"
 *
 * const { pending } = LanguageModel.collectToolApprovals([
 *   Prompt.assistantMessage({
 *     content: [
 *       Prompt.toolCallPart({ id: "call-1", name: "DeleteFile", params: { path: "a" }, providerExecuted: false }),
 *       Prompt.toolApprovalRequestPart({ approvalId: "approval-1", toolCallId: "call-1" })
 *     ]
 *   })
 * ])
 *
 * pending.map((one) => [one.approvalId, one.toolCall?.name]) // => [["approval-1", "DeleteFile"]]
 *
 * @category reading
 * @since 0.1.0
 */
export const collectToolApprovals = (messages: ReadonlyArray<Prompt.Message>): {
  readonly approved: ReadonlyArray<AnsweredApproval>
  readonly denied: ReadonlyArray<AnsweredApproval>
  readonly pending: ReadonlyArray<PendingApproval>
  readonly settled: ReadonlyArray<CollectedApproval>
} => {
  const transcript = Transcript.readWhole(messages)
  const approved: Array<AnsweredApproval> = []
  const denied: Array<AnsweredApproval> = []
  const pending: Array<PendingApproval> = []
  const settled: Array<CollectedApproval> = []
  for (const request of transcript.allRequests) {
    const response = Transcript.standingResponse(request.responses)
    const result = (request.call ?? request.providerCall)?.result
    const { toolCall } = request
    const collected = {
      approvalId: request.part.approvalId,
      request: request.part,
      responses: [...request.responses, ...request.ignored]
    }
    if (toolCall === undefined || result !== undefined || asksAnew(request)) {
      settled.push({ ...collected, toolCall, response, result })
    } else if (response === undefined) {
      pending.push({ ...collected, toolCall, response, result })
    } else {
      const list = response.approved ? approved : denied
      list.push({ ...collected, toolCall, response, result })
    }
  }
  return { approved, denied, pending, settled }
}

// A run that began to wait asks anew, and what let it begin is over. Nothing else behind a request hides it.
const asksAnew = (request: Transcript.TranscriptRequest): boolean => {
  const { requests = [] } = request.call ?? {}
  return requests.slice(requests.indexOf(request) + 1).some(({ part }) => {
    const sealed = ApprovalId.parse(part.approvalId)
    return sealed !== undefined && Suspension.isSealed(sealed)
  })
}

/**
 * Whether a call of a tool needs a person's approval, by the current policy or else the tool's own gate. A tool without
 * a gate, where no policy says otherwise, gives `false` at once. Else it fails closed (law L1): parameters that do not
 * decode, a policy that fails, dies, lacks a service, or takes longer than 30 seconds all give `true`. A call that the
 * policy blocks gives `true` as well: it is not to run by itself.
 *
 * @example
 * import { LanguageModel, Tool } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const WriteFile = Tool.make("WriteFile", {
 *   parameters: { path: Schema.String },
 *   needsApproval: ({ path }) => path.startsWith("/etc/")
 * })
 * const needed = (path: string) =>
 *   LanguageModel.isApprovalNeeded(WriteFile, { id: "call-1", name: "WriteFile", params: { path } }, [])
 *
 * await Effect.runPromise(needed("/tmp/a")) // => false
 * await Effect.runPromise(needed("/etc/passwd")) // => true
 *
 * @category reading
 * @since 0.1.0
 */
export const isApprovalNeeded = <T extends Tool.Any>(
  tool: T,
  toolCall: Pick<Response.ToolCallPartEncoded, "id" | "name" | "params">,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<boolean, never, Tool.HandlerServices<T> | Tool.ParametersEncodingServices<T>> =>
  Effect.flatMap(
    Environment.policy,
    (policy) => Verdict.isNeeded(policy, tool, toolCall, messages, Environment.defaultOptions.policyTimeLimit)
  )
