/** A server of a test for those who have promises: what runs the tests need not import what the server is made of. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Options, serve } from "./server.ts"
import type { World } from "./world.ts"

export interface Started {
  readonly port: number
  readonly close: () => Promise<void>
}

export const start = async (worldOf: (chat: string) => World, options: Options): Promise<Started> => {
  const scope = Scope.makeUnsafe()
  const port = await Effect.runPromise(Effect.provideService(serve(worldOf, options), Scope.Scope, scope))
  return { port, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
