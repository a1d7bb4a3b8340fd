/** Every drawing equals what a real terminal shows: row by row, but for blanks at the end of a row. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Pieces from "./play/pieces.ts"
import { after, ascii, keys, stories, type Story } from "./play/stories.ts"

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

const play = async (columns: 40 | 80, told: ReadonlyArray<Story>, env: Record<string, string>, unticked = after) => {
  const { faults, look } = collecting()
  const scenes = [...told.map(({ scene }) => scene), ...unticked.map(({ scene }) => scene)]
  await Pieces.withScenes(scenes, { columns, rows: 24, env }, async (pieces) => {
    for (const [index, { columns: width = columns, drawing, keys, last, rows }] of told.entries()) {
      await look(drawing, async () => {
        pieces.resize(columns, rows?.[columns] ?? 24)
        await pieces.begun(index)
        if (width !== columns) await pieces.resized(width, 24)
        for (const key of keys) await pieces.press(key)
        await pieces.calm()
        const drawn = drawingOf(drawing, columns)
        compare(last === undefined ? pieces.rowsFrom(drawn[0]!) : pieces.lastRows(last), drawn)
      })
      if (width !== columns) await pieces.resized(columns, 24)
      await pieces.leave(index)
    }
    if (unticked.length === 0) return
    pieces.resize(columns, 24)
    for (const [at, { keys: pressed }] of unticked.entries()) {
      await pieces.begun(told.length + at)
      for (const key of pressed) await pieces.answer(key)
    }
    await look("exit code", async () => assert.strictEqual(await pieces.ended(), 130))
    await look("after", async () => compare(pieces.said(unticked.length), drawingOf("after", columns)))
  })
  return faults
}

const environment = { LANG: "C.UTF-8", LC_ALL: "", LC_CTYPE: "", EDITOR: "vim" }

describe.concurrent("every drawing is what a terminal shows", () => {
  for (const columns of [80, 40] as const) {
    it(`of ${columns} columns`, async () => {
      const told = stories.filter(({ only }) => only === undefined || only === columns)
      assert.deepStrictEqual(await play(columns, told, environment), [])
    }, 120_000)
  }

  it("without Unicode", async () => {
    const plain = { ...environment, LANG: "C" }
    assert.deepStrictEqual(await play(80, [ascii], plain, []), [])
    assert.deepStrictEqual(await play(40, [ascii], plain, []), [])
  }, 120_000)

  it("and none is left out", () => {
    const names = Fs.readdirSync(folder).filter((name) => name.endsWith(".txt")).toSorted()
    const drawn = ["after", ascii.drawing, ...stories.map(({ drawing }) => drawing)]
    const expected = [...new Set(drawn)].flatMap((name) => [`${name}-40.txt`, `${name}-80.txt`]).toSorted()
    assert.deepStrictEqual(names, expected)
    assert.include(Object.values(keys), "\u0003")
  })
})
