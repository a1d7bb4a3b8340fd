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

type Seat = Arbitrary.Arbitrary<Plan.Seat>

const anywhere: Seat = oneOf<Plan.Seat>(3, 0, 1)

/** Mostly there. */
const near = (seat: Plan.Seat): Seat => oneOf<Plan.Seat>(5, seat, seat === 0 ? 1 : 0)

const call: Arbitrary.Arbitrary<Plan.Call> = Arbitrary.all({
  tool: oneOf<Plan.Call["tool"]>(3, "Pay", "Look", "Look", "Sync", "Sync", "Book"),
  how: oneOf<Plan.Call["how"]>(6, "slow", "quick", "quick", "preliminary", "fail", "die")
})

const until: Arbitrary.Arbitrary<Plan.Until> = Arbitrary.all({
  sign: oneOf<Plan.Sign>(14, "began", "ended", "ended", "asked", "said", "write", "write", "write", "part", "part"),
  count: weighted([[4, Arbitrary.Constant(0)], [2, below(3)], [1, below(12)]]),
  hops: weighted([[3, Arbitrary.Constant(0)], [2, below(6)], [1, below(25)]])
})

const turnOf = (fields: {
  readonly seat: Seat
  readonly via: Arbitrary.Arbitrary<Plan.Turn["via"]>
  readonly person?: Arbitrary.Arbitrary<Plan.Turn["person"]>
  readonly calls?: Arbitrary.Arbitrary<ReadonlyArray<Plan.Call>>
  readonly until?: Arbitrary.Arbitrary<Plan.Until>
}): Arbitrary.Arbitrary<Plan.Step> =>
  Arbitrary.map(
    Arbitrary.all({
      seat: fields.seat,
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
const runsInline = (seat: Seat) =>
  turnOf({ seat, via: says, person: oneOf<Plan.Turn["person"]>(4, "approve", "approve late"), calls, until })
/** Nobody is there to answer: what needs nobody runs, and the rest is asked. */
const asks = turnOf({ seat: anywhere, via: says, person: nobody, calls })
const runsUngated = (seat: Seat) => turnOf({ seat, via: says, person: nobody, calls, until })
const decides = (seat: Seat) => turnOf({ seat, via: Arbitrary.Constant("decide"), until })
const decidesToTheEnd = turnOf({ seat: anywhere, via: Arbitrary.Constant("decide") })
const goesOn = turnOf({ seat: anywhere, via: oneOf<Plan.Turn["via"]>(2, "send", "stream", "decide", "continue") })
const anyTurn = turnOf({
  seat: anywhere,
  via: oneOf<Plan.Turn["via"]>(2, "send", "stream", "decide", "continue"),
  until: weighted([[2, until], [1, Arbitrary.Constant("end")]])
})

// =============================================================================
// What happens to them
// =============================================================================

const happens = (seat: Seat): Arbitrary.Arbitrary<Plan.Step> =>
  Arbitrary.map(
    Arbitrary.all({
      tag: oneOf<Exclude<Plan.Step["_tag"], "Turn" | "Clock" | "Time">>(
        3,
        "Leave",
        "Die",
        "Die",
        "Die",
        "Block",
        "Block",
        "Block",
        "Cancel",
        "Cancel",
        "Pending",
        "Close"
      ),
      seat
    }),
    ({ seat, tag }): Plan.Step => ({ _tag: tag, seat })
  )

const time = Arbitrary.map(oneOf<1 | 5 | 20 | 60>(2, 5, 1, 20, 60), (seconds): Plan.Step => ({ _tag: "Time", seconds }))

const minutes = oneOf<-10 | 0 | 10>(1, 0, -10, 10)

const clock = Arbitrary.map(
  Arbitrary.all({ seat: anywhere, minutes }),
  (fields): Plan.Step => ({ _tag: "Clock", ...fields })
)

type Steps = Arbitrary.Arbitrary<ReadonlyArray<Plan.Step>>

const inTurn = (...steps: ReadonlyArray<Arbitrary.Arbitrary<Plan.Step>>): Steps => Arbitrary.all(steps)

/** A turn somewhere, and what happens near there. */
const fragmentAt = (seat: Plan.Seat): Steps => {
  const here = Arbitrary.Constant(seat)
  const happensNear = happens(near(seat))
  return weighted<ReadonlyArray<Plan.Step>>([
    [4, inTurn(runsInline(here), happensNear, goesOn)],
    [2, inTurn(runsInline(here), happensNear, time, goesOn)],
    [2, inTurn(runsInline(here), clock, goesOn)],
    [3, inTurn(runsUngated(here), happensNear, goesOn)],
    [6, inTurn(asks, decides(here), happensNear, goesOn)],
    [2, inTurn(asks, decides(here), happensNear, happensNear, goesOn)],
    [1, inTurn(asks, decides(here), goesOn)],
    [2, inTurn(asks, decidesToTheEnd, decides(here), happensNear, goesOn)],
    [1, inTurn(asks, happensNear, decides(here))],
    [1, inTurn(anyTurn)],
    [1, inTurn(happensNear)],
    [1, inTurn(time)],
    [1, inTurn(clock)]
  ])
}

const fragment = weighted<ReadonlyArray<Plan.Step>>([[3, fragmentAt(0)], [1, fragmentAt(1)]])

// =============================================================================
// Plans
// =============================================================================

const options: Arbitrary.Arbitrary<Plan.Options> = Arbitrary.all({
  way: oneOf<Plan.Options["way"]>(3, "Conversation", "Chat"),
  clocks: Arbitrary.all([minutes, minutes]),
  onNewMessage: oneOf<Plan.Options["onNewMessage"]>(3, "supersede", "keep"),
  concurrency: oneOf<1 | 8>(2, 8, 1),
  limit: oneOf<Plan.Options["limit"]>(5, "none", "5 seconds"),
  last: anywhere
})

export const plan: Arbitrary.Arbitrary<Plan.Plan> = Arbitrary.map(
  Arbitrary.all({ options, fragments: listOf(fragment, 1, 3) }),
  ({ fragments, options }) => ({ options, steps: fragments.flat() })
)

/** `count` plans from a seed. */
export const plans = (seed: string | number, count: number): Effect.Effect<ReadonlyArray<Plan.Plan>> =>
  Effect.orDie(Arbitrary.sampleEffect(plan, { count, seed, size: 10 }))
