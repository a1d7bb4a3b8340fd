import { Effect } from "effect"
import * as Search from "./search.ts"
import { plans } from "./arbitrary.ts"
const n = Number(process.argv[2] ?? 300), seed = process.argv[3] ?? "1"
const only = process.argv[4]
const ps = Effect.runSync(plans(seed, n))
const t=performance.now()
const got = new Map<string, number>()
for (const p of ps) {
  const { breaches } = await Effect.runPromise(Search.examine(p))
  for (const b of breaches) {
    if (only && b.law !== only) continue
    const kind = b.law + ":" + b.what.replace(/\d+/g, "#").slice(0, 60)
    got.set(kind, (got.get(kind) ?? 0) + 1)
    if (got.get(kind)! > 1) continue
    const s = await Effect.runPromise(Search.shrink({ ...b, plan: p, tried: 0 }))
    console.log("==", b.law, s.what, "\n", JSON.stringify(s.plan).replace(/"options":\{[^}]*\}/, (m) => m).replaceAll('"', ""))
  }
}
console.log(got, performance.now() - t)
