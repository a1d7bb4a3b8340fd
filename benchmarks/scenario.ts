/** One scenario in a process of its own, which `main.ts` starts: what it measured goes there as a message. */
import { measure } from "./measure.ts"
import { scenarios } from "./scenarios.ts"

const [title, share = "1"] = process.argv.slice(2)
const scenario = scenarios.find((scenario) => scenario.title === title)
if (scenario === undefined) throw new Error(`There is no scenario ${title}.`)

const rounds = Math.max(5, Math.round(scenario.rounds * Number(share)))
let done = 0
const rows = await measure(await scenario.contestants(), {
  ...scenario,
  rounds,
  warmMs: 1_500 * Number(share),
  onRound: () => process.send?.({ done: ++done / rounds })
})
process.send?.({ rows })
process.disconnect?.()
