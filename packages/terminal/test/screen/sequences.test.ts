/** Bytes through Node's own reader, and what is made of the keys that it gives. */
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Readline from "node:readline"
import { PassThrough } from "node:stream"
import * as Sequences from "../../src/internal/screen/sequences.ts"
import { random } from "../random.ts"

type Read = Sequences.Read

/** What comes of reads, each of which is there at once; `blind` does not know what was sent. */
const keysOf = (
  reads: ReadonlyArray<string>,
  { apart = 0, blind = false, expect = 0 }: { apart?: number; blind?: boolean; expect?: number } = {}
) => {
  const stream = new PassThrough()
  let together: Array<Read> = []
  stream.on("keypress", (text: string | undefined, key: Readline.Key) => {
    const input = {
      input: Option.fromUndefinedOr(text),
      key: { name: key.name ?? "", ctrl: key.ctrl === true, meta: key.meta === true, shift: key.shift === true }
    }
    together.push({ input, sequence: blind ? undefined : key.sequence })
  })
  Readline.emitKeypressEvents(stream)
  const sequences = Sequences.make()
  sequences.expect(expect)
  const keys: Array<string> = []
  const columns: Array<number> = []
  reads.forEach((read, index) => {
    together = []
    stream.emit("data", Buffer.from(read))
    const got = sequences.push(together, index * apart)
    columns.push(...got.columns)
    keys.push(...got.keys.map(({ input, key }) => {
      const name = Option.getOrElse(input, () => key.name)
      return `${key.ctrl ? "ctrl-" : ""}${key.meta ? "alt-" : ""}${name}`
    }))
  })
  stream.end()
  return { keys, columns }
}

const unknown = {
  "a mouse": "\u001b[<0;35;12M",
  "a mouse of old": "\u001b[M yy",
  "a key with all its modifiers": "\u001b[27;5;121~",
  "a key as a number": "\u001b[121;5u",
  "a colour": "\u001b]11;rgb:1e1e/1e1e/yyyy\u0007",
  "a colour, ended otherwise": "\u001b]11;rgb:1e1e/1e1e/yyyy\u001b\\",
  "what a terminal is": "\u001bP>|xterm(390)y\u001b\\",
  "what it can do": "\u001b[?62;22c",
  "its focus": "\u001b[I",
  "where the cursor is": "\u001b[12;34R"
}

describe("a sequence that Node does not know", () => {
  it.each(Object.entries(unknown))("of %s is one unknown key, and none of its letters is a key", (_, sequence) => {
    assert.deepStrictEqual(keysOf([`a${sequence}`]).keys, ["a", "unknown"])
    assert.deepStrictEqual(keysOf([sequence, "y"], { apart: 1_000 }).keys, ["unknown", "y"])
    // And none of it counts where it is not known what was sent.
    assert.deepStrictEqual(keysOf([sequence], { blind: true }).keys.filter((key) => key === "y"), [])
  })

  it("is one, wherever it is taken apart", () => {
    for (const sequence of Object.values(unknown)) {
      for (let at = 2; at < sequence.length; at++) {
        const { keys } = keysOf([sequence.slice(0, at), sequence.slice(at)], { apart: 5 })
        // Alt and the letter that begins a text is a key, if it comes alone.
        const begun = at === 2 && /^.[\]P]/.test(sequence)
        if (!begun) assert.deepStrictEqual(keys, ["unknown"], `${JSON.stringify(sequence)} at ${at}`)
      }
    }
  })

  it("ends after a while, if it does not end", () => {
    assert.deepStrictEqual(keysOf(["\u001b[<0;3", "y"], { apart: 201 }).keys, ["unknown", "y"])
    assert.deepStrictEqual(keysOf(["\u001b[<0;3", "5M", "y"], { apart: 200 }).keys, ["unknown", "y"])
  })

  it("whose Esc came by itself gives Esc, and no letters", () => {
    // As Node has it, some time after Esc.
    const escape: Read = {
      input: { input: Option.none(), key: { name: "escape", ctrl: false, meta: false, shift: false } },
      sequence: "\u001b"
    }
    const text = (one: string): Read => ({
      input: { input: Option.some(one), key: { name: one, ctrl: false, meta: false, shift: false } },
      sequence: one
    })
    const sequences = Sequences.make()
    assert.deepStrictEqual(sequences.push([escape], 0).keys.map(({ key }) => key.name), ["escape"])
    assert.deepStrictEqual(sequences.push([..."[15~"].map(text), 100).keys.map(({ key }) => key.name), ["unknown"])
    assert.deepStrictEqual(sequences.push([text("y")], 200).keys.map(({ key }) => key.name), ["y"])
  })
})

describe("a key", () => {
  it("that Node knows stays what it is", () => {
    const sent = "\u001b[A\u001bOB\u001b[3~\u001b[1;5C\u001by\u001b[200~"
    for (const blind of [false, true]) {
      const { keys } = keysOf([sent], { blind })
      assert.deepStrictEqual(keys, ["up", "down", "delete", "ctrl-right", "alt-y", "paste-start"])
      // Alt and a sign that would begin a text, if more came with it.
      assert.deepStrictEqual(keysOf(["\u001b]", "y"], { blind }).keys, ["alt-", "y"])
    }
  })
})

describe("where the cursor is", () => {
  it("is said, and no key, if it was asked for", () => {
    for (const blind of [false, true]) {
      for (const row of [1, 24, 100]) {
        const { columns, keys } = keysOf([`a\u001b[${row};9Ry`, `\u001b[${row};10R`], { expect: 2, blind })
        assert.deepStrictEqual({ columns, keys }, { columns: [9, 10], keys: ["a", "y"] }, `${blind} ${row}`)
      }
    }
    assert.deepStrictEqual(keysOf(["\u001b[12;1", "6R"], { expect: 1, apart: 1 }), { columns: [16], keys: [] })
  })
})

describe("whatever is read", () => {
  it("gives no more keys than what was sent has letters outside of sequences, however it is cut", () => {
    const parts = [...Object.values(unknown), "y", "n", "\u001b[A", "\r", " "]
    for (let seed = 1; seed <= 300; seed++) {
      const { below, many, one } = random(seed)
      const sent = many(8, () => one(parts))
      const reads: Array<string> = []
      let rest = sent.join("")
      while (rest !== "") {
        // Esc by itself is another key, after Node has waited.
        let length = 1 + below(12)
        while (rest[length - 1] === "\u001b" || /[\]P]/.test(rest[length - 1] ?? "")) length++
        reads.push(rest.slice(0, length))
        rest = rest.slice(length)
      }
      const { keys } = keysOf(reads, { apart: 1 })
      const letters = (of: ReadonlyArray<string>) => of.filter((key) => /^[yn]$/.test(key)).join("")
      assert.strictEqual(letters(keys), letters(sent), `seed ${seed}`)
    }
  })
})
