/**
 * The end of a program whose journal is in no scope, so that nothing closes it: the default one. When the process is told to
 * end, its runs are given a moment and then stopped, and what the program leaves on its way out waits until their finalizers
 * have completed.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** How long a run may go on when its program was told to end: what people and supervisors wait for without asking again. */
export const grace = Duration.seconds(2)

const signals = ["SIGINT", "SIGTERM"] as const

/** What is said there of the process, where there is one; a browser has none. */
interface Process {
  readonly listenerCount: (signal: string) => number
  readonly prependListener: (signal: string, listener: () => void) => unknown
  readonly removeListener: (signal: string, listener: () => void) => unknown
}

const processOf = (): Process | undefined => {
  const { process } = globalThis as { readonly process?: Partial<Process> } // it depends on the platform what is there
  return typeof process?.prependListener === "function" && typeof process.listenerCount === "function" &&
      typeof process.removeListener === "function"
    ? process as Process
    : undefined
}

interface State {
  /** What stops each of the runs. */
  readonly runs: Set<Effect.Effect<void>>
  listening: ReadonlyArray<(typeof signals)[number]>
  toldAt: number
}

const key = Symbol.for("@assent/ai/internal/shutdown")
const slots = globalThis as { [key]?: State }
// One per process, as the journal is.
const state: State = slots[key] ??= { runs: new Set(), listening: [], toldAt: Number.NEGATIVE_INFINITY }

const told = (): void => {
  state.toldAt = performance.now()
}

// Where nobody else listens, a listener would keep the signal from ending the process.
const listen = (): void => {
  const process = processOf()
  if (process === undefined || state.listening.length > 0) return
  state.listening = signals.filter((signal) => process.listenerCount(signal) > 0)
  for (const signal of state.listening) process.prependListener(signal, told)
}

const silence = (): void => {
  for (const signal of state.listening) processOf()?.removeListener(signal, told)
  state.listening = []
}

// A program that goes on after a signal was only to stop what it did then.
const isEnding = (): boolean => performance.now() - state.toldAt < 30_000

/** Stops a run, when it has had its moment. */
export const stop = (ended: Effect.Effect<unknown, unknown>, interrupt: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.exit(ended).pipe(Effect.timeoutOption(grace), Effect.interruptible, Effect.andThen(interrupt), Effect.asVoid)

/** A run, and what stops it. */
export const running = <A, E, R>(run: Effect.Effect<A, E, R>, stop: Effect.Effect<void>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      listen()
      state.runs.add(stop)
    }),
    () => run,
    () =>
      Effect.sync(() => {
        state.runs.delete(stop)
        if (state.runs.size === 0) silence()
      })
  )

/** For who leaves what is still there for the runs: where the program ends they end first. */
export const leaving: Effect.Effect<void> = Effect.suspend(() =>
  isEnding()
    ? Effect.forEach(Array.from(state.runs), (stop) => stop, { concurrency: "unbounded", discard: true })
    : Effect.void
)
