/** A terminal of 80 columns without a screen: what is written to it, and keys, to the millisecond. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Measure from "../src/internal/screen/measure.ts"

export const make = Effect.gen(function*() {
  const input = yield* Queue.make<Terminal.UserInput, Cause.Done>()
  const sizes = yield* Queue.make<Terminal.Size, Cause.Done>()
  let shown = ""
  let size: Terminal.Size = { columns: 80, rows: 24 }
  const terminal = Terminal.make({
    columns: Effect.sync(() => size.columns),
    rows: Effect.sync(() => size.rows),
    size: Effect.succeed(sizes),
    readInput: Effect.succeed(input),
    readLine: Effect.never,
    display: (text) => Effect.sync(() => void (shown += text))
  })
  const press = (name: string, text: string | undefined, modifiers = false) =>
    Effect.andThen(
      Queue.offer(input, {
        input: Option.fromUndefinedOr(text),
        key: { name, ctrl: modifiers, meta: modifiers, shift: modifiers }
      }),
      TestClock.adjust(0)
    )
  let answered = 0
  /** What the terminal answers to each question for its status that it has been asked by now. */
  const status = Effect.gen(function*() {
    for (const asked = shown.split("\u001b[5n").length - 1; answered < asked; answered++) {
      yield* press("undefined", undefined, true)
    }
  })
  /** It takes a moment until a size counts. */
  const resizing = (columns: number, rows: number) =>
    Effect.suspend(() => {
      size = { columns, rows }
      return Effect.andThen(Queue.offer(sizes, size), TestClock.adjust(0))
    })
  return {
    services: Layer.mergeAll(
      Layer.succeed(Terminal.Terminal, terminal),
      Layer.succeed(Measure.Known, Measure.narrow),
      FileSystem.layerNoop({}),
      Path.layer
    ),
    key: (text: string) => press(text, text),
    name: (name: string) => press(name, undefined),
    control: (name: string) =>
      Effect.andThen(
        Queue.offer(input, { input: Option.none(), key: { name, ctrl: true, meta: false, shift: false } }),
        TestClock.adjust(0)
      ),
    /** Keys of one read; those of one letter are their letter. */
    together: (names: ReadonlyArray<string>) =>
      Effect.andThen(
        Queue.offerAll(
          input,
          names.map((name) => ({
            input: name.length === 1 ? Option.some(name) : Option.none(),
            key: { name, ctrl: false, meta: false, shift: false }
          }))
        ),
        TestClock.adjust(0)
      ),
    pasteStart: press("paste-start", undefined),
    pasteEnd: press("paste-end", undefined),
    status,
    /** Until a question takes keys. */
    armed: Effect.andThen(status, TestClock.adjust("100 millis")),
    resizing,
    resize: (columns: number, rows: number) => Effect.andThen(resizing(columns, rows), TestClock.adjust("200 millis")),
    shown: () => shown,
    leave: Queue.end(input)
  }
})
