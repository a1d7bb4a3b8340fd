/** What processes write into a PostgreSQL database: each says it on one channel, when it is committed, and listens there. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Runtime from "../sqlite/runtime.ts"
import * as Hub from "./hub.ts"

/** As much as is taken here of `@effect/sql-pg`, which is not imported, so that nobody has to install it. */
interface Listening {
  readonly listen: (
    channel: string
  ) => Effect.Effect<Queue.Dequeue<{ readonly payload: string }, SqlError>, SqlError, Scope.Scope>
}

const isListening = (sql: object): sql is Listening => "listen" in sql && typeof sql.listen === "function"

/** Real milliseconds. What is said within one of them is said at once. */
const together = 20
const beforeNext = 500

/** Bytes that a server takes at once are 8,000. */
const longest = 7_000

const separator = "\n"

const wordsOf = (payload: string): ReadonlyArray<Hub.Word> => payload.split(separator)

/** Whoever says something here says it later to all others; nothing waits for that, and it may get lost. */
export const start = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  channel: string
): Effect.fn.Return<Hub.Hub, never, Scope.Scope> {
  const hub = Hub.make(() => {})
  const unsaid = new Set<Hub.Word>()
  let begun: (() => void) | undefined
  const awaited = Effect.callback<void>((resume) => {
    if (unsaid.size > 0) return resume(Effect.void)
    begun = () => resume(Effect.void)
    return Effect.sync(() => {
      begun = undefined
    })
  })
  const say = Effect.suspend(() => {
    const words = [...unsaid].join(separator)
    unsaid.clear()
    const payload = words.length > longest || !isAscii.test(words) ? Hub.all : words
    return sql`SELECT pg_notify(${channel}, ${payload})::text AS said`
  })
  yield* awaited.pipe(
    Effect.andThen(Effect.ignore(say)),
    Effect.andThen(Runtime.idle(together)),
    Effect.forever,
    Effect.forkScoped
  )
  if (isListening(sql)) {
    const listen = Effect.gen(function*() {
      const said = yield* sql.listen(channel)
      // Whatever was said before, or while nobody listened.
      hub.tell(Hub.all)
      while (true) {
        const { payload } = yield* Queue.take(said)
        for (const word of wordsOf(payload)) hub.tell(word)
      }
    })
    yield* Effect.scoped(listen).pipe(
      Effect.ignore,
      Effect.andThen(Runtime.idle(beforeNext)),
      Effect.forever,
      Effect.forkScoped
    )
  }
  return {
    ...hub,
    tell: (word) => {
      hub.tell(word)
      unsaid.add(word)
      begun?.()
    }
  }
})

// Others may have more bytes than letters, and a word has no line break.
const isAscii = /^[\x20-\x7e\n]*$/
