/**
 * What is decided, published: requests and what becomes of them, and everything that a model, a client and a person at
 * a screen are not to see, such as why a policy failed (laws L1, L15).
 *
 * Events are for the program's own audit log, alarms and metrics. Nothing waits for who reads them: each reader has
 * room for a bounded number, the oldest go first, and the reader is told how many it missed.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import * as Approver from "./Approver.ts"

// =============================================================================
// Models
// =============================================================================

const ScopeFields = Schema.Struct({
  tenant: Schema.optional(Schema.String),
  principal: Schema.optional(Schema.String),
  conversation: Schema.optional(Schema.String)
})

/** When (milliseconds since 1970), and in whose name. */
const occasion = <Fields extends Schema.Struct.Fields>(fields: Fields) => ({
  at: Schema.Number,
  scope: ScopeFields,
  ...fields
})

const call = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  occasion({ toolName: Schema.String, toolCallId: Schema.String, ...fields })

const asked = <Fields extends Schema.Struct.Fields>(fields: Fields) => call({ approvalId: Schema.String, ...fields })

const Why = Schema.Cause(Schema.Defect(), Schema.Defect())

/**
 * A call was sealed, and a person is asked about it.
 *
 * @category models
 * @since 0.1.0
 */
export const Requested = Schema.TaggedStruct("Requested", asked({ request: Approval.ApprovalRequest }))

/**
 * A request went from one state to another, in the journal, where each of its states is written once (law L2).
 * `running` says that it was approved. `waited` is how many milliseconds the answer took, where that is known, and
 * `decidedBy` who gave it (law L16): nobody, where it ended by itself.
 *
 * The provider's own requests are in no journal: of those, `approved` and `denied` are what the policy or the controller
 * answered here.
 *
 * @category models
 * @since 0.1.0
 */
export const Changed = Schema.TaggedStruct(
  "Changed",
  asked({
    state: Approval.ApprovalState,
    reason: Schema.optional(Schema.String),
    waited: Schema.optional(Schema.Number),
    decidedBy: Schema.optional(Approver.DecidedBy)
  })
)

/**
 * Somebody approved what others have to approve too: nothing is claimed, and the request stays open (law L16).
 *
 * @category models
 * @since 0.1.0
 */
export const PartlyApproved = Schema.TaggedStruct("PartlyApproved", asked({ decidedBy: Approver.DecidedBy }))

/**
 * A person changed the parameters while approving; `edits` lead from what was proposed to what runs.
 *
 * @category models
 * @since 0.1.0
 */
export const Edited = Schema.TaggedStruct(
  "Edited",
  asked({
    decidedBy: Schema.optional(Approver.DecidedBy),
    edits: Schema.Array(Schema.Union([
      Schema.Struct({ op: Schema.Literals(["add", "replace"]), path: Schema.String, value: Schema.Json }),
      Schema.Struct({ op: Schema.Literal("remove"), path: Schema.String })
    ]))
  })
)

/**
 * An answer is remembered; `covers` says in words what for.
 *
 * @category models
 * @since 0.1.0
 */
export const Remembered = Schema.TaggedStruct(
  "Remembered",
  asked({
    decidedBy: Schema.optional(Approver.DecidedBy),
    decision: Schema.Literals(["approved", "denied"]),
    covers: Schema.String
  })
)

/**
 * A request or an answer in a history does not count: forged, sealed with an unknown key, decided before (laws L3, L4).
 *
 * @category models
 * @since 0.1.0
 */
export const Refused = Schema.TaggedStruct("Refused", asked({ reason: ApprovalError.ApprovalErrorReason }))

/**
 * A request stands in a history without its call; it and its answers are void there (law L10).
 *
 * @category models
 * @since 0.1.0
 */
export const Trimmed = Schema.TaggedStruct(
  "Trimmed",
  occasion({
    approvalId: Schema.String,
    toolCallId: Schema.String
  })
)

