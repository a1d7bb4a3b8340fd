/** Keys of a terminal that ends its queue after Esc, as Node's does. */
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Input from "../../src/internal/screen/input.ts"

const inputOf = (name: string, ctrl = false): Terminal.UserInput => ({
  input: name.length === 1 && !ctrl ? Option.some(name) : Option.none(),
  key: { name, ctrl, meta: false, shift: false }
})

const open = Effect.gen(function*() {
  let queue: Queue.Queue<Terminal.UserInput, Cause.Done> | undefined
  let opened = 0
  let closed = 0
  const terminal = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Effect.never,
    readLine: Effect.never,
    display: () => Effect.void,
    readInput: Effect.acquireRelease(
      Effect.gen(function*() {
        opened++
        return queue = yield* Queue.make<Terminal.UserInput, Cause.Done>()
      }),
      () => Effect.sync(() => void closed++)
    )
  })
  const { keys } = yield* Input.open(terminal, () => undefined)
  return {
    /** Of one read: what comes after a key that ends the queue is lost. */
    read: Effect.fnUntraced(function*(...inputs: ReadonlyArray<Terminal.UserInput>) {
      const to = queue!
      for (const input of inputs) {
        Queue.offerUnsafe(to, input)
        const { ctrl, name } = input.key
        if (name === "escape" || (ctrl && (name === "c" || name === "d"))) Queue.endUnsafe(to)
      }
      yield* TestClock.adjust(0)
    }),
    end: Effect.suspend(() => Effect.andThen(Queue.end(queue!), TestClock.adjust(0))),
    names: Effect.map(Queue.clear(keys), (all) => all.map(({ key }) => key.name)),
    isOver: Effect.map(Effect.option(Queue.takeAll(keys)), Option.isNone),
    readers: () => [opened, closed]
  }
})

describe("keys", () => {
  it.effect("come after Esc too, from one reader at a time", () =>
    Effect.gen(function*() {
      const { names, read, readers } = yield* open
      for (let count = 0; count < 20; count++) yield* read(inputOf("escape"))
      yield* read(inputOf("y"))
      assert.deepStrictEqual(yield* names, [...Array.from({ length: 20 }, () => "escape"), "y"])
      assert.deepStrictEqual(readers(), [21, 20])
    }))

  it.effect("end with Ctrl-C, Ctrl-D, and the end of the input, after Esc too", () =>
    Effect.gen(function*() {
      for (const last of ["c", "d", undefined]) {
        const { end, isOver, names, read, readers } = yield* open
        yield* read(inputOf("escape"))
        yield* last === undefined ? end : read(inputOf("y"), inputOf(last, true))
        assert.deepStrictEqual(yield* names, ["escape", ...(last === undefined ? [] : ["y", last])])
        assert.isTrue(yield* isOver)
        assert.deepStrictEqual(readers(), [2, 2])
      }
    }))

  it.effect("of a paste with Esc in it do not go on for ever, when its end is lost", () =>
    Effect.gen(function*() {
      const { names, read } = yield* open
      yield* read(inputOf("paste-start"), inputOf("a"), inputOf("escape"), inputOf("b"), inputOf("paste-end"))
      yield* read(inputOf("y"))
      assert.deepStrictEqual(yield* names, ["paste-start", "a", "escape", "paste-end", "y"])
    }))
})
