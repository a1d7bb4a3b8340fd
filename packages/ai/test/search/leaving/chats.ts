/** The chat of a plan, kept as upstream keeps chats: whoever goes on with it in another process reads it anew. */
import { Effect } from "effect"
import { Persistence } from "effect/persistence"
import { Chat } from "../../../src/index.ts"
import type * as Process from "./process.ts"

export interface Chats {
  /** The chat as a process has it: the one it had, as long as no other process went on with it. */
  readonly in: (process: Process.Process) => Effect.Effect<Chat.Chat>
}

export const make = (): Chats => {
  const kept = new Map<string, object>()
  let last: { readonly process: Process.Process; readonly chat: Effect.Effect<Chat.Chat> } | undefined
  const backing = ({ gate }: Process.Process): Persistence.BackingPersistenceStore => {
    const passing = <A>(run: () => A) => Effect.andThen(Effect.yieldNow, Effect.andThen(gate, Effect.sync(run)))
    return {
      get: (key) => passing(() => kept.get(key)),
      getMany: (keys) => passing(() => [kept.get(keys[0])]),
      set: (key, value) => passing(() => kept.set(key, structuredClone(value))),
      setMany: ([[key, value]]) => passing(() => kept.set(key, structuredClone(value))),
      remove: (key) => passing(() => kept.delete(key)),
      clear: passing(() => kept.clear())
    }
  }
  const open = (process: Process.Process) =>
    Effect.gen(function*() {
      const { getOrCreate } = yield* Chat.makePersisted({ storeId: "chats" }).pipe(
        Effect.provideService(Persistence.BackingPersistence, { make: () => Effect.succeed(backing(process)) })
      )
      return yield* getOrCreate("c1")
    }).pipe(Effect.scoped, Effect.orDie)
  return {
    in: (process) =>
      Effect.gen(function*() {
        if (last?.process !== process) last = { process, chat: yield* Effect.cached(open(process)) }
        return yield* last.chat
      })
  }
}
