/** The turns that are being taken on this server, each in the line of its conversation. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Sentences from "../wire/sentences.ts"
import * as Live from "./live.ts"

export interface Turns {
  /**
   * Takes a turn in the line of its conversation, on the server's own time. Where the same message of the same page is
   * being answered already, that turn is given; where it was answered, the new one is told that it `isRepeated`.
   */
  readonly take: (
    key: string,
    said: Live.Live["said"],
    run: (live: Live.Live, isRepeated: boolean) => Effect.Effect<void>
  ) => Effect.Effect<Live.Live>
  /** The turn that is being taken, or has ended a moment ago. */
  readonly current: (key: string) => Live.Live | undefined
}

/** How long a turn that has ended can still be read by a page that has just read the history before its end. */
const lingering = Duration.seconds(5)

/** Each of them has somebody who waits for an answer: more are not people. */
const maxWaiting = 16

/** How many messages are remembered to have been answered, so that a page that did not hear of it may ask again. */
const maxAnswered = 10_000

export const make = Effect.fnUntraced(function*(
  options: { readonly maxBytes: number }
): Effect.fn.Return<Turns, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const lines = new Map<string, Line>()
  const answered = new Set<string>()

  const remember = (key: string, live: Live.Live) => {
    if (live.said === undefined || hasFailed(live)) return
    answered.add(nameOf(key, live.said))
    if (answered.size <= maxAnswered) return
    for (const oldest of answered) return void answered.delete(oldest)
  }

  const leave = (key: string, line: Line, live: Live.Live) =>
    Effect.sync(() => {
      line.lives = line.lives.filter((one) => one !== live)
      if (line.lives.length === 0) lines.delete(key)
    })

  return {
    take: (key, said, run) =>
      Effect.suspend(() => {
        const line = lines.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), lives: [] }
        const same = said === undefined
          ? undefined
          : line.lives.find((live) => isSame(live.said, said) && !hasFailed(live))
        if (same !== undefined) return Effect.succeed(same)
        const isRepeated = said !== undefined && answered.has(nameOf(key, said))
        const live = Live.make(said, options.maxBytes)
        if (line.lives.filter((live) => live.ending() === undefined).length >= maxWaiting) {
          live.end({ error: Sentences.tooMany })
          return Effect.succeed(live)
        }
        lines.set(key, line)
        line.lives.push(live)
        const taken = line.semaphore.withPermit(run(live, isRepeated)).pipe(
          Effect.onExit(() =>
            Effect.sync(() => {
              live.end({ error: Sentences.stopping })
              remember(key, live)
            })
          ),
          Effect.andThen(Effect.sleep(lingering)),
          Effect.ensuring(leave(key, line, live))
        )
        return Effect.as(Effect.forkIn(taken, scope), live)
      }),
    current: (key) => {
      const lives = lines.get(key)?.lives ?? []
      // Those that wait in line have said nothing.
      return lives.find((live) => live.ending() === undefined) ?? lives.at(-1)
    }
  }
})

interface Line {
  readonly semaphore: Semaphore.Semaphore
  lives: Array<Live.Live>
}

const isSame = (one: Live.Live["said"], other: Live.Live["said"]): boolean =>
  one !== undefined && other !== undefined && one.messageId === other.messageId && one.text === other.text

// Who posts it once more wants it tried again.
const hasFailed = (live: Live.Live): boolean => live.ending()?.error !== undefined

// Whoever changes a message of theirs says something else under its id.
const nameOf = (key: string, { messageId, text }: NonNullable<Live.Live["said"]>): string =>
  JSON.stringify([key, messageId, text.length, text.slice(0, 200)])
