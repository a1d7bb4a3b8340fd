/** Plans that are a little smaller than one, the smallest first. */
import * as Shrink from "../shrink.ts"
import * as Plan from "./plan.ts"

export function* smaller({ options, steps }: Plan.Plan): Generator<Plan.Plan> {
  for (const fewer of Shrink.fewer(steps)) yield { options, steps: fewer }
  for (const simpler of Shrink.simplerFields<Plan.Options>(options, Plan.simplest.options)) {
    yield { options: simpler, steps }
  }
  const [first, second] = options.clocks
  if (first !== 0) yield { options: { ...options, clocks: [0, second] }, steps }
  if (second !== 0) yield { options: { ...options, clocks: [first, 0] }, steps }
  for (const [index, step] of steps.entries()) {
    for (const simpler of simplerSteps(step)) yield { options, steps: steps.with(index, simpler) }
  }
}

function* simplerSteps(step: Plan.Step): Generator<Plan.Step> {
  switch (step._tag) {
    case "Turn": {
      yield* Shrink.simplerFields<Plan.Turn>(step, Plan.simplest.turn)
      for (const [index, call] of step.calls.entries()) {
        yield { ...step, calls: step.calls.toSpliced(index, 1) }
        for (const simpler of Shrink.simplerFields<Plan.Call>(call, Plan.simplest.call)) {
          yield { ...step, calls: step.calls.with(index, simpler) }
        }
      }
      const { until } = step
      if (until === "end") return
      for (const simpler of Shrink.simplerFields<Exclude<Plan.Until, "end">>(until, { ...until, count: 0, hops: 0 })) {
        yield { ...step, until: simpler }
      }
      return
    }
    case "Time":
      return yield* Shrink.simplerFields<typeof step>(step, { ...step, seconds: 1 })
    case "Clock":
      return yield* Shrink.simplerFields<typeof step>(step, { ...step, seat: 0, minutes: 0 })
    default:
      return yield* Shrink.simplerFields<typeof step>(step, { ...step, seat: 0 })
  }
}
