/** A question of a few rows, without what it is about, at a keyboard. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Stage from "../../src/internal/screen/stage.ts"
import * as Style from "../../src/internal/text/style.ts"
import * as Keyboard from "../keyboard.ts"

/** It is answered by y, n and Esc, and notes the keys and pastes that it was given. */
export const put = Effect.fnUntraced(function*(
  { columns = 80, escape = true, height = 3, pastes = false, row = (index: number) => `  │ row ${index}` }: {
    columns?: number
    escape?: boolean
    height?: number
    pastes?: boolean
    row?: (index: number) => string
  } = {}
) {
  const keyboard = yield* Keyboard.make
  if (columns !== 80) yield* keyboard.resize(columns, 24)
  const given: Array<string> = []
  const question = Stage.run((stage) =>
    Stage.prompt<number, string>(stage, {
      guarded: true,
      refusesPaste: !pastes,
      takesEscape: escape,
      begin: () => ({ state: 0 }),
      draw: (_, screen) => [
        ...Array.from({ length: height }, (_, index) => Style.plain(row(index))),
        ...Stage.asking("Run it?", screen)
      ],
      on: (state, happening) => {
        if (happening._tag === "Paste") given.push(happening.text)
        if (happening._tag !== "Key") return { _tag: "Next", state }
        given.push(happening.name)
        return /^(y|n|escape)$/.test(happening.name)
          ? { _tag: "Done", value: happening.name, print: [Style.plain(`said ${happening.name}`)] }
          : { _tag: "Next", state: state + 1 }
      }
    })
  )
  const fiber = yield* Effect.forkChild(Effect.provide(question, keyboard.services))
  yield* TestClock.adjust(0)
  return {
    ...keyboard,
    given,
    answer: Effect.andThen(TestClock.adjust("50 millis"), Fiber.join(fiber)),
    isOpen: Effect.sync(() => fiber.pollUnsafe() === undefined)
  }
})
