/** The server as a process of its own, so that it can be killed. What it is told and tells goes over Node's channel. */
import * as Effect from "effect/Effect"
import { type Options, serve } from "./server.ts"
import { Said } from "./world.ts"

const options: Options = JSON.parse(process.argv[2] ?? "")
const released = new Said()
process.on("message", (gate) => released.add(String(gate)))
process.on("disconnect", () => process.exit())

const tell = (event: string) => void process.send?.({ event })

await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
  process.send?.({ port: yield* serve({ tell, wait: released.until }, options) })
  return yield* Effect.never
})))
