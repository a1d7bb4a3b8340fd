/** What is long is one screen and one key, if it is proved; if not, it is seen whole. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Played from "./play/played.ts"
import * as Scenes from "./play/scenes.ts"
import * as States from "./play/states.ts"

describe("one screen of 24 rows, one key:", () => {
  for (const name of ["edit", "mail", "mcp", "bash"] as const) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const played = yield* Played.play(name)
        assert.isAtMost(States.rowsOf(played).length, 24)
        yield* played.type("y")
        yield* played.end
        assert.strictEqual(played.ran().length, 1)
        if (name === "edit") assert.strictEqual(played.files.get("/src/values.ts"), Scenes.after)
      }), 30_000)
  }
})

const at = (index: number, text: string) => (content: string) =>
  content.slice(0, index) + text + content.slice(index + 1)

/** What is drawn is another file than the one that would be written, by one byte. */
const wrong: Readonly<Record<string, (content: string) => string>> = {
  "the first byte": at(0, "E"),
  "a byte in the middle, of a line that is not drawn": at(20_000, "#"),
  "a byte in the line that changes": (content) => content.replace("value600 = 601", "value600 = 602"),
  "a line end of two bytes": (content) => content.replace("\n", "\r\n"),
  "no line end at the end": (content) => content.slice(0, -1),
  "another blank at the end": (content) => `${content} `
}

describe("a claim that is wrong is not folded:", () => {
  for (const [what, drawn] of Object.entries(wrong)) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const played = yield* Played.play(Scenes.write("src/values.ts", Scenes.after, {}, drawn))
        assert.notInclude(played.text(), "≡")
        assert.strictEqual(States.placeOf(played), "paged")
        assert.include(played.text(), "export const value1 = 1 // line 1 of the file")
        // Not before it was seen whole.
        yield* played.type("y")
        assert.deepStrictEqual(played.ran(), [])
      }), 30_000)
  }
})

describe("a file that changes after the question", () => {
  const changes: Readonly<Record<string, (files: Map<string, string>) => void>> = {
    "by a byte": (files) => files.set("/src/values.ts", at(3_000, "#")(Scenes.before)),
    "to what would be written": (files) => files.set("/src/values.ts", Scenes.after),
    "that is gone": (files) => files.delete("/src/values.ts")
  }
  for (const [what, change] of Object.entries(changes)) {
    it.effect(`${what} is not written`, () =>
      Effect.gen(function*() {
        const played = yield* Played.play("edit")
        assert.include(played.text(), "≡")
        change(played.files)
        const found = played.files.get("/src/values.ts")
        yield* played.type("y")
        yield* played.settle(20)
        assert.deepStrictEqual(played.ran(), [])
        assert.strictEqual(played.files.get("/src/values.ts"), found)
      }), 30_000)
  }
})
