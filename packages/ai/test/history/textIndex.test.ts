import { assert, describe, it } from "@effect/vitest"
import { TextIndex } from "../../src/internal/history/textIndex.ts"

interface Named {
  readonly name: string
  readonly age?: number
}

const make = () => new TextIndex((one: Named) => one.name)

describe("TextIndex", () => {
  it("finds what was set last under a text, of any length", () => {
    const index = make()
    const names = ["", "a", "b", "ab", "abc", "abcdefgh", "abcdefghi", "\u{1F600}", "x".repeat(500)]
    for (const name of names) index.set({ name })
    for (const name of names) assert.deepStrictEqual(index.get(name), { name })
    for (const name of names) index.set({ name, age: 1 })
    for (const name of names) assert.deepStrictEqual(index.get(name), { name, age: 1 })
    assert.isUndefined(index.get("never set"))
  })

  it("tells texts apart whose ends are the same", () => {
    const index = make()
    const names = Array.from({ length: 1_000 }, (_, i) => `begin${String(i).padStart(4, "0")}end.`)
    for (const name of names) index.set({ name })
    for (const name of names) assert.strictEqual(index.get(name)?.name, name)
    assert.isUndefined(index.get("begin9999end."))
    index.set({ name: names[7]!, age: 7 })
    assert.strictEqual(index.get(names[7]!)?.age, 7)
    assert.isUndefined(index.get(names[8]!)?.age)
  })

  it("finds nothing under a text that looks like the only one there", () => {
    const index = make()
    index.set({ name: "begin0001end." })
    assert.isUndefined(index.get("begin0002end."))
    assert.strictEqual(index.get("begin0001end.")?.name, "begin0001end.")
  })

  it("is no slower for ids chosen to look alike", () => {
    const index = make()
    const started = performance.now()
    for (let i = 0; i < 100_000; i++) index.set({ name: `begin${i.toString().padStart(6, "0")}end.` })
    // Comparing each with every other takes minutes.
    assert.isBelow(performance.now() - started, 20_000)
  })
})
