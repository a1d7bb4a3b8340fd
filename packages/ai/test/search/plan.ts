/**
 * A plan: what happens in one conversation, as plain JSON that can be kept, shrunk and replayed.
 *
 * Every plan can be carried out: an index is taken modulo what there is at that moment, and a step that finds nothing to
 * act upon does nothing. So a plan stays a plan whatever is taken out of it.
 */
import { Effect, Schema } from "effect"

const Index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))

const Hops = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))

/** How the conversation is held. */
export const Way = Schema.Literals(["generateText", "streamText", "Chat.generateText", "Chat.streamText"])
export type Way = typeof Way.Type

/**
 * The tools. `Delete` is always asked and fails the turn; `Send` has a gate that can be set and returns its failures;
 * `Charge` has parameters that decode to something else and shows a presentation; `Sync` is idempotent; `Read` and
 * `Poke` need nobody, and `Poke` fails the turn. `Wait` begins at once and `Order` when it is approved, and then both
 * wait. `Wipe` is of a guarded toolkit, and `Agent` has a model of its own, whose calls are asked about.
 */
export const ToolName = Schema.Literals([
  "Delete",
  "Send",
  "Charge",
  "Sync",
  "Read",
  "Poke",
  "Wait",
  "Order",
  "Wipe",
  "Agent"
])
export type ToolName = typeof ToolName.Type

/** What a tool waits for: the words of a user, a yes or a no, half an hour, or what the program tells. */
export const Awaited = Schema.Literals(["words", "verdict", "timer", "event"])
export type Awaited = typeof Awaited.Type

/**
 * A call, as the model makes it. `id` 0 is a fresh id, another one is shared by all calls that have it. `how` is what its
 * handler does. `flaw` makes parameters that do not decode, or names a tool that does not exist. `waits` is what a tool
 * that waits does so for, one after the other; `inner` what the handler of an agent says of requests that it gets back.
 */
export const Call = Schema.Struct({
  tool: ToolName,
  id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
  how: Schema.Literals(["succeed", "fail", "die", "slow", "preliminary"]),
  note: Schema.Literals(["plain", "nasty", "long"]),
  flaw: Schema.Literals(["none", "parameters", "tool"]),
  // Plans of the corpus are older than what has a default.
  waits: Schema.Array(Awaited).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([]))),
  inner: Schema.Literals(["leave", "approve", "deny"]).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed("leave" as const))
  )
})
export type Call = typeof Call.Type

/**
 * A call that the provider runs itself, as one of its own tool or of one that has a handler here. `asks` says whether it
 * asks before; `says` whether the call tells what it is about; `runs` what comes of it once it is approved, and whether
 * it comes before the model's own calls.
 */
export const HostedCall = Schema.Struct({
  tool: Schema.Literals(["Remote", "Delete", "Read"]),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
  asks: Schema.Boolean,
  says: Schema.Boolean,
  runs: Schema.Literals(["succeed", "fail", "silent"]),
  early: Schema.Boolean
})
export type HostedCall = typeof HostedCall.Type

/** What the model does when it is called. `fails` says whether its call fails, before or after its parts. */
export const ModelTurn = Schema.Struct({
  text: Schema.Boolean,
  calls: Schema.Array(Call),
  hosted: Schema.Array(HostedCall).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([]))),
  finish: Schema.Literals(["complete", "length", "none"]),
  fails: Schema.Literals(["no", "before", "after"])
})
export type ModelTurn = typeof ModelTurn.Type

/**
 * What a person, or somebody who passes for one, answers. `"open"` are all requests the last turn ended with; a number
 * is one of all requests ever seen, the newest first. `"edit"` is an approval that would change the parameters. To what
 * a tool waits for, `"approve"` is an answer that fits and `"edit"` one that does not.
 */
export const Answer = Schema.Struct({
  request: Schema.Union([Schema.Literal("open"), Index]),
  decision: Schema.Literals(["approve", "deny", "edit"]),
  /** What it says of being remembered, which counts only where the policy lets a history say so. */
  remember: Schema.Literals(["no", "call", "tool", "once"]).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed("no" as const))
  )
})
export type Answer = typeof Answer.Type

/**
 * How a turn is taken: once; again when it is over; twice at once; by a reader who leaves; in a process that crashes;
 * with a run that is stopped. `hops` counts turns of the event loop, `another` is another process over the same store. A
 * `rival` says the opposite.
 */
export const Delivery = Schema.Union([
  Schema.TaggedStruct("Once", {}),
  Schema.TaggedStruct("Again", { another: Schema.Boolean }),
  Schema.TaggedStruct("Twice", { another: Schema.Boolean, hops: Hops, rival: Schema.Boolean }),
  Schema.TaggedStruct("Leave", { hops: Hops }),
  Schema.TaggedStruct("Crash", { hops: Hops }),
  Schema.TaggedStruct("Stop", { hops: Hops, at: Index })
])
export type Delivery = typeof Delivery.Type

/** One turn: what is sent, and what the model does should it be called. */
export const Turn = Schema.TaggedStruct("Turn", {
  say: Schema.Literals(["nothing", "after", "before"]),
  answers: Schema.Array(Answer),
  model: ModelTurn,
  toolkit: Schema.Literals(["full", "none", "empty"]),
  object: Schema.Boolean,
  resolve: Schema.Boolean,
  delivery: Delivery
})
export type Turn = typeof Turn.Type

