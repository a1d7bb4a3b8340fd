/** Random turns: what the model does in them, what is said and answered, and how they are taken. */
import { Arbitrary } from "effect"
import { below, listOf, oneOf, perTheme, weighted } from "./choose.ts"
import type * as Plan from "./plan.ts"
import type { Theme } from "./theme.ts"

const toolOf = ({ guards, nests, remembers, stops, waits }: Theme): Arbitrary.Arbitrary<Plan.ToolName> => {
  if (guards > 0) return oneOf(5, "Wipe", "Delete", "Send", "Read")
  if (remembers > 0) return oneOf(6, "Delete", "Send", "Sync", "Wipe", "Charge", "Read")
  if (nests > 0) return oneOf(5, "Agent", "Delete", "Send", "Read")
  if (waits > 0) return oneOf(4, "Wait", "Order", "Order", "Order", "Delete", "Send", "Sync")
  // A run can only be stopped while it goes on, and only an idempotent one might be run again.
  return stops > 1
    ? oneOf(4, "Sync", "Delete", "Delete", "Send", "Read")
    : oneOf(4, "Delete", "Send", "Send", "Send", "Charge", "Charge", "Sync", "Read", "Poke")
}

const awaited = oneOf<Plan.Awaited>(1, "words", "verdict", "timer", "event")

export const call = perTheme((theme: Theme): Arbitrary.Arbitrary<Plan.Call> => {
  const { remembers, shared, stops, waits } = theme
  return Arbitrary.all({
    tool: toolOf(theme),
    id: weighted([[12, Arbitrary.Constant(0)], [2 * shared, below(4)], [shared, Arbitrary.Constant(1)]]),
    // What is remembered is of calls that are alike.
    amount: remembers > 0 ? oneOf(5, 0, 1) : below(3),
    how: remembers > 0 ? oneOf(14, "succeed", "slow", "fail") : stops > 1
      ? oneOf(4, "slow", "succeed", "preliminary", "fail")
      : oneOf(6, "succeed", "fail", "die", "slow", "slow", "preliminary"),
    note: remembers > 0 ? Arbitrary.Constant("plain" as const) : oneOf(6, "plain", "nasty", "long"),
    flaw: oneOf(30, "none", "parameters", "tool"),
    waits: waits > 0 ? listOf(awaited, 1, 3) : Arbitrary.Constant([]),
    inner: theme.nests > 0 ? oneOf(3, "approve", "deny", "leave") : Arbitrary.Constant("leave" as const)
  })
})

const hostedCall: Arbitrary.Arbitrary<Plan.HostedCall> = Arbitrary.all({
  tool: oneOf(6, "Remote", "Delete", "Read"),
  amount: below(3),
  asks: oneOf(5, true, false),
  says: oneOf(1, false, true),
  runs: oneOf(4, "succeed", "fail", "silent"),
  early: oneOf(1, false, true)
})

const noHosted = Arbitrary.Constant<ReadonlyArray<Plan.HostedCall>>([])

const hosted = (theme: Theme) =>
  weighted<ReadonlyArray<Plan.HostedCall>>([
    [8, noHosted],
    [2 * theme.hosted, listOf(hostedCall, 1, 2)]
  ])

const calling = perTheme((theme: Theme): Arbitrary.Arbitrary<Plan.ModelTurn> =>
  Arbitrary.all({
    text: oneOf(1, true, false),
    calls: listOf(call(theme), theme.hosted > 4 ? 0 : 1, theme.hosted > 4 ? 2 : 3),
    hosted: hosted(theme),
    finish: oneOf(14, "complete", "length", "none"),
    fails: oneOf(16, "no", "before", "after")
  })
)

const talking: Arbitrary.Arbitrary<Plan.ModelTurn> = Arbitrary.all({
  text: oneOf(4, true, false),
  calls: Arbitrary.Constant<ReadonlyArray<Plan.Call>>([]),
  hosted: noHosted,
  finish: oneOf(10, "complete", "length", "none"),
  fails: oneOf(8, "no", "before", "after")
})

const another = oneOf(1, true, false)

const delivery = ({ crowds, stops }: Theme): Arbitrary.Arbitrary<Plan.Delivery> =>
  weighted<Plan.Delivery>([
    [14, Arbitrary.Constant({ _tag: "Once" })],
    [2 * crowds, Arbitrary.map(another, (another) => ({ _tag: "Again", another }))],
    [
      3 * crowds,
      Arbitrary.map(
        Arbitrary.all({ another, hops: below(12), rival: oneOf(2, false, true) }),
        (fields) => ({ _tag: "Twice", ...fields })
      )
    ],
    [2 * crowds, Arbitrary.map(below(31), (hops) => ({ _tag: "Leave", hops }))],
    [2 * crowds, Arbitrary.map(below(31), (hops) => ({ _tag: "Crash", hops }))],
    [
      2 * stops,
      Arbitrary.map(Arbitrary.all({ hops: below(31), at: below(3) }), (fields) => ({ _tag: "Stop", ...fields }))
    ]
  ])

export const answer: Arbitrary.Arbitrary<Plan.Answer> = Arbitrary.all({
  request: weighted<"open" | number>([[3, Arbitrary.Constant("open")], [4, below(4)], [1, below(10)]]),
  decision: oneOf(9, "approve", "deny", "deny", "deny", "edit"),
  remember: Arbitrary.Constant("no" as const)
})

