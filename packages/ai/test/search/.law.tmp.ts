import { Effect } from "effect"
import * as A from "./arbitrary.ts"
import * as Coverage from "./coverage.ts"
import * as Laws from "./laws.ts"
import * as World from "./world.ts"
const plans = (await Effect.runPromise(Effect.forEach([0, 1, 2, 3, 4], (i) => A.plans(`npm test/${i}`, 100)))).flat()
const rs = []
for (const p of plans) rs.push(await Effect.runPromise(World.carryOut(p)))
for (let k = 0; k < 2; k++) {
  let t = performance.now()
  const cs = rs.map(Laws.makeCase)
  console.log("case", performance.now() - t)
  for (const l of Laws.laws) {
    t = performance.now()
    for (const c of cs) l.check(c)
    const a = performance.now() - t
    t = performance.now()
    for (const c of cs) l.concerns(c)
    console.log(l.name, a.toFixed(0), (performance.now() - t).toFixed(0))
  }
  t = performance.now()
  const cov = Coverage.make()
  for (const c of cs) Coverage.count(cov, c)
  console.log("coverage", performance.now() - t)
  t = performance.now()
  await Effect.runPromise(Effect.forEach([0, 1, 2, 3, 4], (i) => A.plans(`x/${i}`, 100)))
  console.log("plans", performance.now() - t)
}
