/** The server as a process of its own, so that it can be killed. What it is told and tells goes over Node's channel. */
import type { Options } from "./server.ts"
import { start } from "./start.ts"
import { Said } from "./world.ts"

const options: Options = JSON.parse(process.argv[2] ?? "")
const released = new Said()
process.on("message", (gate) => released.add(String(gate)))
process.on("disconnect", () => process.exit())

const tell = (event: string) => void process.send?.({ event })

const { port } = await start(() => ({ tell, wait: released.until }), options)
process.send?.({ port })