const turn = (
  theme: Theme,
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
      object: weighted([[14, Arbitrary.Constant(false)], [theme.objects, Arbitrary.Constant(true)]]),
      resolve: oneOf(24, true, false),
      delivery: delivery(theme)
    }),
    (fields): Plan.Turn => ({ _tag: "Turn", ...fields })
  )

const none = Arbitrary.Constant<ReadonlyArray<Plan.Answer>>([])

const lasting = ({ remembers }: Theme): Arbitrary.Arbitrary<Plan.Answer["remember"]> =>
  remembers > 0 ? oneOf(1, "call", "tool", "once", "no") : Arbitrary.Constant("no")

const deciding = (decision: "approve" | "deny") => (request: Arbitrary.Arbitrary<Plan.Answer["request"]>) =>
  perTheme((theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
    turn(
      theme,
      Arbitrary.Constant("nothing"),
      Arbitrary.map(
        Arbitrary.all({ request, remember: lasting(theme) }),
        (fields): ReadonlyArray<Plan.Answer> => [{ ...fields, decision }]
      ),
      talking
    )
  )

const approving = deciding("approve")

export const approves = approving(Arbitrary.Constant("open"))

/** Two requests are approved at once, of which one may have waited while the model went on. */
export const approvesBoth = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  turn(
    theme,
    Arbitrary.Constant("nothing"),
    Arbitrary.Constant([
      { request: 0, decision: "approve", remember: "no" },
      { request: 1, decision: "approve", remember: "no" }
    ]),
    talking
  )

/** Two people say different things at once of everything that is open. */
export const contradicts = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  turn(
    theme,
    Arbitrary.Constant("nothing"),
    Arbitrary.map(oneOf(1, true, false), (isFirst): ReadonlyArray<Plan.Answer> => {
      const no: Plan.Answer = { request: "open", decision: "deny", remember: "no" }
      const yes: Plan.Answer = { request: "open", decision: "approve", remember: "no" }
      return isFirst ? [no, yes] : [yes, no]
    }),
    talking
  )

/** Of two requests one is denied and the other approved, both for good, and both perhaps for each other. */
export const settlesForGood = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  turn(
    theme,
    Arbitrary.Constant("nothing"),
    Arbitrary.map(
      Arbitrary.all({ denial: oneOf<"call" | "tool">(1, "call", "tool"), approval: oneOf(1, "tool", "call") }),
      ({ approval, denial }): ReadonlyArray<Plan.Answer> => [
        { request: 0, decision: "deny", remember: denial },
        { request: 1, decision: "approve", remember: approval as Plan.Answer["remember"] }
      ]
    ),
    talking
  )

export const denies = deciding("deny")(Arbitrary.Constant("open"))

/** An approval whose reader or process is gone before it has settled. */
export const approvesInHaste = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  Arbitrary.map(
    Arbitrary.all({ approval: approves(theme), name: oneOf(1, "Crash", "Leave"), hops: below(31) }),
    ({ approval, hops, name }): Plan.Turn => ({ ...approval, delivery: { _tag: name, hops } })
  )

/** An approval whose run is stopped while it goes on, or just before it begins. */
export const stopsInHaste = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  Arbitrary.map(
    Arbitrary.all({ approval: approves(theme), hops: below(31), at: below(2) }),
    ({ approval, at, hops }): Plan.Turn => ({ ...approval, delivery: { _tag: "Stop", hops, at } })
  )

/** A page that is late, or somebody who tries again. */
export const approvesAgain = approving(weighted<"open" | number>([[1, Arbitrary.Constant("open")], [1, below(3)]]))

export const says = perTheme((theme: Theme) => turn(theme, Arbitrary.Constant("after"), none, talking))

export const asks = perTheme((theme: Theme) => turn(theme, Arbitrary.Constant("after"), none, calling(theme)))

/** The model makes a call twice, which are asked about side by side. */
export const asksAlike = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  Arbitrary.map(
    Arbitrary.all({ turn: asks(theme), call: call(theme) }),
    ({ call, turn }): Plan.Turn => ({
      ...turn,
      delivery: { _tag: "Once" },
      model: { ...turn.model, calls: [{ ...call, id: 0 }, { ...call, id: 0 }, ...turn.model.calls.slice(0, 1)] }
    })
  )

/** One of several requests is answered. */
export const approvesOne = approving(below(3))

/** A turn that says nothing new. */
export const goesOn = perTheme((theme: Theme) => turn(theme, Arbitrary.Constant("nothing"), none, talking))

export const anyTurn = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> => {
  const model = weighted([[1, talking], [1, calling(theme)]])
  const saying = weighted<Plan.Turn["say"]>([
    [6, Arbitrary.Constant("nothing")],
    [theme.messages, Arbitrary.Constant("after")],
    [theme.messages, Arbitrary.Constant("before")]
  ])
  return weighted([
    [10, turn(theme, saying, listOf(answer, 1, 3), model)],
    [4, asks(theme)],
    [2 + theme.messages, turn(theme, Arbitrary.Constant("after"), none, model)],
    [4, goesOn(theme)]
  ])
}
