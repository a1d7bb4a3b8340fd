/**
 * Keys as they come from a terminal. Node's ends its queue after Esc, because there Esc is the end of a prompt; here it
 * is a key. After Ctrl-C, Ctrl-D and the end of the input there is nothing more.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Terminal from "effect/Terminal"

type Input = Queue.Queue<Terminal.UserInput, Cause.Done>

/** Keys that no paste has, and that people press fast. */
const moves: ReadonlySet<string> = new Set(["up", "down", "left", "right", "home", "end", "pageup", "pagedown"])

const following = new WeakSet<Terminal.UserInput>()

/** Whether other keys came together with this one, before it: of one read, and so before anybody saw what they did. */
export const follows = (input: Terminal.UserInput): boolean => following.has(input)

const mark = (together: ReadonlyArray<Terminal.UserInput>) => {
  const first = together.findIndex(({ key }) => !moves.has(key.name))
  if (first >= 0) { for (const input of together.slice(first + 1)) following.add(input) }
}

/** The keys that come until the terminal's queue ends, and the last of them. */
const until = Effect.fnUntraced(function*(from: Queue.Dequeue<Terminal.UserInput, Cause.Done>, to: Input) {
  let last: Terminal.UserInput | undefined
  const take = Effect.flatMap(Queue.takeAll(from), (together) => {
    last = together[together.length - 1]
    mark(together)
    return Queue.offerAll(to, together)
  })
  yield* Effect.ignore(Effect.forever(take))
  return last
})

/** Takes the terminal's keys anew after each Esc; the new queue is there before the old one is given back. */
const pump = Effect.fnUntraced(function*(terminal: Terminal.Terminal, to: Input, first: Scope.Closeable) {
  let scope = first
  const open = (scope: Scope.Scope) => Scope.provide(terminal.readInput, scope)
  const all = Effect.gen(function*() {
    let from = yield* open(scope)
    while ((yield* until(from, to))?.key.name === "escape") {
      const before = scope
      scope = yield* Scope.make()
      from = yield* open(scope)
      yield* Scope.close(before, Exit.void)
    }
    yield* Queue.end(to)
  })
  yield* Effect.onExit(all, (exit) => Scope.close(scope, exit))
})

/** The terminal, with a queue of keys that Esc does not end; `end` ends it as the end of the input does. */
export const make = (
  terminal: Terminal.Terminal
): { readonly terminal: Terminal.Terminal; readonly end: () => void } => {
  let open: Input | undefined
  return {
    terminal: Terminal.make({
      ...terminal,
      readInput: Effect.gen(function*() {
        const keys = yield* Queue.make<Terminal.UserInput, Cause.Done>()
        open = keys
        yield* Effect.forkScoped(pump(terminal, keys, yield* Scope.make()))
        return keys
      })
    }),
    end: () => {
      if (open !== undefined) Queue.endUnsafe(open)
    }
  }
}
