/**
 * How long a rule that forbids takes for lines that are built to take long, and how that grows:
 * `node --conditions=@assent/source packages/shell/test/forbidding/bench.ts`.
 */
import * as Forbidding from "../../src/internal/forbidding/forbidding.ts"
import { lineOf, parts } from "./nasty.ts"

const forbidden = ["rm *", "rm -rf *", "git push --force *", "curl -X POST *"].map((pattern) =>
  Forbidding.make([pattern])
)

/** The quickest of some runs, of all patterns, in milliseconds for one. */
const measure = (line: string): number => {
  let best = Infinity
  for (let run = 0; run < 5; run++) {
    const start = performance.now()
    for (const why of forbidden) why(line)
    best = Math.min(best, performance.now() - start)
  }
  return best / forbidden.length
}

for (let run = 0; run < 2_000; run++) measure("git status && ls -la | head -3")
console.log(`${(measure("git status && ls -la | head -3") * 1_000).toFixed(0)} µs for an ordinary line`)

const rows = parts.map((part) => ({
  part: JSON.stringify(part),
  quarter: measure(lineOf(part, 4_096)),
  whole: measure(lineOf(part, 16_384))
})).toSorted((self, that) => that.whole - self.whole)
for (const { part, quarter, whole } of rows.slice(0, 20)) {
  console.log(
    `${whole.toFixed(1).padStart(6)} ms at the limit, ${(whole / quarter).toFixed(1)} times a quarter: ${part}`
  )
}
