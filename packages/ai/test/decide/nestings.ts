/**
 * Levels that stand one inside the other, what each may say, and the contexts in which the engine finds them: those of
 * its own functions, without a turn.
 */
import { Context, Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, Tool } from "../../src/index.ts"
import { Enclosing } from "../../src/internal/asking/enclosing.ts"
import * as Levels from "../../src/internal/asking/levels.ts"
import * as Surroundings from "../../src/internal/conversation/surroundings.ts"

// =============================================================================
// What a level says
// =============================================================================

/** `none`: nothing is provided; `toolGate` and `silent` leave it to the tool; `ask` has no word on edits. */
export const words = ["none", "toolGate", "silent", "allow", "ask", "askToEdit", "askAsIs", "block", "fail"] as const
export type Word = (typeof words)[number]

/** `none`: nothing is provided; `yes` and `no` are people. */
export const whos = ["none", "deferred", "yes", "no", "approveAll", "strict"] as const
export type Who = (typeof whos)[number]

/** What the tool says of its own calls; `none`: it has no gate. */
export const gates = ["none", "allow", "ask", "block", "fail"] as const
export type Gate = (typeof gates)[number]

export interface Level {
  readonly policy: Word
  readonly who: Who
}

const says = {
  silent: Effect.undefined,
  allow: Effect.succeed(Approval.preApproved()),
  ask: Effect.succeed(Approval.needsApproval({})),
  askToEdit: Effect.succeed(Approval.needsApproval({ editable: true })),
  askAsIs: Effect.succeed(Approval.needsApproval({ editable: false })),
  block: Effect.succeed(Approval.blocked("not here")),
  fail: Effect.fail("broken")
} as const

const memo = <A, B>(make: (key: string, of: A) => B) => {
  const known = new Map<string, B>()
  return (of: A, place: number): B => {
    const key = `${place} ${String(of)}`
    const found = known.get(key) ?? make(key, of)
    known.set(key, found)
    return found
  }
}

/** One for each place, as two levels have two. */
const policyOf = memo((_, word: Exclude<Word, "none">): ApprovalPolicy.Service =>
  word === "toolGate" ? ApprovalPolicy.toolGate : ApprovalPolicy.make(() => says[word])
)

const programs = {
  deferred: ApprovalController.deferred,
  strict: ApprovalController.strict,
  approveAll: ApprovalController.approveAll
}

/** Whom each was asked at, until somebody takes it away. */
export const asked: Array<number> = []

const controllerOf = memo((key, who: Exclude<Who, "none">): ApprovalController.Service =>
  who === "yes" || who === "no"
    ? ApprovalController.interactive(() => (asked.push(Number.parseInt(key)), who === "yes"))
    : programs[who]
)

export const toolOf = (gate: Gate): Tool.Any =>
  gate === "none" ? Tool.make("Target") : Tool.make("Target", { needsApproval: () => says[gate] })

/** What is provided at a place, counted from the inside. */
const services = ({ policy, who }: Level, place: number): Levels.Services => {
  const judged = policy === "none"
    ? Context.empty()
    : Context.make(ApprovalPolicy.ApprovalPolicy, policyOf(policy, place))
  return who === "none" ? judged : Context.add(judged, ApprovalController.ApprovalController, controllerOf(who, place))
}

// =============================================================================
// How one stands inside another
// =============================================================================

/** Where a call is decided: what its model was given, and what is provided there. */
export interface Place {
  readonly captured: Levels.Services
  readonly current: Levels.Services
}

/** What stands around everything that runs in a turn. */
const handler = ({ captured, current }: Place): Levels.Services =>
  Context.merge(current, Levels.around(captured, current) ?? Context.empty()).pipe(Context.add(Enclosing, captured))

type Step = (around: Levels.Services, inside: Levels.Services) => Place

