/** What a program logs while an effect runs. */
import { Effect, Logger, type LogLevel } from "effect"

export interface Line {
  readonly level: LogLevel.LogLevel
  readonly text: string
}

/** Gives the effect a logger of its own, and its lines beside what it gives. */
export const logged = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<readonly [A, ReadonlyArray<Line>], E, R> =>
  Effect.suspend(() => {
    const lines: Array<Line> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      lines.push({ level: logLevel, text: String(message) })
    })
    return effect.pipe(
      Effect.map((value) => [value, lines] as const),
      Effect.provide(Logger.layer([logger]))
    )
  })