/** Somebody who can write to the history does so. `at` and `other` choose among what the kind acts upon. */
export const Tamper = Schema.TaggedStruct("Tamper", {
  how: Schema.Literals([
    "edit parameters",
    "rename tool",
    "rename call",
    "host call",
    "forge request",
    "forge call",
    "bend approval id",
    "launder approval",
    "launder result",
    "repeat approval",
    "contradict answer",
    "flip answer",
    "drop call",
    "drop request",
    "drop results",
    "drop answers",
    "drop message",
    "swap messages",
    "trim",
    "rewind",
    "trust edit"
  ]),
  at: Index,
  other: Index
})
export type Tamper = typeof Tamper.Type

/** What a policy or a gate says. The last two ask first and say something else whenever they are asked again. */
export const Verdict = Schema.Literals([
  "nothing",
  "ask",
  "allow",
  "block",
  "fail",
  "die",
  "hang",
  "garbage",
  "block later",
  "fail later",
  // What a person approves under these is remembered; under the first if the answer says so, wherever it came from.
  "ask rememberable",
  "ask once"
])
export type Verdict = typeof Verdict.Type

/**
 * What the journal's store does from now on: it works; it fails; it does what it is asked, and then fails to say so; it
 * is full, and only knows what it knew. `skip` operations work before, and `count` are concerned; 0 are all. With `only`, no
 * others are than those about what waits, or about what is remembered.
 */
export const Store = Schema.TaggedStruct("Store", {
  how: Schema.Literals(["works", "fails", "loses", "full"]),
  skip: Index,
  count: Index,
  only: Schema.optionalKey(Schema.Literals(["waiting", "remembered"]))
})
export type Store = typeof Store.Type

export const Step = Schema.Union([
  Turn,
  Tamper,
  /** The process ends and another takes over, with the history as a database gives it back; or it only reads it anew. */
  Schema.TaggedStruct("Restart", { how: Schema.Literals(["close", "crash", "reload"]) }),
  Schema.TaggedStruct("Policy", { says: Schema.Union([Schema.Literal("default"), Verdict]) }),
  Schema.TaggedStruct("Gate", { says: Verdict }),
  /** `Charge` shows something else from now on. */
  Schema.TaggedStruct("Show", { revision: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1 })) }),
  Schema.TaggedStruct("Controller", {
    says: Schema.Literals([
      "defer",
      "approve",
      "deny",
      "edit",
      "misfit",
      "info",
      "fail",
      "die",
      "garbage",
      "approve for good",
      "approve once more",
      "deny for good"
    ])
  }),
  /** Whether answers are remembered from now on. */
  Schema.TaggedStruct("Memory", { isOn: Schema.Boolean }),
  Schema.TaggedStruct("Drift", { tool: ToolName, how: Schema.Literals(["none", "removed", "widened", "narrowed"]) }),
  Schema.TaggedStruct("Time", { minutes: Schema.Literals([1, 61, 60 * 24 * 31]) }),
  /** Somebody stops the run of a request, one of all ever seen, the newest first. */
  Schema.TaggedStruct("Stop", { at: Index }),
  /** Answers are put into the history between two turns; `"unknown"` are for a request that nobody made. */
  Schema.TaggedStruct("Answer", { answers: Schema.Array(Answer), unknown: Schema.Boolean }),
  Store,
  /** The program tells a tool that waits what it waits for, or something else; or makes an end of its waiting. */
  Schema.TaggedStruct("Tell", { at: Index, how: Schema.Literals(["right", "wrong", "cancel"]) }),
  /** Calls that are made straight to the guarded toolkit, all at once; whoever made them may not wait for them. */
  Schema.TaggedStruct("Guarded", {
    calls: Schema.Array(Call),
    leave: Schema.Union([Schema.Literal("no"), Hops])
  }),
  Schema.TaggedStruct("Keys", { how: Schema.Literals(["rotate", "replace", "restore"]) }),
  Schema.TaggedStruct("Scope", { index: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1 })) })
])
export type Step = typeof Step.Type

export const Options = Schema.Struct({
  way: Way,
  onNewMessage: Schema.Literals(["supersede", "keep", "hold", "fail"]),
  onInvalid: Schema.Literals(["result", "fail"]),
  /** By default they do not. */
  expires: Schema.Literals(["in an hour", "by default"]),
  concurrency: Schema.Literals([1, 8]),
  incremental: Schema.Boolean,
  /** Whose `make` the provider is made with. */
  provider: Schema.Literals(["foreign", "ours"]).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed("foreign" as const))
  )
})
export type Options = typeof Options.Type

export const Plan = Schema.Struct({ options: Options, steps: Schema.Array(Step) })
export type Plan = typeof Plan.Type

/** The simplest there is of each thing, which shrinking tries to go back to. */
export const simplest = {
  options: {
    way: "generateText",
    onNewMessage: "supersede",
    onInvalid: "result",
    expires: "by default",
    concurrency: 8,
    incremental: false,
    provider: "foreign"
  } satisfies Options,
  call: {
    tool: "Delete",
    id: 0,
    amount: 0,
    how: "succeed",
    note: "plain",
    flaw: "none",
    waits: [],
    inner: "leave"
  } satisfies Call,
  hosted: { tool: "Remote", amount: 0, asks: true, says: false, runs: "succeed", early: false } satisfies HostedCall,
  model: { text: true, calls: [], hosted: [], finish: "complete", fails: "no" } satisfies ModelTurn,
  turn: {
    _tag: "Turn",
    say: "nothing",
    answers: [],
    model: { text: true, calls: [], hosted: [], finish: "complete", fails: "no" },
    toolkit: "full",
    object: false,
    resolve: true,
    delivery: { _tag: "Once" }
  } satisfies Turn
} as const
