/**
 * Random plans. Most of what happens is what happens in life: the model calls, a person answers, the model goes on; the
 * rest is everything that can go wrong. Each plan has a theme, of which it holds more than others do, so that what is
 * rare is met often, and in combination with itself.
 */
import { Arbitrary, Effect, Schema } from "effect"
import type * as Plan from "./plan.ts"

// =============================================================================
// Themes
// =============================================================================

/** How often a plan of a theme holds each thing. */
interface Theme {
  readonly objects: number
  readonly shared: number
  readonly tampering: number
  readonly policies: number
  readonly changes: number
  readonly crowds: number
  readonly messages: number
}

const ordinary: Theme = {
  objects: 1,
  shared: 1,
  tampering: 3,
  policies: 1,
  changes: 1,
  crowds: 1,
  messages: 1
}

const themes: ReadonlyArray<readonly [weight: number, theme: Theme]> = [
  [2, ordinary],
  [3, { ...ordinary, objects: 24 }],
  [1, { ...ordinary, shared: 8 }],
  [2, { ...ordinary, tampering: 16 }],
  [4, { ...ordinary, policies: 7, tampering: 1 }],
  [2, { ...ordinary, changes: 5, tampering: 1 }],
  [2, { ...ordinary, crowds: 5 }],
  [2, { ...ordinary, messages: 8, shared: 6, tampering: 1 }]
]

// =============================================================================
// Small pieces
// =============================================================================

// Literals, because integers are drawn from the ends of their interval more often than from its middle.
const below = (count: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Literals(Array.from({ length: count }, (_, index) => index)))

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

const call = ({ shared }: Theme): Arbitrary.Arbitrary<Plan.Call> =>
  Arbitrary.all({
    tool: oneOf(4, "Delete", "Send", "Send", "Send", "Charge", "Charge", "Sync", "Read", "Poke"),
    id: weighted([[12, Arbitrary.Constant(0)], [2 * shared, below(4)], [shared, Arbitrary.Constant(1)]]),
    amount: below(3),
    how: oneOf(6, "succeed", "fail", "die", "slow", "slow", "preliminary"),
    note: oneOf(6, "plain", "nasty", "long"),
    flaw: oneOf(30, "none", "parameters", "tool")
  })

const calling = (theme: Theme): Arbitrary.Arbitrary<Plan.ModelTurn> =>
  Arbitrary.all({
    text: oneOf(1, true, false),
    calls: listOf(call(theme), 1, 3),
    finish: oneOf(14, "complete", "length", "none"),
    fails: oneOf(16, "no", "before", "after")
  })

const talking: Arbitrary.Arbitrary<Plan.ModelTurn> = Arbitrary.all({
  text: oneOf(4, true, false),
  calls: Arbitrary.Constant<ReadonlyArray<Plan.Call>>([]),
  finish: oneOf(10, "complete", "length", "none"),
  fails: oneOf(8, "no", "before", "after")
})

const another = oneOf(1, true, false)

const delivery = ({ crowds }: Theme): Arbitrary.Arbitrary<Plan.Delivery> =>
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
    [2 * crowds, Arbitrary.map(below(31), (hops) => ({ _tag: "Crash", hops }))]
  ])

const answer: Arbitrary.Arbitrary<Plan.Answer> = Arbitrary.all({
  request: weighted<"open" | number>([[3, Arbitrary.Constant("open")], [4, below(4)], [1, below(10)]]),
  decision: oneOf(9, "approve", "deny", "deny", "deny", "edit")
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

const approving = (request: Arbitrary.Arbitrary<Plan.Answer["request"]>) => (theme: Theme) =>
  turn(
    theme,
    Arbitrary.Constant("nothing"),
    Arbitrary.map(request, (request): ReadonlyArray<Plan.Answer> => [{ request, decision: "approve" }]),
    talking
  )

const approves = approving(Arbitrary.Constant("open"))

/** An approval whose reader or process is gone before it has settled. */
const approvesInHaste = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> =>
  Arbitrary.map(
    Arbitrary.all({ approval: approves(theme), name: oneOf(1, "Crash", "Leave"), hops: below(31) }),
    ({ approval, hops, name }): Plan.Turn => ({ ...approval, delivery: { _tag: name, hops } })
  )

/** A page that is late, or somebody who tries again. */
const approvesAgain = approving(weighted<"open" | number>([[1, Arbitrary.Constant("open")], [1, below(3)]]))

const says = (theme: Theme) => turn(theme, Arbitrary.Constant("after"), none, talking)

const asks = (theme: Theme) => turn(theme, Arbitrary.Constant("after"), none, calling(theme))

const anyTurn = (theme: Theme): Arbitrary.Arbitrary<Plan.Turn> => {
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
    [4, turn(theme, Arbitrary.Constant("nothing"), none, talking)]
  ])
}

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

/** A history from before, or without the results: what was decided is only in the journal. */
const forgets: Arbitrary.Arbitrary<Plan.Step> = Arbitrary.map(
  Arbitrary.all({ how: oneOf(1, "drop results", "rewind"), at: below(3) }),
  (fields) => ({ _tag: "Tamper", ...fields, other: 0 })
)

