/**
 * Makes a failing plan small: takes steps out, many at once and then one by one, and makes what is left as simple as it
 * can be while the same law is still broken. Delta debugging rather than the shrinking of `Arbitrary`, so that a plan of
 * the corpus, which no generator made, can be shrunk too.
 */
import { Effect } from "effect"
import * as Plan from "./plan.ts"

/**
 * The smallest plan found for which `fails` still holds, after at most `budget` tries. `candidates` are plans that are a
 * little smaller than one, the smallest first.
 */
export const shrink = Effect.fnUntraced(function*<P>(
  plan: P,
  candidates: (plan: P) => Iterable<P>,
  fails: (plan: P) => Effect.Effect<boolean>,
  budget = 2_000
): Effect.fn.Return<P> {
  let smallest = plan
  let tries = 0
  let isSmaller = true
  while (isSmaller && tries < budget) {
    isSmaller = false
    for (const candidate of candidates(smallest)) {
      if (++tries > budget) break
      if (!(yield* fails(candidate))) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return smallest
})

/** Lists with fewer of the steps, the shortest first. */
export function* fewer<Step>(steps: ReadonlyArray<Step>): Generator<ReadonlyArray<Step>> {
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < steps.length; start += size) {
      yield [...steps.slice(0, start), ...steps.slice(start + size)]
    }
  }
}

/** Plans that are a little smaller, the smallest first. */
export function* smaller({ options, steps }: Plan.Plan): Generator<Plan.Plan> {
  for (const left of fewer(steps)) yield { options, steps: left }
  for (const simpler of simplerFields(options, Plan.simplest.options)) yield { options: simpler, steps }
  for (const [index, step] of steps.entries()) {
    for (const simpler of simplerSteps(step)) yield { options, steps: steps.with(index, simpler) }
  }
}

/** Each field as in the simplest, one at a time; a number also halfway there. */
export function* simplerFields<A extends object>(value: A, simplest: A): Generator<A> {
  for (const key of Object.keys(value) as Array<keyof A & string>) {
    if (value[key] === simplest[key] || Array.isArray(value[key])) continue
    if (typeof value[key] === "object" && JSON.stringify(value[key]) === JSON.stringify(simplest[key])) continue
    yield { ...value, [key]: simplest[key] }
    const before = value[key]
    if (typeof before === "number" && before > 1) {
      yield { ...value, [key]: Math.floor(before / 2) }
      yield { ...value, [key]: before - 1 }
    }
  }
}

function* simplerSteps(step: Plan.Step): Generator<Plan.Step> {
  if (step._tag !== "Turn") {
    for (const key of ["at", "other", "index", "revision", "skip", "count"]) {
      if (key in step) yield* simplerFields<any>(step, { ...step, [key]: 0 })
    }
    if (step._tag === "Guarded") {
      if (step.leave !== "no") yield { ...step, leave: "no" }
      for (const [index, call] of step.calls.entries()) {
        yield { ...step, calls: step.calls.toSpliced(index, 1) }
        for (const simpler of simplerCalls(call)) yield { ...step, calls: step.calls.with(index, simpler) }
      }
    }
    if (step._tag === "Answer") {
      if (step.unknown) yield { ...step, unknown: false }
      for (const answers of simplerAnswers(step.answers)) yield { ...step, answers }
    }
    return
  }
  const withModel = (model: Plan.ModelTurn): Plan.Turn => ({ ...step, model })
  yield* simplerFields<Plan.Turn>(step, { ...Plan.simplest.turn, model: step.model })
  const { delivery } = step
  if ("hops" in delivery) {
    for (const simpler of simplerFields<any>(delivery, { ...delivery, hops: 0, at: 0, another: false, rival: false })) {
      if (Object.keys(simpler).every((key) => key in delivery)) yield { ...step, delivery: simpler }
    }
  }
  for (const answers of simplerAnswers(step.answers)) yield { ...step, answers }
  for (const simpler of simplerFields<Plan.ModelTurn>(step.model, Plan.simplest.model)) yield withModel(simpler)
  const { calls } = step.model
  for (const [index, call] of calls.entries()) {
    yield withModel({ ...step.model, calls: calls.toSpliced(index, 1) })
    for (const simpler of simplerCalls(call)) yield withModel({ ...step.model, calls: calls.with(index, simpler) })
  }
  const { hosted } = step.model
  for (const [index, call] of hosted.entries()) {
    yield withModel({ ...step.model, hosted: hosted.toSpliced(index, 1) })
    for (const simpler of simplerFields<Plan.HostedCall>(call, Plan.simplest.hosted)) {
      yield withModel({ ...step.model, hosted: hosted.with(index, simpler) })
    }
  }
}

function* simplerCalls(call: Plan.Call): Generator<Plan.Call> {
  yield* simplerFields<Plan.Call>(call, Plan.simplest.call)
  for (const index of call.waits.keys()) yield { ...call, waits: call.waits.toSpliced(index, 1) }
}

function* simplerAnswers(answers: ReadonlyArray<Plan.Answer>): Generator<ReadonlyArray<Plan.Answer>> {
  for (const [index, answer] of answers.entries()) {
    yield answers.toSpliced(index, 1)
    for (
      const simpler of simplerFields<Plan.Answer>(answer, { request: "open", decision: "approve", remember: "no" })
    ) {
      yield answers.with(index, simpler)
    }
  }
}
