/**
 * Random plans. Most of what happens is what happens in life: the model calls, a person answers, the model goes on; the
 * rest is everything that can go wrong. Each plan has a theme, of which it holds more than others do, so that what is
 * rare is met often, and in combination with itself.
 */
import { Arbitrary, Effect } from "effect"
import {
  answer,
  anyTurn,
  approves,
  approvesAgain,
  approvesBoth,
  approvesInHaste,
  approvesOne,
  asks,
  asksAlike,
  call,
  contradicts,
  denies,
  goesOn,
  says,
  settlesForGood,
  stopsInHaste
} from "./arbitraryTurn.ts"
import { below, listOf, oneOf, weighted } from "./choose.ts"
import type * as Plan from "./plan.ts"
import { type Theme, themes } from "./theme.ts"

// =============================================================================
// Steps
// =============================================================================

const tamper: Arbitrary.Arbitrary<Plan.Step> = Arbitrary.map(
  Arbitrary.all({
    how: oneOf<Plan.Tamper["how"]>(
      1,
      "edit parameters",
      "rename tool",
      "rename call",
      "rename call",
      "host call",
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

const driftOf = (...tools: readonly [Plan.ToolName, ...ReadonlyArray<Plan.ToolName>]) =>
  step(
    Arbitrary.all({
      tool: oneOf<Plan.ToolName>(2, ...tools),
      how: oneOf(2, "removed", "widened", "narrowed", "none")
    }),
    (fields) => ({ _tag: "Drift", ...fields })
  )

const drift = driftOf("Delete", "Send", "Charge", "Sync")

const waitingDrift = driftOf("Wait", "Order")

/** What the tool is by now, and takes still. */
const widening = step(oneOf<Plan.ToolName>(4, "Delete", "Sync", "Wipe"), (tool) => ({
  _tag: "Drift",
  tool,
  how: "widened"
}))

const time = step(oneOf<1 | 61 | 44_640>(2, 61, 61, 1, 44_640), (minutes) => ({ _tag: "Time", minutes }))
const keys = step(oneOf(1, "rotate", "replace", "restore"), (how) => ({ _tag: "Keys", how }))
const scope = step(below(2), (index) => ({ _tag: "Scope", index }))
const restart = step(oneOf(1, "close", "crash", "reload"), (how) => ({ _tag: "Restart", how }))

const stop = step(below(3), (at) => ({ _tag: "Stop", at }))

const storeOf = (about: Pick<Plan.Store, "only">) =>
  step(
    Arbitrary.all({
      how: oneOf<Plan.Store["how"]>(3, "fails", "loses", "loses", "full", "works"),
      skip: below(6),
      count: oneOf(3, 1, 0, 2, 4)
    }),
    (fields) => ({ _tag: "Store", ...fields, ...about })
  )
const store = storeOf({})
const storeOfWaiting = storeOf({ only: "waiting" })
const storeOfRemembered = storeOf({ only: "remembered" })

const answering = step(
  Arbitrary.all({ answers: listOf(answer, 1, 2), unknown: oneOf(9, false, true) }),
  (fields) => ({ _tag: "Answer", ...fields })
)

const tell = step(
  Arbitrary.all({ at: below(3), how: oneOf(4, "right", "wrong", "cancel") }),
  (fields) => ({ _tag: "Tell", ...fields })
)

const clock = step(oneOf<1 | 61>(3, 61, 1), (minutes) => ({ _tag: "Time", minutes }))

const guarded = (theme: Theme) =>
  step(
    Arbitrary.all({
      calls: listOf(call(theme), 1, 3),
      leave: weighted<number | "no">([[5, Arbitrary.Constant("no")], [1, below(12)]])
    }),
    (fields) => ({ _tag: "Guarded", ...fields })
  )

const memory = step(oneOf(4, true, false), (isOn) => ({ _tag: "Memory", isOn }))

const lastingPolicy = step(
  oneOf<Plan.Verdict | "default">(3, "ask rememberable", "ask once", "ask", "default", "block", "allow", "fail"),
  (says) => ({ _tag: "Policy", says })
)

const rememberingPolicy = step(oneOf<Plan.Verdict>(1, "ask rememberable", "ask once"), (says) => ({
  _tag: "Policy",
  says
}))

const lastingController = step(
  oneOf(2, "approve for good", "approve once more", "deny for good", "approve", "defer", "defer", "edit"),
  (says) => ({ _tag: "Controller", says })
)

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
    [theme.crowds, inTurn(approvesInHaste(theme), restart, approvesAgain(theme))],
    [theme.messages, inTurn(says(theme), forgets, approvesAgain(theme))],
    [theme.messages, inTurn(asks(theme), asks(theme), approvesBoth(theme))],
    [theme.policies, inTurn(weighted([[2, rules], [1, controller]]))],
    [theme.policies, inTurn(rules, asks(theme))],
    [theme.policies, inTurn(controller, asks(theme))],
    [2 * theme.policies, inTurn(rules, approves(theme))],
    [theme.changes, inTurn(changes)],
    [2 * theme.changes, inTurn(changes, approves(theme))],
    [2 * theme.changes, inTurn(asks(theme), drift, approves(theme))],
    [theme.changes, inTurn(asks(theme), show, approves(theme))],
    [theme.storage, inTurn(store)],
    [theme.waits * theme.storage, inTurn(storeOfWaiting)],
    [theme.remembers * theme.storage, inTurn(storeOfRemembered)],
    [2 * theme.storage, inTurn(asks(theme), store, approves(theme), approvesAgain(theme))],
    [theme.stops, inTurn(stopsInHaste(theme), approvesAgain(theme))],
    [theme.stops, inTurn(approvesInHaste(theme), stop, approvesAgain(theme))],
    [theme.stops, inTurn(asks(theme), stopsInHaste(theme), forgets, approvesAgain(theme))],
    [theme.hosted, inTurn(asks(theme), rules, goesOn(theme))],
    [theme.hosted, inTurn(asks(theme), rules, approves(theme))],
    [2, inTurn(asks(theme), goesOn(theme))],
    [2, inTurn(asks(theme), denies(theme), approvesAgain(theme))],
    [theme.answers, inTurn(answering)],
    [theme.answers, inTurn(answering, goesOn(theme))],
    [2 * theme.waits, inTurn(tell, goesOn(theme))],
    [2 * theme.waits, inTurn(clock, goesOn(theme))],
    [theme.waits, inTurn(approves(theme), clock, tell, goesOn(theme))],
    [2 * theme.waits, inTurn(approves(theme), approvesAgain(theme))],
    [theme.waits, inTurn(asks(theme), approves(theme), restart, approves(theme))],
    [theme.waits, inTurn(approves(theme), denies(theme), approvesAgain(theme))],
    [theme.waits, inTurn(approves(theme), says(theme), tell, clock, goesOn(theme))],
    [theme.waits, inTurn(approves(theme), rules, approves(theme))],
    [2 * theme.waits, inTurn(asks(theme), waitingDrift, approves(theme))],
    [theme.waits, inTurn(contradicts(theme), approvesAgain(theme))],
    [theme.waits, inTurn(approves(theme), forgets, approvesAgain(theme))],
    [theme.guards, inTurn(guarded(theme))],
    [theme.guards, inTurn(controller, guarded(theme))],
    [theme.guards, inTurn(rules, controller, guarded(theme))],
    [2 * theme.guards, inTurn(controller, asks(theme))],
    [2 * theme.nests, inTurn(controller, asks(theme))],
    [2 * theme.nests, inTurn(rules, asks(theme), approves(theme))],
    [theme.nests, inTurn(asks(theme), approvesInHaste(theme), approvesAgain(theme))],
    [theme.remembers, inTurn(memory)],
    [2 * theme.remembers, inTurn(lastingController, asks(theme), asks(theme))],
    [2 * theme.remembers, inTurn(lastingPolicy, asks(theme), approves(theme), asks(theme))],
    [2 * theme.remembers, inTurn(rememberingPolicy, asksAlike(theme), approvesOne(theme))],
    [theme.remembers, inTurn(lastingController, asksAlike(theme))],
    [theme.remembers, inTurn(lastingPolicy, asks(theme), approvesAgain(theme), denies(theme))],
    [theme.remembers, inTurn(lastingPolicy, asks(theme), denies(theme), asks(theme))],
    [theme.remembers, inTurn(lastingController, asks(theme), changes, asks(theme))],
    [2 * theme.remembers, inTurn(rememberingPolicy, asksAlike(theme), settlesForGood(theme), asksAlike(theme))],
    [theme.remembers, inTurn(lastingController, asksAlike(theme), widening, asksAlike(theme))],
    [theme.remembers, inTurn(lastingController, asks(theme), rules, asks(theme))],
    [theme.remembers, inTurn(lastingController, guarded(theme), guarded(theme))],
    [theme.waits, inTurn(tell, tell, approvesInHaste(theme), approvesAgain(theme))]
  ])
}

// =============================================================================
// Plans
// =============================================================================

const options = ({ hosted, messages, objects }: Theme): Arbitrary.Arbitrary<Plan.Options> =>
  Arbitrary.all({
    // There is no stream of objects.
    way: objects > 1
      ? oneOf<Plan.Way>(1, "generateText", "Chat.generateText")
      : oneOf<Plan.Way>(1, "generateText", "streamText", "Chat.generateText", "Chat.streamText"),
    onNewMessage: messages > 4
      ? oneOf(3, "keep", "supersede", "hold", "fail")
      : oneOf(2, "supersede", "keep", "hold", "fail"),
    onInvalid: oneOf(5, "result", "fail"),
    expires: oneOf(1, "by default", "in an hour"),
    concurrency: oneOf(2, 8, 1),
    incremental: oneOf(4, false, true),
    provider: oneOf(hosted > 0 ? 1 : 6, "foreign", "ours")
  })

/** Most plans begin with a turn that asks. */
export const planOf = (theme: Theme): Arbitrary.Arbitrary<Plan.Plan> =>
  Arbitrary.map(
    Arbitrary.all({
      options: options(theme),
      before: weighted<ReadonlyArray<Plan.Step>>([[6, Arbitrary.Constant([])], [theme.policies, fragment(theme)]]),
      // Nothing is remembered unless the program wants it.
      memory: Arbitrary.Constant<ReadonlyArray<Plan.Step>>(
        theme.remembers > 0 ? [{ _tag: "Memory", isOn: true }] : []
      ),
      first: asks(theme),
      rest: listOf(fragment(theme), 1, 6)
    }),
    ({ before, first, memory, options, rest }) => ({ options, steps: [...memory, ...before, first, ...rest.flat()] })
  )

export const plan: Arbitrary.Arbitrary<Plan.Plan> = weighted(
  themes.map(([weight, theme]) => [weight, planOf(theme)] as const)
)

/** `count` plans from a seed. */
export const plans = (seed: string | number, count: number): Effect.Effect<ReadonlyArray<Plan.Plan>> =>
  Effect.orDie(Arbitrary.sampleEffect(plan, { count, seed, size: 10 }))