const verdict = oneOf<Plan.Verdict>(
  2,
  "ask",
  "nothing",
  "allow",
  "block",
  "block",
  "fail",
  "fail",
  "die",
  "die",
  "hang",
  "hang",
  "garbage",
  "block later",
  "fail later"
)

const step = <A>(arbitrary: Arbitrary.Arbitrary<A>, make: (value: A) => Plan.Step): Arbitrary.Arbitrary<Plan.Step> =>
  Arbitrary.map(arbitrary, make)

const policy = step(
  weighted([[1, Arbitrary.Constant("default" as const)], [5, verdict]]),
  (says) => ({ _tag: "Policy", says })
)

const gate = step(verdict, (says) => ({ _tag: "Gate", says }))

const controller = step(
  oneOf(1, "defer", "approve", "approve", "deny", "edit", "misfit", "info", "fail", "die", "garbage"),
  (says) => ({ _tag: "Controller", says })
)

const show = step(oneOf(3, 1, 0), (revision) => ({ _tag: "Show", revision }))

const drift = step(
  Arbitrary.all({
    tool: oneOf(2, "Delete", "Send", "Charge", "Sync"),
    how: oneOf(1, "none", "removed", "widened", "narrowed")
  }),
  (fields) => ({ _tag: "Drift", ...fields })
)

const time = step(oneOf<1 | 61 | 44_640>(2, 61, 61, 1, 44_640), (minutes) => ({ _tag: "Time", minutes }))
const keys = step(oneOf(1, "rotate", "replace", "restore"), (how) => ({ _tag: "Keys", how }))
const scope = step(below(2), (index) => ({ _tag: "Scope", index }))
const restart = step(oneOf(1, "close", "crash", "reload"), (how) => ({ _tag: "Restart", how }))

/** A step, or a change and the turn that meets it. */
const fragment = (theme: Theme): Arbitrary.Arbitrary<ReadonlyArray<Plan.Step>> => {
  const inTurn = (
    ...steps: ReadonlyArray<Arbitrary.Arbitrary<Plan.Step>>
  ): Arbitrary.Arbitrary<ReadonlyArray<Plan.Step>> => Arbitrary.all(steps)
  const rules = weighted([[3, policy], [2, gate]])
  const changes = weighted([[3, drift], [2, time], [2, keys], [2, scope], [1, show]])
  return weighted<ReadonlyArray<Plan.Step>>([
    [20, inTurn(anyTurn(theme))],
    [theme.tampering, inTurn(tamper)],
    [theme.tampering, inTurn(tamper, approvesAgain(theme))],
    [2 * theme.crowds, inTurn(restart)],
    [theme.crowds, inTurn(approvesInHaste(theme), approvesAgain(theme))],
    [theme.messages, inTurn(says(theme), forgets, approvesAgain(theme))],
    [theme.policies, inTurn(weighted([[2, rules], [1, controller]]))],
    [theme.policies, inTurn(rules, asks(theme))],
    [theme.policies, inTurn(controller, asks(theme))],
    [2 * theme.policies, inTurn(rules, approves(theme))],
    [theme.changes, inTurn(changes)],
    [2 * theme.changes, inTurn(changes, approves(theme))],
    [theme.changes, inTurn(asks(theme), show, approves(theme))]
  ])
}

// =============================================================================
// Plans
// =============================================================================

const options = ({ objects }: Theme): Arbitrary.Arbitrary<Plan.Options> =>
  Arbitrary.all({
    // There is no stream of objects.
    way: objects > 1
      ? oneOf<Plan.Way>(1, "generateText", "Chat.generateText")
      : oneOf<Plan.Way>(1, "generateText", "streamText", "Chat.generateText", "Chat.streamText"),
    onNewMessage: oneOf(2, "supersede", "keep", "hold", "fail"),
    onInvalid: oneOf(5, "result", "fail"),
    expires: oneOf(1, "by default", "in an hour"),
    concurrency: oneOf(2, 8, 1),
    incremental: oneOf(4, false, true)
  })

/** Most plans begin with a turn that asks. */
const planOf = (theme: Theme): Arbitrary.Arbitrary<Plan.Plan> =>
  Arbitrary.map(
    Arbitrary.all({
      options: options(theme),
      before: weighted<ReadonlyArray<Plan.Step>>([[6, Arbitrary.Constant([])], [theme.policies, fragment(theme)]]),
      first: asks(theme),
      rest: listOf(fragment(theme), 1, 6)
    }),
    ({ before, first, options, rest }) => ({ options, steps: [...before, first, ...rest.flat()] })
  )

export const plan: Arbitrary.Arbitrary<Plan.Plan> = weighted(
  themes.map(([weight, theme]) => [weight, planOf(theme)] as const)
)

/** `count` plans from a seed. */
export const plans = (seed: string | number, count: number): Effect.Effect<ReadonlyArray<Plan.Plan>> =>
  Effect.orDie(Arbitrary.sampleEffect(plan, { count, seed, size: 10 }))
