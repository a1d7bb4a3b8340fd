/** Who waits for what another process writes, and does not look again and again. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * What somebody waits for: that something a tool waits for is due, that something happened to requests, that a conversation
 * is another (of this `id`), or that somebody stopped it.
 *
 * @category models
 * @since 0.1.0
 */
export type Topic = "due" | "events" | { readonly conversation: string } | { readonly stopped: string }

/**
 * Says that something may have changed. Who waits takes a `mark` before they look; where what they wait for is not there,
 * `after` comes back as soon as there may be something new since that mark, whoever wrote it. It may come back for nothing, and
 * may miss a change, so nobody waits for it alone.
 *
 * @category services
 * @since 0.1.0
 */
export interface Changes {
  readonly mark: () => number
  readonly after: (mark: number, topic: Topic) => Effect.Effect<void>
}

/** To be called before somebody looks. What it gives waits for a change since then, and for no longer than that. */
export const watch = (
  changes: Changes | undefined,
  topic: Topic
): (atMost: Duration.Input) => Effect.Effect<void> => {
  if (changes === undefined) return Effect.sleep
  const mark = changes.mark()
  return (atMost) => Effect.raceFirst(Effect.sleep(atMost), changes.after(mark, topic))
}
