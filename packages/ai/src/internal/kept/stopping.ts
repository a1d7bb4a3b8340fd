/**
 * Who is to stop when a conversation is stopped: every turn of it in this process at once, and those in other processes when
 * they see the mark in its row, at which they look while they have something of it going on.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as Store from "../../Store.ts"
import * as Changes from "../store/changes.ts"

export interface Stopping {
  /**
   * From now on `stop` is carried out when that conversation is stopped, once. What it gives ends that, and has to be called.
   */
  readonly watch: (id: string, stop: Effect.Effect<void>) => Effect.Effect<() => void, Store.StoreError>
  /** Stops everything of it: in this process it has ended then, and others have been told. */
  readonly stop: (id: string) => Effect.Effect<void, Store.StoreError>
}

interface Watcher {
  readonly stop: Effect.Effect<void>
  /** How often it had been stopped before this one began. */
  readonly known: number
}

interface Watched {
  readonly watchers: Set<Watcher>
  looking: Fiber.Fiber<unknown> | undefined
}

export const make = ({ changes, conversations, every, scope }: {
  readonly conversations: Store.Conversations
  readonly changes: Changes.Changes | undefined
  /** How often to look; `undefined` where no other process can stop it. */
  readonly every: Duration.Input | undefined
  readonly scope: Scope.Scope
}): Stopping => {
  const isShared = every !== undefined
  const all = new Map<string, Watched>()

  const stopThose = (watchers: Set<Watcher>, isMeant: (watcher: Watcher) => boolean) =>
    Effect.suspend(() => {
      const meant = Array.from(watchers).filter(isMeant)
      for (const watcher of meant) watchers.delete(watcher)
      return Effect.forEach(meant, ({ stop }) => stop, { concurrency: "unbounded", discard: true })
    })

  const stoppedOf = (id: string) => Effect.map(conversations.get(id), (row) => row?.stopped ?? 0)

  // A look that fails says nothing: the next one will. What stops takes its time, and is not waited for.
  const look = ({ watchers }: Watched, id: string) =>
    Effect.matchEffect(stoppedOf(id), {
      onFailure: () => Effect.void,
      onSuccess: (stopped) => Effect.forkIn(stopThose(watchers, ({ known }) => known < stopped), scope)
    })

  const lookAgain = (watched: Watched, id: string, atMost: Duration.Input) =>
    Effect.suspend(() => {
      const changed = Changes.watch(changes, { stopped: id })
      return Effect.andThen(look(watched, id), changed(atMost))
    })

  return {
    watch: Effect.fnUntraced(function*(id, stop) {
      const watcher: Watcher = { stop, known: isShared ? yield* stoppedOf(id) : 0 }
      const watched = all.get(id) ?? { watchers: new Set(), looking: undefined }
      all.set(id, watched)
      watched.watchers.add(watcher)
      if (every !== undefined) {
        watched.looking ??= yield* Effect.forkIn(
          // It has just been looked at.
          Effect.andThen(
            Changes.watch(changes, { stopped: id })(every),
            Effect.forever(lookAgain(watched, id, every))
          ),
          scope
        )
      }
      return () => {
        watched.watchers.delete(watcher)
        if (watched.watchers.size > 0) return
        watched.looking?.interruptUnsafe()
        if (all.get(id) === watched) all.delete(id)
      }
    }),
    stop: (id) => {
      const watched = all.get(id)
      const here = watched === undefined ? Effect.void : stopThose(watched.watchers, () => true)
      const elsewhere = isShared ? conversations.stop(id) : Effect.void
      // One that cannot be told keeps nobody from stopping.
      return Effect.flatMap(
        Effect.all([Effect.exit(elsewhere), here], { concurrency: "unbounded" }),
        ([told]) => Effect.asVoid(told)
      )
    }
  }
}
