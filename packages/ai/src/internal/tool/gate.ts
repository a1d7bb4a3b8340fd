/**
 * A tool's own gate: where it lives, and how it is read.
 *
 * It travels on the function in upstream's `needsApproval` slot, so that upstream's `clone`, `setParameters` and
 * `setNeedsApproval` keep or replace both at once. Our engine reads the gate itself, with everything it may say. Whoever
 * calls the function is another engine, whose requests anybody can forge, and the turn ends there (law L1).
 */
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import { constUndefined, constVoid, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import { definedFields } from "../fields.ts"

/** Marks the function in upstream's slot that carries a gate. A string, so that two copies of this module agree. */
export const GateTypeId = "~@assent/ai/Tool/Gate" as const

/**
 * What a tool says about its own calls. The function's result should be a boolean, an `ApprovalResult`, a `Question`, or
 * a promise or an `Effect` of one of these; it is `unknown` because nothing but reading it can tell.
 */
export type Gate = boolean | ((params: unknown, context: Tool.NeedsApprovalContext) => unknown)

/** A gate as a program wrote it, with the types of its tool's parameters. */
export type Source = boolean | ((params: never, context: Tool.NeedsApprovalContext) => unknown)

/** The function in upstream's slot: it dies when called, and is open to us through the gate it carries. */
export interface ClosedGate {
  (params: unknown, context: Tool.NeedsApprovalContext): Effect.Effect<boolean>
  readonly [GateTypeId]: Gate
}

/** The gate answered with something that is neither a boolean, an `ApprovalResult` nor a question. What it was is not in here. */
export class InvalidGateResult extends Schema.TaggedError<InvalidGateResult>()("InvalidGateResult", {}) {
  override get message(): string {
    return "needsApproval must return a boolean, an ApprovalResult, an object describing the question such as { description }, or a" +
      " Promise or an Effect of one of these."
  }
}

/** Another engine looked at the gate of a tool. A defect, because upstream takes a failure there for "run it". */
export class NotOurEngine extends Error {
  override readonly name = "NotOurEngine"
  constructor() {
    super(
      "Assent: a tool that needs approval met the engine of effect/ai, whose approvals anybody can forge, so nothing was" +
        " asked and nothing ran. Import LanguageModel and Chat from @assent/ai, not from effect/ai; or put" +
        " LanguageModel.approval() around the model, which protects those of effect/ai too."
    )
  }
}

// =============================================================================
// Writing
// =============================================================================

/** What to put into upstream's slot for a gate. Values of the wrong kind, from untyped programs, are always asked. */
export const toSlot = (source: Source | undefined): false | ClosedGate | undefined => {
  if (source === undefined || source === false) return source
  if (source === true) return always
  return isClosedGate(source) ? source : close(fromSource(source))
}

/** The function for the slot. */
export const close = (gate: Gate): ClosedGate =>
  Object.assign((): Effect.Effect<boolean> => Effect.die(new NotOurEngine()), { [GateTypeId]: gate })

const always = close(true)

/** The schema that a tool's parameters stand for: themselves, or the struct of these fields. */
export const toSchema = <S extends Schema.Constraint>(
  parameters: Schema.Constraint | Schema.Struct.Fields | undefined
): S | undefined =>
  // The caller's type says which schema belongs to which parameters; this tells them apart at run time.
  (parameters === undefined || Schema.isSchema(parameters)
    ? parameters
    : Reflect.ownKeys(parameters).length === 0
    ? Tool.EmptyParams
    : Schema.Struct(parameters as Schema.Struct.Fields)) as S | undefined

// =============================================================================
// Reading
// =============================================================================

/** The gate of a tool, made by us or by others; `undefined` when it has none. */
export const gateOf = (tool: Tool.Any): Gate | undefined => {
  const slot = tool.needsApproval
  if (slot === undefined || typeof slot === "boolean") return slot
  return isClosedGate(slot) ? slot[GateTypeId] : fromSource(slot)
}

/** Whether a tool has a gate that may say anything but "run it". */
export const isGated = (tool: Tool.Any): boolean => {
  const gate = gateOf(tool)
  return gate !== undefined && gate !== false
}

/**
 * What a tool's own gate says about one call with decoded parameters; `undefined` when the tool has none.
 *
 * Not closed: the gate's failures, defects and silence are the effect's own, for the engine to judge. The services the
 * gate needs are the tool's requirements, and must be in the context this runs in.
 */
export const evaluate = (
  tool: Tool.Any,
  params: unknown,
  context: Tool.NeedsApprovalContext
): Effect.Effect<Approval.ApprovalResult | undefined, unknown> =>
  ownAnswer(tool) ?? Effect.suspend(() => run(gateOf(tool)!, params, context))

// Of a tool that says the same of every call, or nothing at all.
const ownAnswer = (
  tool: Tool.Any
): Effect.Effect<Approval.ApprovalResult | undefined, InvalidGateResult> | undefined => {
  const gate = gateOf(tool)
  return gate === undefined ? Effect.undefined : typeof gate === "boolean" ? read(gate) : undefined
}

const run = (
  gate: Gate,
  params: unknown,
  context: Tool.NeedsApprovalContext
): Effect.Effect<Approval.ApprovalResult, unknown> =>
  Effect.suspend(() => {
    const answer = typeof gate === "function" ? gate(params, context) : gate
    if (Effect.isEffect(answer)) return Effect.flatMap(withoutServices(answer), read)
    return Predicate.isPromiseLike(answer)
      ? Effect.flatMap(Effect.tryPromise({ try: () => answer, catch: identity }), read)
      : read(answer)
  })

/** What was answered, by a gate or by a policy. */
export const read = (answer: unknown): Effect.Effect<Approval.ApprovalResult, InvalidGateResult> => {
  if (typeof answer === "boolean") return Effect.succeed(answer ? Approval.needsApproval() : Approval.preApproved())
  if (Approval.isApprovalResult(answer)) return Effect.succeed(answer)
  const question = readQuestion(answer)
  if (Option.isSome(question)) return Effect.succeed(new Approval.NeedsApproval(question.value))
  // Nobody will await a promise that stands where none can, as in an effect; its rejection must not end the process.
  if (Predicate.isPromise(answer)) answer.catch(constVoid)
  return Effect.fail(new InvalidGateResult())
}

// =============================================================================
// Internals
// =============================================================================

const { _tag: _, ...questionFields } = Approval.NeedsApproval.fields

const decodeQuestion = Schema.decodeUnknownOption(Schema.Struct(questionFields), { onExcessProperty: "error" })

/** What says how to ask wants to ask; an object that says nothing, or more than that, may have meant anything. */
const readQuestion = (answer: unknown) => {
  if (!Predicate.isObject(answer) || Array.isArray(answer) || Effect.isEffect(answer)) return Option.none()
  const question = definedFields(answer)
  if (Object.keys(question).length === 0) return Option.none()
  // A presentation that was made stays the one that it is: what it was made of is known of no other.
  const { presentation } = question
  return Option.map(
    decodeQuestion(question),
    (decoded) => presentation instanceof Approval.ApprovalPresentation ? { ...decoded, presentation } : decoded
  )
}

const isClosedGate = (u: unknown): u is ClosedGate => Predicate.isFunction(u) && Predicate.hasProperty(u, GateTypeId)

// The parameters are decoded with the tool's own schema before a gate is called, so they are what it was written for.
// What is not a function at all, from an untyped program, is a gate that never says anything of use.
const fromSource = (source: unknown): Gate =>
  typeof source === "function" ? source as Exclude<Gate, boolean> : constUndefined

// `Tool.make` adds a gate's services to the tool's requirements, which the call that reads the gate must provide; one
// that is missing all the same is a defect, and that is asked.
const withoutServices = <A, E>(effect: Effect.Effect<A, E, unknown>) => effect as Effect.Effect<A, E>
