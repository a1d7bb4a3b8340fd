/**
 * A plan of those that leave: what happens to one conversation that two processes take turns with, each by a clock of its
 * own, as plain JSON that can be kept, shrunk and replayed.
 *
 * Every plan can be carried out: a step that finds nothing to act upon does nothing. So a plan stays a plan whatever is
 * taken out of it.
 */
import { Schema } from "effect"

/** Which of the two processes. One that died is another at the same place from then on. */
export const Seat = Schema.Literals([0, 1])
export type Seat = typeof Seat.Type

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))

/**
 * A call of the model, always with an id of its own. `Pay` and `Sync` are asked about, and `Sync` is idempotent. `Look`
 * needs nobody. `Book` is asked about, and when it has begun it waits for a yes or a no before it goes on.
 */
export const Call = Schema.Struct({
  tool: Schema.Literals(["Pay", "Sync", "Look", "Book"]),
  how: Schema.Literals(["quick", "slow", "fail", "die", "preliminary"])
})
export type Call = typeof Call.Type

/**
 * Something that comes to pass in a turn: the model was called; a person is asked; the store is about to be written; a
 * handler has begun, or has ended; a part has reached the reader.
 */
export const Sign = Schema.Literals(["said", "asked", "write", "began", "ended", "part"])
export type Sign = typeof Sign.Type

/**
 * How far a turn is waited for: to its end, or until something has come to pass for the `count`th time and `hops` turns of
 * the event loop later. It goes on beside what the next steps do.
 */
export const Until = Schema.Union([
  Schema.Literal("end"),
  Schema.Struct({ sign: Sign, count: Count, hops: Count })
])
export type Until = typeof Until.Type

/**
 * A turn. `"decide"` answers whatever the person has seen open, and `"continue"` says nothing. The person is there for
 * whoever is asked inline: `"approve late"` takes five seconds for it. The model makes the `calls` when it is called first;
 * when it is called again, it fails if `fails` says so.
 */
export const Turn = Schema.TaggedStruct("Turn", {
  seat: Seat,
  via: Schema.Literals(["send", "stream", "decide", "continue"]),
  person: Schema.Literals(["nobody", "approve", "approve late", "deny"]),
  answers: Schema.Literals(["approve", "deny"]),
  calls: Schema.Array(Call),
  fails: Schema.Boolean,
  until: Until
})
export type Turn = typeof Turn.Type

const at = { seat: Seat }

export const Step = Schema.Union([
  Turn,
  /** Whoever reads the turns that go on there leaves. */
  Schema.TaggedStruct("Leave", at),
  /** The process is gone: nothing of it happens any more. */
  Schema.TaggedStruct("Die", at),
  /** The process stands still for 60 seconds. */
  Schema.TaggedStruct("Block", at),
  /** The process ends as a shutdown does. */
  Schema.TaggedStruct("Close", at),
  /** Somebody stops the conversation from there. */
  Schema.TaggedStruct("Cancel", at),
  /** Somebody looks at what is open from there. */
  Schema.TaggedStruct("Pending", at),
  /** The clock there is set: so many minutes ahead of the right time, or behind it. */
  Schema.TaggedStruct("Clock", { ...at, minutes: Schema.Literals([-10, 0, 10]) }),
  Schema.TaggedStruct("Time", { seconds: Schema.Literals([1, 5, 20, 60]) })
])
export type Step = typeof Step.Type

/** `clocks` are by how many minutes the clocks are ahead at first; `last` is the process that goes on in the end. */
export const Options = Schema.Struct({
  way: Schema.Literals(["Conversation", "Chat"]),
  clocks: Schema.Tuple([Schema.Literals([-10, 0, 10]), Schema.Literals([-10, 0, 10])]),
  onNewMessage: Schema.Literals(["supersede", "keep"]),
  concurrency: Schema.Literals([1, 8]),
  /** Of one turn. */
  limit: Schema.Literals(["none", "5 seconds"]),
  last: Seat
})
export type Options = typeof Options.Type

export const Plan = Schema.Struct({ options: Options, steps: Schema.Array(Step) })
export type Plan = typeof Plan.Type

/** The simplest there is of each thing, which shrinking tries to go back to. */
export const simplest = {
  options: {
    way: "Conversation",
    clocks: [0, 0],
    onNewMessage: "supersede",
    concurrency: 8,
    limit: "none",
    last: 0
  } satisfies Options,
  call: { tool: "Pay", how: "quick" } satisfies Call,
  turn: {
    _tag: "Turn",
    seat: 0,
    via: "send",
    person: "nobody",
    answers: "approve",
    calls: [],
    fails: false,
    until: "end"
  } satisfies Turn
} as const