/**
 * The policy lets a gated call run without asking, or it was approved before; then `decidedBy` says by whom.
 *
 * @category models
 * @since 0.1.0
 */
export const PreApproved = Schema.TaggedStruct(
  "PreApproved",
  call({
    reason: Schema.optional(Schema.String),
    decidedBy: Schema.optional(Approver.DecidedBy)
  })
)

/**
 * The policy forbids a call.
 *
 * @category models
 * @since 0.1.0
 */
export const Blocked = Schema.TaggedStruct("Blocked", call({ reason: Schema.String }))

/**
 * The policy, or the tool's own gate, failed, died or did not answer in time, so nothing was let run (law L1).
 *
 * @category models
 * @since 0.1.0
 */
export const PolicyFailed = Schema.TaggedStruct("PolicyFailed", call({ cause: Why }))

/**
 * A tool's own presentation failed or did not come in time, so the call is shown without one.
 *
 * @category models
 * @since 0.1.0
 */
export const PresenterFailed = Schema.TaggedStruct("PresenterFailed", call({ cause: Why }))

/**
 * The controller failed or gave no decision, so the request stays open.
 *
 * @category models
 * @since 0.1.0
 */
export const ControllerFailed = Schema.TaggedStruct("ControllerFailed", asked({ cause: Why }))

/**
 * The memory failed, died, gave nonsense or did not answer in time: what was to be found is asked, and what was to be
 * remembered will be asked again (law L1). `toolCallId` is of the call it is about, where that is one of ours.
 *
 * @category models
 * @since 0.1.0
 */
export const MemoryFailed = Schema.TaggedStruct(
  "MemoryFailed",
  call({
    doing: Schema.Literals(["find", "remember"]),
    cause: Why
  })
)

/**
 * The parameters of a gated call do not fit its tool; nobody is asked about them (law L1).
 *
 * @category models
 * @since 0.1.0
 */
export const InvalidParameters = Schema.TaggedStruct("InvalidParameters", call({ cause: Why }))

/**
 * A call ran, and its result is nested too deep, or too large, or no JSON, to be kept and sent to a model (law L17): a failed
 * result that says so stands in its place.
 *
 * @category models
 * @since 0.1.0
 */
export const ResultLeftOut = Schema.TaggedStruct(
  "ResultLeftOut",
  call({
    problem: Schema.Literals(["depth", "bytes", "unwritable"])
  })
)

/**
 * A call said something before its end that no reader got, `count` times: it was out of bounds; or the call was approved, and
 * its reader too far behind, for which no run waits (laws L2 and L17). Of the latter the next part of the call in the stream
 * says so too: `metadata.assent.leftOut`.
 *
 * @category models
 * @since 0.1.0
 */
export const PreliminaryLeftOut = Schema.TaggedStruct("PreliminaryLeftOut", call({ count: Schema.Number }))

/**
 * A tool was to wait for an interaction, and its handler caught that and went on: nobody was asked, and its result is
 * a failure. It is a mistake in the handler.
 *
 * @category models
 * @since 0.1.0
 */
export const SuspensionCaught = Schema.TaggedStruct("SuspensionCaught", call({ interaction: Schema.String }))

/**
 * The reader was too slow, and this many events before the next one are gone.
 *
 * @category models
 * @since 0.1.0
 */
export const Missed = Schema.TaggedStruct("Missed", { count: Schema.Number })

/**
 * One thing that was decided, or that kept something from being decided.
 *
 * @category models
 * @since 0.1.0
 */
export const ApprovalEvent = Schema.Union([
  Requested,
  Changed,
  PartlyApproved,
  Edited,
  Remembered,
  Refused,
  Trimmed,
  PreApproved,
  Blocked,
  PolicyFailed,
  PresenterFailed,
  ControllerFailed,
  MemoryFailed,
  InvalidParameters,
  ResultLeftOut,
  PreliminaryLeftOut,
  SuspensionCaught
])

