/**
 * The vocabulary of approval: what a person is asked, what they may answer, what a policy may say, and the states a
 * request goes through.
 *
 * Everything here is a `Schema`, so that it can travel: to a web page, into a database, to another process. Nothing
 * here runs a tool or reads a history.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import * as Approver from "./Approver.ts"
import * as Answering from "./internal/answering.ts"
import * as Denial from "./internal/denial.ts"
import { definedFields } from "./internal/fields.ts"
import * as Text from "./internal/text.ts"

export { ApprovalState, isLegalStep } from "./internal/states.ts"

// =============================================================================
// Presentations
// =============================================================================

/**
 * How a call is shown to the person who decides: plain text, a diff, the content of a file, a command line, or data.
 *
 * `precondition` is a digest of what the presentation was made from. The whole presentation is sealed: when the policy,
 * which is asked again before the call runs, gives another one, the approval is void and the call may be asked again.
 * `covers` names parameters that are shown by it and need not be shown besides: whoever makes it claims them, and a
 * request has those that the engine has proved (law L4); see `covers` of `ApprovalPresentation`.
 *
 * @category models
 * @since 0.1.0
 */
export class ApprovalPresentation extends Schema.Class<ApprovalPresentation>("@assent/ai/ApprovalPresentation")({
  type: Schema.Literals(["text", "diff", "file_content", "command", "structured"]),
  content: Schema.String,
  language: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  precondition: Schema.optionalKey(Schema.String),
  covers: Schema.optionalKey(Schema.Array(Schema.String))
}) {}

// =============================================================================
// Interactions
// =============================================================================

/**
 * What kind of thing a tool waits for: see `Interaction`. `"nested"`, what waits in agents within it, is shown to nobody.
 *
 * @category models
 * @since 0.1.0
 */
export const InteractionKind = Schema.Literals([
  "askUser",
  "getApproval",
  "selectOptions",
  "form",
  "webhook",
  "timer",
  "external",
  "nested"
])

/**
 * What kind of thing a tool waits for.
 *
 * @category models
 * @since 0.1.0
 */
export type InteractionKind = typeof InteractionKind.Type

/**
 * What a tool that has begun waits for, as it goes to whoever is to answer. `name` is the tool's own name for it and
 * `answerSchema` the JSON Schema of the answer. `prompt` and the texts of `options` are escaped (law L15); an option's
 * `value` is what an answer says. `approvers` are those who may answer (law L16). `dueAt` is when a timer fires, in milliseconds since 1970-01-01T00:00Z.
 *
 * @category models
 * @since 0.1.0
 */
export class Awaited extends Schema.Class<Awaited>("@assent/ai/Awaited")({
  name: Schema.String,
  kind: InteractionKind,
  prompt: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(Schema.Array(Schema.Struct({
    value: Schema.String,
    label: Schema.String,
    description: Schema.optionalKey(Schema.String)
  }))),
  multiple: Schema.optionalKey(Schema.Boolean),
  approvers: Schema.optionalKey(Approver.Approvers),
  answerSchema: Schema.Json,
  dueAt: Schema.optionalKey(Schema.Number)
}) {}

// =============================================================================
// Requests
// =============================================================================

/**
 * One question to a person: may this call of this tool run with these parameters?
 *
 * `params` are the encoded parameters: what is shown, sealed and run is one and the same value (law L4). `expiresAt` and
 * `issuedAt` are milliseconds since 1970-01-01T00:00Z; without `expiresAt` it waits until it is answered. The text fields are escaped and bounded for a screen (law L15);
 * `params` are not: pass them through {@link escapeText}. `source` is a server of tools that the call goes to: `mcp.files`.
 *
 * `toolDescription` is what the tool says of itself, and `order` its schema's order of parameters where `params` has another.
 *
 * `session` says which calls an answer for the session covers; without, it is this very call. `interaction` is
 * `"approval"`, or the kind of what a tool that has begun waits for; then `awaited` says what it is.
 *
 * `conversation` and `principal` are those of the scope it is asked in, and `path` the agents that led to it, outermost
 * first: so that whoever shows it knows whom to show it to. `selfApproval` is `false` where the principal may not decide.
 *
 * @category models
 * @since 0.1.0
 */
