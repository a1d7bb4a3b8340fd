/** Every drawing equals what a real terminal shows: row by row, but for blanks at the end of a row. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Pieces from "./play/pieces.ts"
import { after, ascii, stories, type Story } from "./play/stories.ts"

const folder = Path.join(import.meta.dirname, "drawings")

const drawingOf = (name: string, columns: number): ReadonlyArray<string> =>
  Fs.readFileSync(Path.join(folder, `${name}-${columns}.txt`), "utf8").trimEnd().split("\n")

const compare = (seen: ReadonlyArray<string>, drawn: ReadonlyArray<string>) => {
  if (seen.join("\n") === drawn.join("\n")) return
  const rows = Array.from({ length: Math.max(seen.length, drawn.length) }, (_, row) => [drawn[row], seen[row]])
  const different = rows.flatMap(([drawn, seen]) => drawn === seen ? [] : [`\n  drawn ${drawn}\n  seen  ${seen}`])
  throw new Error(different.join(""))
}

/** Faults are collected, so that one run tells of all. */
const collecting = () => {
  const faults: Array<string> = []
  return {
    faults,
    look: async (name: string, look: () => Promise<void>) => {
      try {
        await look()
      } catch (fault) {
        faults.push(`${name}: ${fault instanceof Error ? fault.message : String(fault)}`)
      }
    }
  }
}

interface Drawn {
  readonly story: Story
  readonly columns: 40 | 80
}

/** Plays one after the other in one program, and then what ends it. */
const play = async (drawn: ReadonlyArray<Drawn>, env: Record<string, string>, ending: typeof after) => {
  const { faults, look } = collecting()
  const scenes = [...drawn.map(({ story }) => story), ...ending].map(({ scene }) => scene)
  await Pieces.withScenes(scenes, { columns: drawn[0]!.columns, env }, async (pieces) => {
    for (const [index, { columns, story }] of drawn.entries()) {
      const { columns: width = columns, drawing, keys, last, rows } = story
      await look(`${drawing}-${columns}`, async () => {
        pieces.resize(columns, rows?.[columns] ?? 24)
        await pieces.begun(index)
        if (width !== columns) await pieces.resized(width, 24)
        for (const key of keys) await pieces.press(key)
        await pieces.calm()
        const expected = drawingOf(drawing, columns)
        compare(last === undefined ? pieces.rowsFrom(expected[0]!) : pieces.lastRows(last), expected)
      })
      if (width !== columns) await pieces.resized(columns, 24)
      await pieces.leave(index)
    }
    for (const [at, { keys }] of ending.entries()) {
      await pieces.begun(drawn.length + at)
      for (const key of keys) await pieces.answer(key)
    }
    await look("exit code", async () => assert.strictEqual(await pieces.ended(), ending.length === 0 ? 0 : 130))
    if (ending.length === 0) return
    const { columns } = drawn.at(-1)!
    await look(`after-${columns}`, async () => compare(pieces.said(ending.length), drawingOf("after", columns)))
  })
  return faults
}

const environment = { LANG: "C.UTF-8", LC_ALL: "", LC_CTYPE: "", EDITOR: "vim" }

describe.concurrent("every drawing is what a terminal shows", () => {
  for (const columns of [80, 40] as const) {
    it(`of ${columns} columns`, async () => {
      const drawn = stories.filter(({ only = columns }) => only === columns).map((story) => ({ story, columns }))
      const half = Math.ceil(drawn.length / 2)
      // In two programs at once: Node takes half a second over each Esc.
      const faults = await Promise.all([
        play(drawn.slice(0, half), environment, []),
        play(drawn.slice(half), environment, after)
      ])
      assert.deepStrictEqual(faults.flat(), [])
    }, 120_000)
  }

  it("without Unicode", async () => {
    const drawn = [{ story: ascii, columns: 80 }, { story: ascii, columns: 40 }] as const
    assert.deepStrictEqual(await play(drawn, { ...environment, LANG: "C" }, []), [])
  }, 120_000)

  it("and none is left out", () => {
    const names = Fs.readdirSync(folder).filter((name) => name.endsWith(".txt")).toSorted()
    const drawn = ["after", ascii.drawing, ...stories.map(({ drawing }) => drawing)]
    const expected = [...new Set(drawn)].flatMap((name) => [`${name}-40.txt`, `${name}-80.txt`]).toSorted()
    assert.deepStrictEqual(names, expected)
  })
})