/**
 * One thing that was decided, or that kept something from being decided.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalEvent = typeof ApprovalEvent.Type

/**
 * What a reader gets.
 *
 * @category models
 * @since 0.1.0
 */
export type Observed = ApprovalEvent | typeof Missed.Type

// =============================================================================
// Service
// =============================================================================

/**
 * Events that are published here are read there.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /** False while nobody reads: then events are not even made. */
  readonly isObserved: () => boolean
  /** Never waits and never fails. */
  readonly publish: (event: ApprovalEvent) => Effect.Effect<void>
  /** The events from the moment this effect is done, for as long as the scope is open. */
  readonly subscribe: Effect.Effect<Stream.Stream<Observed>, never, Scope.Scope>
}

/**
 * The events of a program. By default they are those of the whole process; provide {@link layer} to keep those of one
 * part apart.
 *
 * @example
 * import { ApprovalEvents, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const events = yield* ApprovalEvents.ApprovalEvents
 *   const observed = yield* events.subscribe
 *   yield* LanguageModel.generateText({ prompt: "Clean up.", toolkit })
 *   const [event] = yield* Stream.runCollect(Stream.take(observed, 1))
 *   return event?._tag === "Requested" && event.request.description
 * }).pipe(
 *   Effect.scoped,
 *   Effect.provide(ApprovalEvents.layer()),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => "DeleteAll()"
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalEvents = Context.Reference<Service>("@assent/ai/ApprovalEvents", {
  defaultValue: () => processEvents()
})

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a place for events. `capacity` (default 1,024) is how many a reader may be behind.
 *
 * @example
 * import { ApprovalEvents } from "@assent/ai"
 * import { Effect, Stream } from "effect"
 *
 * const blocked = { _tag: "Blocked", at: 0, scope: {}, toolName: "Pay", toolCallId: "call-1", reason: "no" } as const
 *
 * const program = Effect.gen(function*() {
 *   const events = yield* ApprovalEvents.make({ capacity: 2 })
 *   const observed = yield* events.subscribe
 *   // The reader is slower than what happens: the oldest goes, and it is told so.
 *   for (let count = 0; count < 3; count++) yield* events.publish(blocked)
 *   return yield* Stream.runCollect(Stream.take(observed, 3))
 * }).pipe(Effect.scoped)
 *
 * await Effect.runPromise(program) // => [{ _tag: "Missed", count: 1 }, blocked, blocked]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options?: { readonly capacity?: number | undefined }): Effect.Effect<Service> =>
  Effect.sync((): Service => {
    const capacity = Math.max(1, Math.floor(options?.capacity ?? 1_024))
    const readers = new Set<Queue.Queue<Numbered, Cause.Done>>()
    let published = 0
    return {
      isObserved: () => readers.size > 0,
      publish: (event) =>
        Effect.sync(() => {
          const numbered = { number: ++published, event }
          for (const reader of readers) Queue.offerUnsafe(reader, numbered)
        }),
      subscribe: Effect.acquireRelease(
        Effect.map(Queue.sliding<Numbered, Cause.Done>(capacity), (reader) => {
          readers.add(reader)
          // An event whose number is not the next one comes after events that had to go.
          let last = published
          const events = Stream.mapArray(
            Stream.fromQueue(reader),
            (numbered) =>
              Arr.flatMap(numbered, ({ event, number }): Arr.NonEmptyReadonlyArray<Observed> => {
                const count = number - last - 1
                last = number
                return count === 0 ? [event] : [{ _tag: "Missed", count }, event]
              })
          )
          return { events, reader }
        }),
        ({ reader }) => {
          readers.delete(reader)
          return Queue.end(reader)
        }
      ).pipe(Effect.map(({ events }) => events))
    }
  })

// =============================================================================
// Layers
// =============================================================================

/**
 * Events of their own. `capacity` (default 1,024) is how many a reader may be behind.
 *
 * @example
 * import { ApprovalEvents } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const whole = yield* ApprovalEvents.ApprovalEvents
 *   yield* whole.subscribe
 *   // Nobody reads what happens in this part.
 *   const part = yield* Effect.provide(ApprovalEvents.ApprovalEvents, ApprovalEvents.layer())
 *   return [whole.isObserved(), part.isObserved()]
 * }).pipe(Effect.scoped)
 *
 * await Effect.runPromise(program) // => [true, false]
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: { readonly capacity?: number | undefined }): Layer.Layer<never> =>
  Layer.effect(ApprovalEvents, make(options))

// =============================================================================
// Reading and publishing
// =============================================================================

/**
 * The events of the program, from when the stream is run. To miss nothing of what is started right after, use
 * `subscribe`, which is done when it listens.
 *
 * @example
 * import { Approval, ApprovalEvents } from "@assent/ai"
 * import { Effect, Stream } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const events = yield* ApprovalEvents.ApprovalEvents
 *   const observed = yield* events.subscribe
 *   yield* ApprovalEvents.publish((occasion) => ({
 *     _tag: "Blocked",
 *     ...occasion,
 *     toolName: "DeleteFile",
 *     toolCallId: "call-1",
 *     reason: "deleting is off today"
 *   }))
 *   const [event] = yield* Stream.runCollect(Stream.take(observed, 1))
 *   return event?._tag
 * }).pipe(Effect.scoped, Effect.provide(ApprovalEvents.layer()))
 *
 * await Effect.runPromise(program) // => "Blocked"
 *
 * @category reading
 * @since 0.1.0
 */
