/**
 * Who has a word in what becomes of a call, from the inside to the outside: what holds where a conversation or a guarded
 * toolkit was made, what the call says or else what its model was given, and what holds for the turn around it. Nobody
 * further out takes back what somebody further in said (law L11).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Asking from "./asking.ts"
import { Enclosing } from "./enclosing.ts"

/** What was said of each service, from the inside to the outside, each once; empty where nobody said anything. */
export interface Levels {
  readonly policies: ReadonlyArray<unknown>
  readonly controllers: ReadonlyArray<unknown>
}

/** By which services levels are read; their references stand on a floor above. */
export const policyKey = "@assent/ai/ApprovalPolicy"
export const controllerKey = "@assent/ai/ApprovalController"

const none: ReadonlyArray<never> = []

export const silent: Levels = { policies: none, controllers: none }

/** What holds where the conversation was made whose turn is taken, or the guarded toolkit whose call is handled. */
export const Inside = Context.Reference<Levels>("~@assent/ai/internal/Inside", { defaultValue: () => silent })

/** Whatever is provided somewhere. */
export type Services = Context.Context<never>

interface Outer extends Levels {
  /** What was provided to the turn itself, and is found again by what runs in it. */
  readonly provided: Services
}

const outermost: Outer = { ...silent, provided: Context.empty() }

/** What holds for the turn or the guarded call around. */
const Around = Context.Reference<Outer>("~@assent/ai/internal/Around", { defaultValue: () => outermost })

const isAlone = (services: Services): boolean =>
  Context.getOrUndefined(services, Inside) === undefined && Context.getOrUndefined(services, Around) === undefined

// By the key alone: what is not said is not to be read as the default of its reference.
const spoken = {
  [policyKey]: Context.Service<unknown>(policyKey),
  [controllerKey]: Context.Service<unknown>(controllerKey)
}

const saidIn = (services: Services, key: keyof typeof spoken): ReadonlyArray<unknown> => {
  const said = Context.getOrUndefined(services, spoken[key])
  return said === undefined ? none : [said]
}

/** The levels of one service, each once. `captured` is what the model was given. */
const levelsOf = (
  key: typeof policyKey | typeof controllerKey,
  captured: Services,
  current: Services
): ReadonlyArray<unknown> => {
  const said = saidIn(current, key)
  if (isAlone(current)) return said.length > 0 ? said : saidIn(captured, key)
  const of: keyof Levels = key === policyKey ? "policies" : "controllers"
  const inside = Context.get(current, Inside)[of]
  const outer = Context.get(current, Around)
  const around = outer[of]
  // What only comes down from the turn around says nothing here: then the model's own counts, unless that turn was its.
  const own = said.length > 0 && !comesDown(said[0], saidIn(outer.provided, key), around)
    ? said
    : inside.length === 0 && Context.get(current, Enclosing) !== captured
    ? saidIn(captured, key)
    : none
  return [...new Set([...inside, ...own, ...around])]
}

// Where something was provided to the turn around, nothing else comes down of what holds there: who says that, says it.
const comesDown = (
  said: unknown,
  provided: ReadonlyArray<unknown>,
  around: ReadonlyArray<unknown>
): boolean => around.includes(said) && (provided.length === 0 || provided[0] === said)

/** The policies that have a word, from the inside to the outside. */
export const policiesOf = (captured: Services, current: Services): ReadonlyArray<unknown> =>
  levelsOf(policyKey, captured, current)

/**
 * Who is asked, of the controllers that are named: between people there is no order, so the innermost. Where one of them
 * says that nobody is to be asked, nobody is; and who approves everything is nobody, so it answers only where nobody else
 * is named, further in or further out (law L11).
 */
export const innermost = (captured: Services, current: Services): Asking.Controller | undefined => {
  // They are found by the key of the reference.
  const controllers = levelsOf(controllerKey, captured, current) as ReadonlyArray<Asking.Controller>
  return controllers.find((one) => one === Asking.strict) ??
    controllers.find((one) => one !== Asking.approveAll) ??
    controllers[0]
}

/** Everything that has a word here. */
export const levels = (captured: Services, current: Services): Levels => {
  const policies = policiesOf(captured, current)
  const controllers = levelsOf(controllerKey, captured, current)
  return policies.length + controllers.length === 0 ? silent : { policies, controllers }
}

/** What is further in, and then what is further out. */
export const concat = (self: Levels, that: Levels): Levels =>
  that === silent ? self : {
    policies: [...new Set([...self.policies, ...that.policies])],
    controllers: [...new Set([...self.controllers, ...that.controllers])]
  }

/** What is to stand in the context of everything that runs in a turn, or in a guarded call; nothing where nobody spoke. */
export const around = (captured: Services, current: Services): Services | undefined => {
  const said = levels(captured, current)
  return said === silent
    ? undefined
    : Context.make(Around, { ...said, provided: current }).pipe(Context.add(Inside, silent))
}

/** Everything that has a word where this runs. */
export const here: Effect.Effect<Levels> = Effect.contextWith((current: Services) =>
  Effect.succeed(levels(Context.get(current, Enclosing), current))
)

/** The policies that have a word where this runs. */
export const policies: Effect.Effect<ReadonlyArray<unknown>> = Effect.contextWith((current: Services) =>
  Effect.succeed(policiesOf(Context.get(current, Enclosing), current))
)