export class ApprovalRequest extends Schema.Class<ApprovalRequest>("@assent/ai/ApprovalRequest")({
  approvalId: Schema.String,
  toolCallId: Schema.String,
  toolName: Schema.String,
  params: Schema.Json,
  description: Schema.String,
  toolDescription: Schema.optionalKey(Schema.String),
  order: Schema.optionalKey(Schema.Array(Schema.String)),
  presentation: Schema.optionalKey(ApprovalPresentation),
  reason: Schema.optionalKey(Schema.String),
  interaction: Schema.String,
  awaited: Schema.optionalKey(Awaited),
  issuedAt: Schema.optionalKey(Schema.Number),
  expiresAt: Schema.optionalKey(Schema.Number),
  providerExecuted: Schema.Boolean,
  source: Schema.optionalKey(Schema.String),
  conversation: Schema.optionalKey(Schema.String),
  principal: Schema.optionalKey(Schema.String),
  path: Schema.optionalKey(Schema.Array(Schema.String)),
  approvers: Schema.optionalKey(Approver.Approvers),
  selfApproval: Schema.optionalKey(Schema.Boolean),
  editable: Schema.optionalKey(Schema.Boolean),
  rememberable: Schema.optionalKey(Schema.Boolean),
  session: Schema.optionalKey(Schema.String)
}) {}

// =============================================================================
// Decisions and answers
// =============================================================================

/**
 * The person said yes. `params` replaces the proposed parameters and counts only from a trusted channel or where
 * the server's configuration says so (law L4).
 *
 * @category models
 * @since 0.1.0
 */
export class Approved extends Schema.TaggedClass<Approved>()("Approved", {
  params: Schema.optionalKey(Schema.Json),
  answer: Schema.optionalKey(Schema.Json),
  note: Schema.optionalKey(Schema.String),
  remember: Schema.optionalKey(Schema.Json)
}) {}

/**
 * The person said no. `note` is the reason the model is told; without one it is told that the call was denied. It is also
 * read as `reason`, upstream's name for it; where both are given and differ, it is both, `note` first.
 *
 * `stop` ends the turn: what was approved still runs, and then the model is not called again before somebody says something
 * new. It is not remembered with the denial.
 *
 * @example
 * import { Approval } from "@assent/ai"
 * import { Schema } from "effect"
 *
 * const posted: unknown = JSON.parse(`{ "_tag": "Denied", "reason": "keep it" }`)
 *
 * Schema.decodeUnknownSync(Approval.Denied)(posted) // => new Approval.Denied({ note: "keep it" })
 *
 * @category models
 * @since 0.1.0
 */
export class Denied extends Schema.Class<Denied>("Denied")(Denial.struct) {}

/**
 * Neither yes nor no: a remark that leaves the request open.
 *
 * @category models
 * @since 0.1.0
 */
export class Info extends Schema.TaggedClass<Info>()("Info", { note: Schema.String }) {}

/**
 * What a person decided about one request.
 *
 * @category models
 * @since 0.1.0
 */
export const ApprovalDecision = Schema.Union([Approved, Denied, Info])

/**
 * What a person decided about one request.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalDecision = typeof ApprovalDecision.Type

/**
 * A decision with the id of the request it answers: what a page posts.
 *
 * @category models
 * @since 0.1.0
 */
export class ApprovalAnswer extends Schema.Class<ApprovalAnswer>("@assent/ai/ApprovalAnswer")({
  approvalId: Schema.String,
  decision: ApprovalDecision
}) {}

/**
 * A decision, or one as people post it: plain JSON, in which a denial's `note` may be called `reason`.
 *
 * @category models
 * @since 0.1.0
 */
export type DecisionInput =
  | typeof Approved.Encoded
  | (typeof Denied.Encoded & { readonly reason?: string | null | undefined })
  | typeof Info.Encoded

/**
 * An answer, or one as people post it: plain JSON, with a decision or with upstream's `approved`. Whatever else it says,
 * such as who gave it, is not read.
 *
 * @category models
 * @since 0.1.0
 */
export type AnswerInput =
  | { readonly approvalId: string; readonly decision: DecisionInput }
  | { readonly approvalId: string; readonly approved: boolean; readonly reason?: string | null | undefined }

/**
 * Approves a request.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * const answer = Approval.approve({ approvalId: "id-1" }, { note: "only this once" })
 *
 * answer.decision._tag // => "Approved"
 *
 * @category constructors
 * @since 0.1.0
 */
export const approve = (
  request: { readonly approvalId: string },
  options?: {
    readonly params?: Schema.Json | undefined
    readonly note?: string | undefined
    readonly remember?: Schema.Json | undefined
  }
): ApprovalAnswer =>
  Answering.make(
    "Approval.approve",
    request,
    { options },
    (approvalId) => new ApprovalAnswer({ approvalId, decision: new Approved(definedFields(options)) })
  )

/**
 * Denies a request, with the reason the model is told. `remember` says whether, and for what, the denial is to be
 * remembered: see `ApprovalMemory.Remember`. `stop` ends the turn: see {@link Denied}.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * const answer = Approval.deny({ approvalId: "id-1" }, "keep it")
 *
 * answer.decision._tag // => "Denied"
 *
 * @category constructors
 * @since 0.1.0
 */
