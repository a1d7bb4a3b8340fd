/** Says what `packages/ai/dist` weighs, module by module: `node packages/packed/src/weigh.ts`, after `npm run build`. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Path } from "effect"
import { check } from "./weight.ts"

const main = Effect.gen(function*() {
  const path = yield* Path.Path
  const { bytes, gzip, modules, own } = yield* check(path.resolve(import.meta.dirname, "../../.."))
  yield* Console.log(own.map((part) => `${String(part.bytes).padStart(8)}  ${part.module}`).join("\n"))
  yield* Console.log(`gzip ${gzip}; on import ${modules} modules, ${bytes} bytes`)
})

main.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
