/** Starts a process for the heap of one library; and it is that process, where it was started so. */
import * as ChildProcess from "node:child_process"
import { measureHeap } from "./heap.ts"
import type { Size } from "./results.ts"
import { holders, keepers } from "./scenarios.ts"

type Which = "holders" | "keepers"

export const heapOf = (which: Which, name: string, requests: number): Promise<Size> =>
  new Promise((resolve, reject) => {
    const child = ChildProcess.fork(import.meta.filename, [which, name, String(requests)], {
      execArgv: ["--conditions=@assent/source"]
    })
    let size: Size | undefined
    child.on("message", (message: Size) => size = message)
    child.once("error", reject)
    child.once("close", (code) => {
      if (code === 0 && size !== undefined) resolve(size)
      else reject(new Error(`The heap of ${name} was not measured.`))
    })
  })

if (import.meta.main) {
  const [which, name, requests] = process.argv.slice(2)
  const all: Record<string, () => ReturnType<typeof holders.assent>> = which === "holders" ? holders : keepers
  const holder = await all[name!]!()
  const bytes = Math.round(await measureHeap(holder, Number(requests)))
  const { library, version } = holder
  process.send?.({ library, version, bytes }, () => process.exit())
}
