/**
 * Consent needs that every row of what is asked about was on the screen: whatever keys were pressed, and however the window
 * was changed, `y` means something only then.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Question from "../../src/internal/call/question.ts"
import * as Dialogue from "../../src/internal/scene/dialogue.ts"
import * as Frame from "../../src/internal/scene/frame.ts"
import type * as Scene from "../../src/internal/scene/scene.ts"
import * as Dialogues from "./dialogues.ts"
import * as Requests from "./requests.ts"

const lines = Array.from({ length: 90 }, (_, index) => `echo line${index}.`)
const scene = Question.scene(Requests.asked({ ...Requests.bash, params: { command: lines.join("\n") } }))

const small = Dialogues.windowOf(80, 12)

const readIn = (rows: ReadonlyArray<string>): ReadonlyArray<string> =>
  rows.flatMap((row) => row.match(/line\d+\./g) ?? [])

/** Presses keys, or changes the window, and takes down every line that was on the screen. */
const play = (steps: ReadonlyArray<string | Scene.Window>, begin = small) => {
  let played: Dialogues.Played<Question.Outcome> = Dialogues.begin(scene)
  let window = begin
  const seen = new Set(readIn(Dialogues.seen(played, window)))
  const places: Array<string> = []
  for (const step of steps) {
    if (typeof step === "string") played = Dialogues.press(played, [step], window)
    else {
      window = step
      const next = Frame.on(Dialogue.top(played.open), { _tag: "Resized" }, window)
      if (next._tag === "Next") played = { open: Dialogue.replaced(played.open, next.view), ended: undefined }
    }
    if (played.ended !== undefined) break
    for (const line of readIn(Dialogues.seen(played, window))) seen.add(line)
    places.push(Dialogues.frameOf(played, window).place)
  }
  return { seen, places, rows: Dialogues.seen(played, window), isDecided: played.ended !== undefined }
}

const spaces = Array.from({ length: 40 }, () => "space")

describe("consent waits for every row", () => {
  it("page after page: y counts once the last was shown", () => {
    const { isDecided, seen } = play([...spaces, "y"])
    assert.deepStrictEqual([isDecided, seen.size], [true, lines.length])
  })

  it("End shows the last rows and counts none between: y waits, and is told for which", () => {
    const { isDecided, places, rows, seen } = play(["space", "End", "y"])
    assert.deepStrictEqual([isDecided, places.at(-1)], [false, "page"])
    assert.isBelow(seen.size, lines.length)
    assert.isTrue(seen.has("line89."))
    const told = rows.find((row) => row.startsWith("-- rows"))
    assert.match(
      told!,
      /^-- rows \d+ to (\d+) of \1; y and s wait for rows \d+ to \d+ --$|; y waits for rows \d+ to \d+ --$/
    )
  })

  it("from there space goes to the first rows that were not shown, and so to all of them", () => {
    const { isDecided, seen } = play(["End", "space", ...spaces, "y"])
    assert.deepStrictEqual([isDecided, seen.size], [true, lines.length])
  })

  it("no is said at once, on any page", () => {
    for (const keys of [["Esc"], ["End", "Esc"], ["space", "End", "b", "Esc"]]) {
      assert.isTrue(play(keys).isDecided, keys.join(" "))
    }
  })

  it("once all were shown, y counts wherever the last page is gone to again", () => {
    assert.isTrue(play([...spaces, "b", "b", "End", "y"]).isDecided)
    assert.isTrue(play([...spaces, "b", Dialogues.windowOf(60, 15), "End", "y"]).isDecided)
  })

  it("a window that grows passes no rows over", () => {
    const grown = Dialogues.windowOf(80, 40)
    for (let pages = 0; pages < 8; pages++) {
      const begin = spaces.slice(0, pages)
      const { isDecided, seen } = play([...begin, grown, ...spaces, "y"])
      assert.deepStrictEqual([isDecided, seen.size], [true, lines.length], `after ${pages} pages`)
      const ended = play([...begin, grown, "End", "y"])
      assert.strictEqual(ended.isDecided, ended.seen.size === lines.length, `after ${pages} pages, by End`)
    }
  })

  const Step = Schema.Literals([
    "space",
    "space",
    "space",
    "b",
    "End",
    "?",
    "Esc from help",
    "y",
    "grow",
    "shrink",
    "same"
  ])

  it.effect.prop(
    "whatever was pressed: decided with y means that all of it was shown",
    { steps: Schema.Array(Step).check(Schema.isMaxLength(60)) },
    ({ steps }) =>
      Effect.sync(() => {
        let isHelp = false
        const keys = steps.flatMap((step): ReadonlyArray<string | Scene.Window> => {
          switch (step) {
            case "grow":
              return [Dialogues.windowOf(90, 30)]
            case "shrink":
              return [Dialogues.windowOf(50, 9)]
            case "same":
              return [small]
            case "?":
              isHelp = true
              return ["?"]
            case "Esc from help":
              if (!isHelp) return []
              isHelp = false
              return ["Esc"]
            default:
              return isHelp ? [] : [step]
          }
        })
        const { isDecided, seen } = play(keys)
        if (isDecided) assert.strictEqual(seen.size, lines.length)
      }),
    { arbitrary: { runs: 300, seed: "read" } }
  )
})
