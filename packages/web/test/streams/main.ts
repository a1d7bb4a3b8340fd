/**
 * `npm run streams -- --count 500`: so many streams at once from a server in a process of its own, one more that nobody
 * reads, and what each costs. Ends with 1 where one was not whole, or the first bytes came too unevenly.
 */
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import * as NodeUtil from "node:util"
import * as Crowd from "./crowd.ts"

const { values } = NodeUtil.parseArgs({
  options: {
    count: { type: "string", default: "500" },
    words: { type: "string", default: "30" },
    every: { type: "string", default: "100" }
  }
})
const count = Number(values.count)
const words = Number(values.words)
const server = ChildProcess.spawn(
  process.execPath,
  [
    "--expose-gc",
    "--conditions=@assent/source",
    Path.join(import.meta.dirname, "server.ts"),
    values.words,
    values.every
  ],
  { stdio: ["ignore", "pipe", "inherit"] }
)
const port = await new Promise<number>((resolve) => server.stdout.once("data", (line) => resolve(Number(line))))

interface Memory {
  readonly heapUsed: number
  readonly rss: number
}

const memory = async (): Promise<Memory> => JSON.parse((await Crowd.get(port, "/memory")).text)

const percentile = (sorted: ReadonlyArray<number>, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!

const show = (name: string, numbers: ReadonlyArray<number>) => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
  console.log(`${name}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (${(p99 / p50).toFixed(1)} times)`)
  return p99 / p50
}

const crowd = (name: string) =>
  Promise.all(Array.from({ length: count }, (_, index) => Crowd.read(port, `${name}-${index}`)))

// What is compiled and connected first is nobody's stream.
await crowd("warm")
const before = await memory()
const leave = await Crowd.neverRead(port, "slow")
const reading = crowd("stream")
await new Promise((resolve) => setTimeout(resolve, Number(values.every) * words / 2))
const during = await memory()
const streams = await reading
const isOver = await Crowd.ends(port, "slow", 60_000)
leave()

const kilobytes = (of: keyof Memory) => ((during[of] - before[of]) / count / 1024).toFixed(0)

console.log(`${count} streams at once, ${words} words each, one word every ${values.every} ms; one more is never read`)
const ratio = show("first byte", streams.map(({ firstByte }) => firstByte))
show("end", streams.map(({ end }) => end))
console.log(`memory of each: ${kilobytes("heapUsed")} kB of heap, ${kilobytes("rss")} kB in all`)
const cut = streams.filter((stream) => !stream.isWhole || stream.words !== words).length
console.log(
  `${cut} were not whole; the one that is never read ${isOver ? "came to its end" : "did not end"} on the server`
)
server.kill()
process.exitCode = cut === 0 && isOver && ratio <= 5 ? 0 : 1
