/**
 * Keys as they come from a terminal. Node's ends its queue after Esc, because there Esc is the end of a prompt; here it
 * is a key. After Ctrl-C, Ctrl-D and the end of the input there is nothing more.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import type * as Terminal from "effect/Terminal"
import * as Sequences from "./sequences.ts"

type Keys = Queue.Dequeue<Terminal.UserInput, Cause.Done>

export interface Input {
  readonly keys: Keys
  /** Columns that the terminal says its cursor is at, of those that were asked for. */
  readonly columns: Queue.Dequeue<number>
  readonly expect: (answers: number) => void
  /** Ends the keys, as the end of the input does. */
  readonly end: () => void
}

/** Keys that no paste has, and that people press fast. */
const moves: ReadonlySet<string> = new Set(["up", "down", "left", "right", "home", "end", "pageup", "pagedown"])

const following = new WeakSet<Terminal.UserInput>()

/** Whether other keys came together with this one, before it: of one read, and so before anybody saw what they did. */
export const follows = (input: Terminal.UserInput): boolean => following.has(input)

const mark = (together: ReadonlyArray<Terminal.UserInput>) => {
  const first = together.findIndex(({ key }) => !moves.has(key.name))
  if (first >= 0) { for (const input of together.slice(first + 1)) following.add(input) }
}

/**
 * Takes the terminal's keys anew after each Esc; the new queue is there before the old one is given back. What came in one
 * read with Esc, after it, is `lost`.
 */
const pump = Effect.fnUntraced(function*(
  terminal: Terminal.Terminal,
  take: (together: ReadonlyArray<Terminal.UserInput>) => Effect.Effect<void>,
  lost: Effect.Effect<unknown>,
  first: { readonly keys: Keys; readonly scope: Scope.Closeable }
) {
  let { keys, scope } = first
  const untilEnd = Effect.fnUntraced(function*(from: Keys) {
    let last: Terminal.UserInput | undefined
    const next = Effect.flatMap(Queue.takeAll(from), (together) => {
      last = together[together.length - 1]
      return take(together)
    })
    yield* Effect.ignore(Effect.forever(next))
    return last
  })
  const all = Effect.gen(function*() {
    while ((yield* untilEnd(keys))?.key.name === "escape") {
      const before = scope
      scope = yield* Scope.make()
      keys = yield* Scope.provide(terminal.readInput, scope)
      yield* Scope.close(before, Exit.void)
      yield* lost
    }
  })
  yield* Effect.onExit(all, (exit) => Scope.close(scope, exit))
})

/** The keys of a terminal; `sequenceOf` is what was sent for one, where that is known. */
export const open = Effect.fnUntraced(function*(
  terminal: Terminal.Terminal,
  sequenceOf: (input: Terminal.UserInput) => string | undefined
): Effect.fn.Return<Input, never, Scope.Scope> {
  const keys = yield* Queue.make<Terminal.UserInput, Cause.Done>()
  const columns = yield* Queue.unbounded<number>()
  const sequences = Sequences.make()
  const take = Effect.fnUntraced(function*(together: ReadonlyArray<Terminal.UserInput>) {
    const now = yield* Clock.currentTimeMillis
    const read = sequences.push(together.map((input) => ({ input, sequence: sequenceOf(input) })), now)
    mark(read.keys)
    yield* Queue.offerAll(columns, read.columns)
    yield* Queue.offerAll(keys, read.keys)
  })
  const lost = Effect.suspend(() => Queue.offerAll(keys, sequences.lost()))
  const scope = yield* Scope.make()
  const first = yield* Effect.onError(
    Scope.provide(terminal.readInput, scope),
    (cause) => Scope.close(scope, Exit.failCause(cause))
  )
  yield* Effect.forkScoped(Effect.andThen(pump(terminal, take, lost, { keys: first, scope }), Queue.end(keys)))
  return { keys, columns, expect: sequences.expect, end: () => Queue.endUnsafe(keys) }
})
