import { Effect } from "effect"
import * as Report from "./report.ts"
import * as Search from "./search.ts"
const t = performance.now()
const c0 = process.cpuUsage()
const runs = Number(process.argv[2] ?? 1000)
const found = await Effect.runPromise(Search.search({ seed: process.argv[3] ?? "npm test", runs }))
const c = process.cpuUsage(c0)
console.log(found.tried, ((performance.now() - t) / 1000).toFixed(1), "cpu", (c.user + c.system) / 1e6)
for (const f of found.failures) console.log(f.tried, f.law + " " + f.what.slice(0, 300))
console.log(
  [...found.coverage].filter(([n]) => n.startsWith("law ")).sort((a, b) => a[1] - b[1]).map(([n, c]) =>
    n.slice(4) + " " + c
  ).join(", ")
)
const only = process.argv[4]
if (only) {
  for (const f of found.failures.filter((f) => only === "all" || f.law === only)) {
    const s = await Effect.runPromise(Search.shrink(f))
    console.log("\n" + s.law, s.what, JSON.stringify(s.plan.options))
    for (const st of s.plan.steps) console.log("  ", JSON.stringify(st))
  }
}