export const stream: Stream.Stream<Observed> = Stream.unwrap(
  Effect.flatMap(ApprovalEvents, (events) => events.subscribe)
)

/**
 * When something happened (milliseconds since 1970), and in whose name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Occasion {
  readonly at: number
  readonly scope: Approval.ApprovalScope
}

/**
 * Publishes an event, which is made only if somebody reads.
 *
 * @example
 * import { Approval, ApprovalEvents } from "@assent/ai"
 * import { Effect, Stream } from "effect"
 *
 * let made = 0
 * const publish = ApprovalEvents.publish((occasion) => {
 *   made++
 *   return { _tag: "Blocked", ...occasion, toolName: "Pay", toolCallId: "call-1", reason: "It is closed." }
 * })
 *
 * const program = Effect.gen(function*() {
 *   yield* publish
 *   const observed = yield* (yield* ApprovalEvents.ApprovalEvents).subscribe
 *   yield* publish
 *   const [event] = yield* Stream.runCollect(Stream.take(observed, 1))
 *   return event?._tag === "Blocked" && event.scope.principal
 * }).pipe(
 *   Effect.scoped,
 *   Effect.provide(ApprovalEvents.layer()),
 *   Effect.provideService(Approval.Scope, { principal: "ada" })
 * )
 *
 * await Effect.runPromise(program) // => "ada"
 * made // => 1
 *
 * @category publishing
 * @since 0.1.0
 */
export const publish = (make: (occasion: Occasion) => ApprovalEvent): Effect.Effect<void> =>
  Effect.flatMap(ApprovalEvents, (events) =>
    events.isObserved()
      ? Effect.flatMap(
        Effect.zip(Clock.currentTimeMillis, Approval.Scope),
        ([at, scope]) => events.publish(make({ at, scope }))
      )
      : Effect.void)

// =============================================================================
// Internals
// =============================================================================

interface Numbered {
  readonly number: number
  readonly event: ApprovalEvent
}

const processEventsKey = Symbol.for("@assent/ai/ApprovalEvents/process")

// One per process even when the module is loaded twice, so that a reader hears of everything.
const processEvents = (): Service => {
  const slots = globalThis as { [processEventsKey]?: Service }
  return slots[processEventsKey] ??= Effect.runSync(make())
}
