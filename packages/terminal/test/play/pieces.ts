/** Scenes one after the other in one program at a real terminal. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { type Options, type Program, withProgram } from "../pty.ts"
import { keys } from "./stories.ts"

export interface Over {
  readonly scene: string
  readonly ran: ReadonlyArray<string>
  readonly models: number
}

export interface Pieces {
  readonly program: Program
  /** What became of the scenes that are over. */
  readonly over: () => ReadonlyArray<Over>
  readonly resize: (columns: number, rows: number) => void
  /** Until the new size counts. */
  readonly resized: (columns: number, rows: number) => Promise<void>
  /** Until the question of the scene takes keys. */
  readonly begun: (scene: number) => Promise<void>
  /** Until nothing was drawn for a moment. */
  readonly calm: () => Promise<void>
  /** Until keys count again. */
  readonly press: (key: string) => Promise<void>
  /** The same, or until the scene is over. */
  readonly answer: (key: string) => Promise<void>
  /** Says no until the scene is over. */
  readonly leave: (scene: number) => Promise<void>
  /** From the last row that is this one. */
  readonly rowsFrom: (row: string) => ReadonlyArray<string>
  readonly lastRows: (count: number) => ReadonlyArray<string>
  /** What was said after the answers to the last scenes. */
  readonly said: (scenes: number) => ReadonlyArray<string>
  readonly ended: () => Promise<number>
}

const isReady = (row: string): boolean => /( ›| :)$/.test(row)

export const withScenes = async (
  scenes: ReadonlyArray<string>,
  options: Options,
  use: (pieces: Pieces) => Promise<void>
): Promise<void> => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-terminal-"))
  const output = Path.join(folder, "over.jsonl")
  Fs.writeFileSync(output, "")
  const over = () => Fs.readFileSync(output, "utf8").split("\n").slice(0, -1).map((line): Over => JSON.parse(line))
  try {
    await withProgram(
      Path.join(import.meta.dirname, "../programs/scenes.ts"),
      { ...options, args: [output, ...scenes] },
      (program) => use(makePieces(program, over))
    )
  } finally {
    Fs.rmSync(folder, { recursive: true })
  }
}

const makePieces = (program: Program, over: () => ReadonlyArray<Over>): Pieces => {
  const rows = () => program.text.split("\n").map((row) => row.trimEnd())
  const isOver = (scene: number) => rows().includes(`-- ${scene} is over --`)
  const afterOthers = () => rows().slice(rows().findLastIndex((row) => /^-- \d+ is over --$/.test(row)) + 1)
  const takesKeys = () => isReady(afterOthers().at(-1) ?? "")
  /** Until nothing was drawn for a moment. */
  const calm = async () => {
    for (let drawn = -1; drawn !== program.raw.length;) {
      drawn = program.raw.length
      await program.changed()
    }
  }
  const answer = async (key: string, orElse: () => boolean) => {
    const before = program.text
    program.type(key)
    await program.until(JSON.stringify(key), () => program.text !== before && (takesKeys() || orElse()))
    // A text is drawn many times.
    if (key.length > 1 && !key.startsWith("\u001b")) await calm()
  }
  const current = () => rows().filter((row) => /^-- \d+ is over --$/.test(row)).length
  return {
    program,
    over,
    resize: (columns, rows) => program.resize(columns, rows),
    resized: async (columns, rows) => {
      const before = program.raw.length
      program.resize(columns, rows)
      await program.until("the new size", () => program.raw.length > before && takesKeys())
    },
    begun: (scene) => program.until(`scene ${scene}`, () => (scene === 0 || isOver(scene - 1)) && takesKeys()),
    calm,
    press: (key) => answer(key, () => false),
    answer: (key) => {
      const scene = current()
      return answer(key, () => isOver(scene) || over().length > scene)
    },
    leave: async (scene) => {
      for (let tries = 0; tries < 10 && !isOver(scene); tries++) {
        const isWhy = afterOthers().findLast((row) => /^(━━|==) /.test(row))?.includes("No. Why not?") === true
        await answer(isWhy ? keys.enter : keys.escape, () => isOver(scene))
      }
    },
    rowsFrom: (row) => {
      const all = rows()
      const from = all.lastIndexOf(row)
      return from < 0 ? all.slice(-24) : all.slice(from)
    },
    lastRows: (count) => rows().slice(-count),
    said: (scenes) => {
      const said = rows().filter((row) => /^[✔✖■]|^ {9}⋮/.test(row))
      const begin = said.flatMap((row, index) => /^[✔✖■]/.test(row) ? [index] : [])
      return said.slice(begin.at(-scenes))
    },
    ended: () => program.ended()
  }
}