const overruled = Context.make(ApprovalPolicy.ApprovalPolicy, policyOf("block", 9)).pipe(
  Context.add(ApprovalController.ApprovalController, ApprovalController.strict)
)

/** What a model was given of what a level says itself: that stands in its place, and the model's does not count. */
const overruledBy = (inside: Levels.Services, around: Levels.Services): Levels.Services => {
  // Where it is the same that stands around it, nobody can tell that it was said again.
  const isSaid = ([key]: readonly [string, unknown]): boolean =>
    inside.mapUnsafe.has(key) && inside.mapUnsafe.get(key) !== around.mapUnsafe.get(key)
  return Context.makeUnsafe(new Map([...overruled.mapUnsafe].filter(isSaid)))
}

const conversation: Step = (around, inside) => {
  const captured = overruledBy(inside, Context.empty())
  const surroundings = { ...Surroundings.make(inside, {}), captured }
  return { captured, current: Surroundings.inside(surroundings)(around) }
}

const guarded: Step = (around, inside) => ({
  captured: Context.get(around, Enclosing),
  current: Context.add(around, Levels.Inside, Levels.levels(Context.empty(), inside))
})

const turn: Step = (around, inside) => ({
  captured: overruledBy(inside, around),
  current: Context.merge(around, inside)
})

/** Another turn of the same model. */
const again: Step = (around, inside) => ({
  captured: Context.get(around, Enclosing),
  current: Context.merge(around, inside)
})

const model: Step = (around, inside) => ({ captured: inside, current: around })

/**
 * How the outermost level is said: to a turn that is taken there, whose model was given something else; to a conversation;
 * or to the layers of a program, its model and its handlers, and to no call.
 */
const outermost: Readonly<Record<"turn" | "conversation" | "layers", Step>> = { turn, conversation, layers: model }

/** `inTurn`: in a handler of the turn around, and else where that turn would be taken. */
export interface Nesting {
  readonly of?: keyof typeof outermost
  readonly step: Step
  readonly inTurn: boolean
  readonly way: "received" | "guarded"
}

export const nestings: Readonly<Record<string, Nesting>> = {
  "a conversation": { step: conversation, inTurn: false, way: "received" },
  "a conversation in a handler": { step: conversation, inTurn: true, way: "received" },
  "a conversation in a handler of a conversation": {
    of: "conversation",
    step: conversation,
    inTurn: true,
    way: "received"
  },
  "a turn in a handler": { step: turn, inTurn: true, way: "received" },
  "a turn in a handler of a conversation": { of: "conversation", step: turn, inTurn: true, way: "received" },
  "another turn of the same model in a handler": { step: again, inTurn: true, way: "received" },
  "a model in a handler": { step: model, inTurn: true, way: "received" },
  "a model in a handler of a program's layers": { of: "layers", step: model, inTurn: true, way: "received" },
  "a guarded toolkit": { step: guarded, inTurn: false, way: "guarded" },
  "a guarded toolkit in a handler": { step: guarded, inTurn: true, way: "guarded" },
  "a guarded toolkit in a handler of a conversation": {
    of: "conversation",
    step: guarded,
    inTurn: true,
    way: "guarded"
  }
}

/** Where the innermost of these levels, which are given from the inside to the outside, decides. */
export const placeOf = ({ inTurn, of = "turn", step }: Nesting, levels: ReadonlyArray<Level>): Place => {
  const outside = services(levels[levels.length - 1]!, levels.length - 1)
  // What its layers were given fills what nobody provides where a handler runs.
  const layers: Levels.Services = of === "layers" ? outside : Context.empty()
  return levels.slice(0, -1).reduceRight<Place>((outer, level, at) => {
    // Deeper than two, one can only stand in a handler of the other.
    const isInTurn = inTurn || at < levels.length - 2
    const around = isInTurn ? Context.merge(layers, handler(outer)) : outer.current
    return step(around, services(level, at))
  }, outermost[of](Context.empty(), outside))
}
