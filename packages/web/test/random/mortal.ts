/**
 * A server that can be killed, and started again over what was kept. What a process does after it was killed did not happen:
 * nothing of it gets to the store, no tool of it goes on, and every connection is cut.
 */
import { ApprovalJournal, ApprovalSeal, Conversation, ConversationStore, Store, SuspensionStore } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Processes from "../../../ai/test/runs/processes.ts"
import { People, type Server, toolkit } from "../server.ts"
import * as Time from "./time.ts"

export interface Mortal extends Server {
  readonly kill: () => void
  readonly start: () => void
  readonly isDown: () => boolean
  readonly wasKilled: () => boolean
  /** What tools have begun to do, in their order: `delete f1`, `read f2`. What was done is in `deleted`. */
  readonly begun: ReadonlyArray<string>
}

export interface Options {
  /** What the model says, each time that it is asked, over all processes. */
  readonly turn: () => ScriptedModel.Turn
  /** What a tool waits for. */
  readonly before: Effect.Effect<void>
  /** How many processes serve one store; Ada's pages are on the first, Bob's on the last. */
  readonly servers: number
}

/** What a client reads where the connection is gone. */
export const isCut = "the network was cut"

interface Process {
  readonly handler: Server["handler"]
  readonly dispose: () => Promise<void>
  readonly died: Promise<never>
  readonly die: () => void
}

const key = "the key of the random stories, 32 bytes"

export const make = async ({ before, servers, turn }: Options): Promise<Mortal> => {
  const shared = await Effect.runPromise(Processes.makeShared)
  const time = Time.make()
  const deleted: Array<string> = []
  const begun: Array<string> = []
  let kills = 0

  const begin = (): Process => {
    const process = Processes.make(shared)
    let isDead = false
    const alive = Effect.suspend(() => isDead ? Effect.never : Effect.void)
    const run = (what: string, whileRunning: Effect.Effect<void>, done: () => void) =>
      Effect.gen(function*() {
        yield* alive
        begun.push(what)
        yield* whileRunning
        yield* alive
        done()
      })
    const Handlers = toolkit.toLayer({
      DeleteFile: ({ path }) =>
        Effect.as(run(`delete ${path}`, before, () => void deleted.push(path)), { deleted: path }),
      ReadFile: ({ path }) => Effect.as(run(`read ${path}`, Effect.void, () => {}), `text of ${path}`)
    })
    const Model = ScriptedModel.layer({
      turns: [],
      afterLastTurn: () => isDead ? [ScriptedModel.pause(Effect.never)] : turn()
    })
    const Kept = Layer.mergeAll(
      ApprovalJournal.layerStore({ grace: 0 }),
      SuspensionStore.layerStore,
      ConversationStore.layerStore()
    ).pipe(
      Layer.provideMerge(Layer.succeed(Store.Store, process.store)),
      Layer.provideMerge(ApprovalSeal.layer({ key }))
    )
    const routes = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
      Layer.provide([People, Handlers, Model, Layer.orDie(Kept)]),
      Layer.provide(Logger.layer([])),
      Layer.provideMerge(Layer.succeed(Clock.Clock, time.clock))
    )
    let reject: (reason: Error) => void
    const died = new Promise<never>((_, failing) => reject = failing)
    died.catch(() => undefined)
    return {
      ...HttpRouter.toWebHandler(routes, { disableLogger: true }),
      died,
      die: () => {
        isDead = true
        process.die()
        reject(new TypeError(isCut))
      }
    }
  }

  const running: Array<Process | undefined> = Array.from({ length: servers }, begin)
  return {
    deleted,
    begun,
    isDown: () => running.includes(undefined),
    wasKilled: () => kills > 0,
    kill: () => {
      const index = kills++ % servers
      running[index]?.die()
      running[index] = undefined
    },
    start: () => {
      for (let index = 0; index < servers; index++) running[index] ??= begin()
    },
    handler: async (request) => {
      const current = running[request.headers.get("x-person") === "bob" ? servers - 1 : 0]
      if (current === undefined) throw new TypeError(isCut)
      const { died, handler } = current
      return cutAt(died, await Promise.race([handler(request), died]))
    },
    dispose: async () => {
      await Promise.all(running.map((process) => process?.dispose()))
      time.stop()
    }
  }
}

/** A response that breaks off where the process dies. */
const cutAt = (died: Promise<never>, response: Response): Response => {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await Promise.race([reader.read(), died])
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        controller.error(error)
      }
    },
    cancel: (reason) => reader.cancel(reason)
  }, { highWaterMark: 0 })
  return new Response(body, response)
}
