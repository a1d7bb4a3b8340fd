/**
 * Random plans. Most of what happens is what happens in life: the model calls, a person answers, the model goes on; the
 * rest is everything that can go wrong, each kind often enough to be met in combination with the others.
 */
import { Arbitrary, Effect, Schema } from "effect"
import type * as Plan from "./plan.ts"

// =============================================================================
// Small pieces
// =============================================================================

const below = (count: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 })))

/** One of several arbitraries, each as often as its weight says. */
const weighted = <A>(choices: ReadonlyArray<readonly [weight: number, choice: Arbitrary.Arbitrary<A>]>) => {
  const all = choices.flatMap(([weight, choice]) => Array.from({ length: weight }, () => choice))
  return Arbitrary.flatMap(below(all.length), (index) => all[index]!)
}

/** One of several values; the first is met as often as `favour` says, compared with each of the others. */
const oneOf = <const A>(favour: number, first: A, ...others: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(below(favour + others.length), (index) => index < favour ? first : others[index - favour]!)

const listOf = <A>(item: Arbitrary.Arbitrary<A>, minLength: number, maxLength: number) =>
  Arbitrary.array(item, { minLength, maxLength })

// =============================================================================
// Turns
// =============================================================================

const call: Arbitrary.Arbitrary<Plan.Call> = Arbitrary.all({
  tool: oneOf(3, "Delete", "Delete", "Send", "Send", "Charge", "Charge", "Sync", "Read", "Poke"),
  id: oneOf(6, 0, 1, 2, 3),
  amount: below(3),
  how: oneOf(6, "succeed", "fail", "die", "slow", "slow", "preliminary"),
  note: oneOf(6, "plain", "nasty", "long"),
  flaw: oneOf(30, "none", "parameters", "tool")
})

const calling: Arbitrary.Arbitrary<Plan.ModelTurn> = Arbitrary.all({
  text: oneOf(1, true, false),
  calls: listOf(call, 1, 3),
  finish: oneOf(14, "complete", "length", "none"),
  fails: oneOf(16, "no", "before", "after")
})

const talking: Arbitrary.Arbitrary<Plan.ModelTurn> = Arbitrary.all({
  text: oneOf(4, true, false),
  calls: Arbitrary.Constant<ReadonlyArray<Plan.Call>>([]),
  finish: oneOf(10, "complete", "length", "none"),
  fails: oneOf(8, "no", "before", "after")
})

const model = weighted([[1, talking], [1, calling]])

const delivery: Arbitrary.Arbitrary<Plan.Delivery> = weighted<Plan.Delivery>([
  [14, Arbitrary.Constant({ _tag: "Once" })],
  [2, Arbitrary.map(oneOf(1, true, false), (another) => ({ _tag: "Again", another }))],
  [
    3,
    Arbitrary.map(
      Arbitrary.all({ another: oneOf(1, true, false), hops: below(10), rival: oneOf(2, false, true) }),
      (fields) => ({ _tag: "Twice", ...fields })
    )
  ],
  [2, Arbitrary.map(below(31), (hops) => ({ _tag: "Leave", hops }))],
  [2, Arbitrary.map(below(31), (hops) => ({ _tag: "Crash", hops }))]
])

const answer: Arbitrary.Arbitrary<Plan.Answer> = Arbitrary.all({
  request: weighted<"open" | number>([[3, Arbitrary.Constant("open")], [4, below(4)], [1, below(10)]]),
  decision: oneOf(9, "approve", "deny", "deny", "deny", "edit")
})

const turn = (
  say: Arbitrary.Arbitrary<Plan.Turn["say"]>,
  answers: Arbitrary.Arbitrary<ReadonlyArray<Plan.Answer>>,
  model: Arbitrary.Arbitrary<Plan.ModelTurn>
): Arbitrary.Arbitrary<Plan.Turn> =>
  Arbitrary.map(
    Arbitrary.all({
      say,
      answers,
      model,
      toolkit: oneOf(24, "full", "none", "empty"),
      object: oneOf(12, false, true),
      resolve: oneOf(24, true, false),
      delivery
    }),
    (fields): Plan.Turn => ({ _tag: "Turn", ...fields })
  )

const none = Arbitrary.Constant<ReadonlyArray<Plan.Answer>>([])
const asks = turn(Arbitrary.Constant("after"), none, calling)
const answers = turn(oneOf(6, "nothing", "after", "before"), listOf(answer, 1, 3), model)
const says = turn(Arbitrary.Constant("after"), none, model)
const polls = turn(Arbitrary.Constant("nothing"), none, talking)

// =============================================================================
// Other steps
// =============================================================================

const tamper: Arbitrary.Arbitrary<Plan.Step> = Arbitrary.map(
  Arbitrary.all({
    how: oneOf<Plan.Tamper["how"]>(
      1,
      "edit parameters",
      "rename tool",
      "rename call",
      "forge request",
      "forge call",
      "bend approval id",
      "launder approval",
      "launder approval",
      "launder result",
      "repeat approval",
      "contradict answer",
      "flip answer",
      "drop call",
      "drop request",
      "drop results",
      "drop results",
      "drop answers",
      "drop message",
      "swap messages",
      "trim",
      "rewind",
      "rewind",
      "trust edit"
    ),
    at: below(5),
    other: below(5)
  }),
  (fields) => ({ _tag: "Tamper", ...fields })
)

const verdict = oneOf<Plan.Verdict>(
  2,
  "ask",
  "nothing",
  "allow",
  "block",
  "fail",
  "die",
  "hang",
  "garbage",
  "block later",
  "fail later"
)

const step = <A>(arbitrary: Arbitrary.Arbitrary<A>, make: (value: A) => Plan.Step): Arbitrary.Arbitrary<Plan.Step> =>
  Arbitrary.map(arbitrary, make)

const anyStep: Arbitrary.Arbitrary<Plan.Step> = weighted<Plan.Step>([
  [10, answers],
  [4, asks],
  [3, says],
  [2, polls],
  [6, tamper],
  [2, step(oneOf(1, "close", "crash", "reload"), (how) => ({ _tag: "Restart", how }))],
  [2, step(weighted([[2, Arbitrary.Constant("default" as const)], [5, verdict]]), (says) => ({ _tag: "Policy", says }))],
  [1, step(verdict, (says) => ({ _tag: "Gate", says }))],
  [1, step(below(2), (revision) => ({ _tag: "Show", revision }))],
  [
    1,
    step(
      oneOf(1, "defer", "approve", "approve", "deny", "edit", "misfit", "info", "fail", "die", "garbage"),
      (says) => ({ _tag: "Controller", says })
    )
  ],
  [
    1,
    step(
      Arbitrary.all({
        tool: oneOf(2, "Delete", "Send", "Charge", "Sync"),
        how: oneOf(1, "none", "removed", "widened", "narrowed")
      }),
      (fields) => ({ _tag: "Drift", ...fields })
    )
  ],
  [1, step(oneOf<1 | 61 | 44_640>(2, 1, 61, 44_640), (minutes) => ({ _tag: "Time", minutes }))],
  [1, step(oneOf(1, "rotate", "replace", "restore"), (how) => ({ _tag: "Keys", how }))],
  [1, step(below(2), (index) => ({ _tag: "Scope", index }))]
])

// =============================================================================
// Plans
// =============================================================================

const options: Arbitrary.Arbitrary<Plan.Options> = Arbitrary.all({
  way: oneOf(1, "generateText", "streamText", "Chat.generateText", "Chat.streamText"),
  onNewMessage: oneOf(2, "supersede", "keep", "hold", "fail"),
  onInvalid: oneOf(5, "result", "fail"),
  expires: oneOf(1, "by default", "in an hour"),
  concurrency: oneOf(2, 8, 1),
  incremental: oneOf(4, false, true)
})

/** Most plans begin with a turn that asks. */
export const plan: Arbitrary.Arbitrary<Plan.Plan> = Arbitrary.map(
  Arbitrary.all({
    options,
    before: weighted<ReadonlyArray<Plan.Step>>([[6, Arbitrary.Constant([])], [1, listOf(anyStep, 1, 1)]]),
    first: asks,
    rest: listOf(anyStep, 1, 7)
  }),
  ({ before, first, options, rest }) => ({ options, steps: [...before, first, ...rest] })
)

/** `count` plans from a seed. */
export const plans = (seed: string | number, count: number): Effect.Effect<ReadonlyArray<Plan.Plan>> =>
  Effect.orDie(Arbitrary.sampleEffect(plan, { count, seed, size: 10 }))