export const deny = (
  request: { readonly approvalId: string },
  reason?: string,
  options?: { readonly remember?: Schema.Json | undefined; readonly stop?: boolean | undefined }
): ApprovalAnswer =>
  Answering.make("Approval.deny", request, { options, reason }, (approvalId) =>
    new ApprovalAnswer({
      approvalId,
      decision: new Denied(
        definedFields({
          note: reason,
          remember: options?.remember,
          stop: options?.stop
        })
      )
    }))

/**
 * Answers a request that asks for a value rather than for consent.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * const answer = Approval.answer({ approvalId: "id-1" }, { street: "Elm Street 1", city: "Bath" })
 *
 * answer.decision // => new Approval.Approved({ answer: { street: "Elm Street 1", city: "Bath" } })
 *
 * @category constructors
 * @since 0.1.0
 */
export const answer = (request: { readonly approvalId: string }, value: Schema.Json): ApprovalAnswer =>
  Answering.make(
    "Approval.answer",
    request,
    {},
    (approvalId) => new ApprovalAnswer({ approvalId, decision: new Approved({ answer: value }) })
  )

// =============================================================================
// Results of a policy
// =============================================================================

/**
 * The policy needs nobody: the call runs.
 *
 * @category models
 * @since 0.1.0
 */
export class PreApproved extends Schema.TaggedClass<PreApproved>()("PreApproved", {
  reason: Schema.optionalKey(Schema.String)
}) {}

/**
 * The policy wants a person to decide. `expiresIn` is in milliseconds, `approvers` names who may decide: a decision by
 * anybody else, or by nobody known, settles nothing (law L16). With `selfApproval: false` the principal of the scope in
 * which it is asked may not.
 *
 * `editable` lets an answer in a message history change the parameters, and `rememberable` lets it say that it is to be
 * remembered; both count from a trusted channel in any case, but `rememberable: false` asks every time, whatever was
 * remembered. `remember` is what an approval without a word of its own leaves behind, and `session` what it leaves behind
 * when its word is `"session"` (default: this very call); both are an `ApprovalMemory.Remember`.
 *
 * @category models
 * @since 0.1.0
 */
export class NeedsApproval extends Schema.TaggedClass<NeedsApproval>()("NeedsApproval", {
  reason: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  presentation: Schema.optionalKey(ApprovalPresentation),
  expiresIn: Schema.optionalKey(Schema.Number),
  approvers: Schema.optionalKey(Approver.Approvers),
  selfApproval: Schema.optionalKey(Schema.Boolean),
  editable: Schema.optionalKey(Schema.Boolean),
  rememberable: Schema.optionalKey(Schema.Boolean),
  remember: Schema.optionalKey(Schema.Json),
  session: Schema.optionalKey(Schema.Json)
}) {}

/**
 * The policy forbids the call; nobody is asked. The reason is told to the model as final.
 *
 * @category models
 * @since 0.1.0
 */
export class Blocked extends Schema.TaggedClass<Blocked>()("Blocked", { reason: Schema.String }) {}

/**
 * What a policy, or a tool's own `needsApproval`, says about one call.
 *
 * @category models
 * @since 0.1.0
 */
export const ApprovalResult = Schema.Union([PreApproved, NeedsApproval, Blocked])

/**
 * What a policy, or a tool's own `needsApproval`, says about one call.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalResult = typeof ApprovalResult.Type

/**
 * Whether a value is an {@link ApprovalResult}.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * const said: Array<unknown> = [true, { _tag: "Blocked" }, Approval.preApproved(), Approval.blocked("not today")]
 *
 * said.filter(Approval.isApprovalResult).map((one) => one._tag) // => ["PreApproved", "Blocked"]
 *
 * @category guards
 * @since 0.1.0
 */
export const isApprovalResult: (u: unknown) => u is ApprovalResult = Schema.is(ApprovalResult)

/**
 * Lets a call run without asking.
 *
 * @example
 * import { Approval, LanguageModel, Tool } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const WriteFile = Tool.make("WriteFile", {
 *   parameters: { path: Schema.String },
 *   needsApproval: ({ path }) =>
 *     path.startsWith("/tmp/") ? Approval.preApproved("it goes with the next restart") : Approval.needsApproval()
 * })
 * const needed = (path: string) =>
 *   LanguageModel.isApprovalNeeded(WriteFile, { id: "call-1", name: "WriteFile", params: { path } }, [])
 *
 * await Effect.runPromise(needed("/tmp/a")) // => false
 * await Effect.runPromise(needed("/etc/passwd")) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const preApproved = (reason?: string): ApprovalResult => new PreApproved(definedFields({ reason }))

/**
 * What may be said with a question; see {@link NeedsApproval}. A tool's `needsApproval`, or a policy, may return it as
 * it is: what says how to ask wants to ask.
 *
 * @category options
 * @since 0.1.0
 */
