/**
 * `npm run walk:terminal -- --walks 1000 --steps 60 --seed 1`: any keys in any state, and texts of others on every screen
 * (`--texts 200`). Says which seed to repeat where something is wrong, and ends with 1.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { parseArgs } from "node:util"
import * as Marked from "../play/marked.ts"
import * as Walk from "../play/walk.ts"
import { tables } from "../play/widths.ts"

const { values } = parseArgs({
  options: {
    walks: { type: "string", default: "300" },
    steps: { type: "string", default: "60" },
    texts: { type: "string", default: "30" },
    seed: { type: "string", default: "1" }
  }
})

const first = Number(values.seed)

const seeds = (count: string) => Array.from({ length: Number(count) }, (_, index) => first + index)

const program = Effect.gen(function*() {
  let faults = 0
  const tell = (found: ReadonlyArray<string>) =>
    Effect.andThen(
      Effect.sync(() => void (faults += found.length)),
      Effect.forEach(found, Console.log, { discard: true })
    )
  for (const seed of seeds(values.walks)) {
    yield* Effect.flatMap(Walk.walk(seed, Number(values.steps)).pipe(Effect.provide(TestClock.layer())), tell)
  }
  for (const seed of seeds(values.texts)) {
    for (const columns of [80, 40, 20]) {
      for (const table of tables) {
        yield* Effect.flatMap(Marked.faults(seed, columns, table).pipe(Effect.provide(TestClock.layer())), tell)
      }
    }
  }
  yield* Console.log(
    `${values.walks} walks, in which ${Walk.runs} calls ran, and ${values.texts} texts in 9 windows, from seed ${first}:` +
      ` ${faults} faults`
  )
  process.exitCode = faults === 0 ? 0 : 1
})

await Effect.runPromise(program)
