/** One scenario in a process of its own, which `main.ts` starts: what it measured goes there as a message. */
import type { Size, Time } from "./results.ts"
import { scenarios } from "./scenarios.ts"

export type Message =
  | { readonly done: number }
  | { readonly times: ReadonlyArray<Time> }
  | { readonly sizes: ReadonlyArray<Size> }

const send = (message: Message): Promise<void> => new Promise((resolve) => process.send!(message, () => resolve()))

const [title, share = "1"] = process.argv.slice(2)
const scenario = scenarios.find((scenario) => scenario.title === title)
if (scenario === undefined) throw new Error(`There is no scenario ${title}.`)
const onProgress = (done: number): void => void send({ done })
await send(
  "times" in scenario
    ? { times: await scenario.times(Number(share), onProgress) }
    : { sizes: await scenario.sizes(Number(share), onProgress) }
)
// Some libraries leave timers behind.
process.exit()
