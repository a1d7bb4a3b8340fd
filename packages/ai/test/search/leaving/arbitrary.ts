/**
 * Random plans of those that leave. Most begin as in life, with calls that are made and approved, and then something
 * happens to a turn that goes on; whatever it was, somebody takes another turn.
 */
import { Arbitrary, Effect } from "effect"
import { below, listOf, oneOf, weighted } from "../choose.ts"
import type * as Plan from "./plan.ts"

// =============================================================================
// Turns
// =============================================================================

const seat = oneOf<Plan.Seat>(3, 0, 1)

const call: Arbitrary.Arbitrary<Plan.Call> = Arbitrary.all({
  tool: oneOf<Plan.Call["tool"]>(3, "Pay", "Look", "Look", "Sync", "Sync", "Book"),
  how: oneOf<Plan.Call["how"]>(4, "slow", "quick", "quick", "preliminary", "fail", "die")
})

const until: Arbitrary.Arbitrary<Plan.Until> = Arbitrary.all({
  sign: oneOf<Plan.Sign>(4, "began", "ended", "ended", "asked", "said", "write", "write", "write", "part", "part"),
  count: weighted([[3, Arbitrary.Constant(0)], [2, below(4)], [1, below(12)]]),
  hops: weighted([[2, Arbitrary.Constant(0)], [2, below(6)], [1, below(25)]])
})

const turnOf = (fields: {
  readonly via: Arbitrary.Arbitrary<Plan.Turn["via"]>
  readonly person?: Arbitrary.Arbitrary<Plan.Turn["person"]>
  readonly calls?: Arbitrary.Arbitrary<ReadonlyArray<Plan.Call>>
  readonly until?: Arbitrary.Arbitrary<Plan.Until>
}): Arbitrary.Arbitrary<Plan.Step> =>
  Arbitrary.map(
    Arbitrary.all({
      seat,
      via: fields.via,
      person: fields.person ?? oneOf<Plan.Turn["person"]>(3, "nobody", "approve", "deny", "approve late"),
      answers: oneOf<Plan.Turn["answers"]>(6, "approve", "deny"),
      calls: fields.calls ?? weighted<ReadonlyArray<Plan.Call>>([[3, Arbitrary.Constant([])], [1, listOf(call, 1, 2)]]),
      fails: oneOf(8, false, true),
      until: fields.until ?? Arbitrary.Constant<Plan.Until>("end")
    }),
    (turn) => ({ _tag: "Turn", ...turn })
  )

const says = oneOf<Plan.Turn["via"]>(1, "send", "stream")
const calls = listOf(call, 1, 3)
const nobody = Arbitrary.Constant<Plan.Turn["person"]>("nobody")

/** Somebody answers at once. */
const runsInline = turnOf({
  via: says,
  person: oneOf<Plan.Turn["person"]>(4, "approve", "approve late"),
  calls,
  until
})
/** Nobody is there to answer: what needs nobody runs, and the rest is asked. */
const asks = turnOf({ via: says, person: nobody, calls })
const runsUngated = turnOf({ via: says, person: nobody, calls, until })
const decides = turnOf({ via: Arbitrary.Constant("decide"), until })
const decidesToTheEnd = turnOf({ via: Arbitrary.Constant("decide") })
const goesOn = turnOf({ via: oneOf<Plan.Turn["via"]>(2, "send", "stream", "decide", "continue") })
const anyTurn = turnOf({
  via: oneOf<Plan.Turn["via"]>(2, "send", "stream", "decide", "continue"),
  until: weighted([[2, until], [1, Arbitrary.Constant("end")]])
})

// =============================================================================
// What happens to them
// =============================================================================

const happens = weighted<Plan.Step>(
  (["Leave", "Leave", "Die", "Die", "Block", "Block", "Cancel", "Pending", "Close"] as const).map((tag) => [
    tag === "Close" ? 1 : 2,
    Arbitrary.map(seat, (seat): Plan.Step => ({ _tag: tag, seat }))
  ])
)

const time = Arbitrary.map(oneOf<1 | 5 | 20 | 60>(2, 5, 1, 20, 60), (seconds): Plan.Step => ({ _tag: "Time", seconds }))

const minutes = oneOf<-10 | 0 | 10>(1, 0, -10, 10)

const clock = Arbitrary.map(
  Arbitrary.all({ seat, minutes }),
  (fields): Plan.Step => ({ _tag: "Clock", ...fields })
)

const inTurn = (
  ...steps: ReadonlyArray<Arbitrary.Arbitrary<Plan.Step>>
): Arbitrary.Arbitrary<ReadonlyArray<Plan.Step>> => Arbitrary.all(steps)

const fragment = weighted<ReadonlyArray<Plan.Step>>([
  [4, inTurn(runsInline, happens, goesOn)],
  [2, inTurn(runsInline, happens, time, goesOn)],
  [2, inTurn(runsInline, clock, goesOn)],
  [2, inTurn(runsUngated, happens, goesOn)],
  [4, inTurn(asks, decides, happens, goesOn)],
  [2, inTurn(asks, decides, happens, happens, goesOn)],
  [2, inTurn(asks, decides, goesOn)],
  [2, inTurn(asks, decidesToTheEnd, decides, happens, goesOn)],
  [1, inTurn(asks, happens, decides)],
  [1, inTurn(anyTurn)],
  [1, inTurn(happens)],
  [1, inTurn(time)],
  [1, inTurn(clock)]
])

// =============================================================================
// Plans
// =============================================================================

const options: Arbitrary.Arbitrary<Plan.Options> = Arbitrary.all({
  way: oneOf<Plan.Options["way"]>(3, "Conversation", "Chat"),
  clocks: Arbitrary.all([minutes, minutes]),
  onNewMessage: oneOf<Plan.Options["onNewMessage"]>(3, "supersede", "keep"),
  concurrency: oneOf<1 | 8>(2, 8, 1),
  limit: oneOf<Plan.Options["limit"]>(5, "none", "5 seconds"),
  last: seat
})

export const plan: Arbitrary.Arbitrary<Plan.Plan> = Arbitrary.map(
  Arbitrary.all({ options, fragments: listOf(fragment, 1, 3) }),
  ({ fragments, options }) => ({ options, steps: fragments.flat() })
)

/** `count` plans from a seed. */
export const plans = (seed: string | number, count: number): Effect.Effect<ReadonlyArray<Plan.Plan>> =>
  Effect.orDie(Arbitrary.sampleEffect(plan, { count, seed, size: 10 }))
