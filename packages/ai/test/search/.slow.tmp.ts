import { Effect } from "effect"
import * as A from "./arbitrary.ts"
import * as Laws from "./laws.ts"
import * as World from "./world.ts"
const plans =
  (await Effect.runPromise(Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], (i) => A.plans(`npm test/${i}`, 100)))).flat()
for (const p of plans.slice(0, 50)) await Effect.runPromise(World.carryOut(p))
const times: any[] = []
let law = 0, turns = 0
for (const p of plans) {
  const t = process.cpuUsage()
  const r = await Effect.runPromise(World.carryOut(p))
  const d0 = process.cpuUsage(t)
  const d = (d0.user + d0.system) / 1000
  const l0 = performance.now()
  const c = Laws.makeCase(r)
  Laws.check(c)
  law += performance.now() - l0
  turns += r.turns.length
  times.push([
    d,
    r.turns.length,
    p.steps.map((s) =>
      s._tag + (s._tag === "Turn"
        ? ":" + s.delivery._tag
        : s._tag === "Time"
        ? s.minutes
        : s._tag === "Policy" || s._tag === "Gate"
        ? s.says
        : s._tag === "Store"
        ? s.how + s.count
        : "")
    ).join(" ")
  ])
}
times.sort((a, b) => b[0] - a[0])
const sum = times.reduce((a, t) => a + t[0], 0)
console.log(
  "sum",
  sum,
  "laws",
  law,
  "turns",
  turns,
  "median",
  times[500][0],
  "top10%",
  times.slice(0, 100).reduce((a, t) => a + t[0], 0) / sum
)
for (const t of times.slice(0, 24)) console.log(t[0].toFixed(0), t[1], t[2])
for (const k of ["Store", "Stop", "Crash", "Time", "hang", "Twice", "Leave", "Restart"]) {
  const x = times.filter((t) => t[2].includes(k))
  console.log(k, x.length, (x.reduce((a, t) => a + t[0], 0) / sum).toFixed(2))
}