export interface Question {
  readonly reason?: string | undefined
  readonly description?: string | undefined
  readonly presentation?: ApprovalPresentation | undefined
  readonly expiresIn?: number | undefined
  readonly approvers?: Approver.Approvers | undefined
  readonly selfApproval?: boolean | undefined
  readonly editable?: boolean | undefined
  readonly rememberable?: boolean | undefined
  readonly remember?: Schema.Json | undefined
  readonly session?: Schema.Json | undefined
}

/**
 * Asks a person.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const aDay = 24 * 60 * 60 * 1_000
 * const Refund = Tool.make("Refund", {
 *   parameters: { amount: Schema.Number },
 *   needsApproval: ({ amount }) =>
 *     Approval.needsApproval({ reason: `It is ${amount} of our money.`, approvers: ["ada", "bob"], expiresIn: aDay })
 * })
 *
 * const { result } = await ApprovalPolicy.makeCall(Refund, { amount: 20 }).pipe(
 *   Effect.flatMap(ApprovalPolicy.explain),
 *   Effect.runPromise
 * )
 *
 * result.reason // => "It is 20 of our money."
 *
 * @category constructors
 * @since 0.1.0
 */
export const needsApproval = (question?: Question): ApprovalResult => new NeedsApproval(definedFields(question))

/**
 * Forbids a call without asking.
 *
 * @example
 * import { Approval, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const ReadFile = Tool.make("ReadFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: ({ path }) => path.endsWith(".env") ? Approval.blocked("It has secrets.") : Approval.preApproved()
 * })
 * const tools = Toolkit.make(ReadFile)
 *
 * const program = Effect.gen(function*() {
 *   const guarded = yield* Toolkit.guard(tools)
 *   const [result] = yield* Stream.runCollect(yield* guarded.handle("ReadFile", { path: ".env" }))
 *   return result?.encodedResult
 * }).pipe(Effect.provide(tools.toLayer({ ReadFile: () => Effect.succeed("KEY=…") })))
 *
 * await Effect.runPromise(program) // => { type: "execution-denied", reason: "It has secrets." }
 *
 * @category constructors
 * @since 0.1.0
 */
export const blocked = (reason: string): ApprovalResult => new Blocked({ reason })

// =============================================================================
// Scope
// =============================================================================

/**
 * Whose approvals these are. Part of every seal and journal key, so that consent given in one conversation, by one
 * principal, for one tenant, is worth nothing in another (law L4). All fields are optional; with none of them,
 * replay into another conversation of the same program is the program's own risk.
 *
 * @example
 * import { Approval } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const forAda = Effect.provideService(Approval.Scope, { principal: "ada", conversation: "chat-7" })
 *
 * await Effect.runPromise(forAda(Effect.map(Approval.Scope, (scope) => scope.principal))) // => "ada"
 *
 * @category references
 * @since 0.1.0
 */
export const Scope = Context.Reference<ApprovalScope>("@assent/ai/Approval/Scope", { defaultValue: () => ({}) })

/**
 * Whose approvals these are: the tenant, the principal in whose name the agent acts, and the conversation. What is not named
 * is not told apart.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApprovalScope {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly conversation?: string | undefined
}

// =============================================================================
// Text for people
// =============================================================================

/**
 * Makes text from a model, a tool or a file safe to show (law L15): control, bidirectional and invisible characters
 * are written as escapes, and the text is cut at `maxLength` UTF-16 units (default 10,000) with the cut said.
 * `multiline` keeps line feeds and tabs.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * Approval.escapeText("report\u202Etxt.exe") // => "report\\u202etxt.exe"
 *
 * @category text
 * @since 0.1.0
 */
export const escapeText = (text: string, options?: {
  readonly maxLength?: number | undefined
  readonly multiline?: boolean | undefined
}): string => Text.escape(text, { maxLength: options?.maxLength ?? 10_000, multiline: options?.multiline })

/**
 * The default description of a call: `name(key='value')`, escaped and at most 500 characters long.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * Approval.describe("DeleteFile", { path: "/tmp/a" }) // => "DeleteFile(path='/tmp/a')"
 *
 * @category text
 * @since 0.1.0
 */
export const describe = (toolName: string, params: unknown): string =>
  escapeText(`${toolName}(${Text.parameters(params)})`, { maxLength: 500 })
