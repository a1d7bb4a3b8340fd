/** How wide terminals draw each code point: their own tables, in `terminals.txt`, which says where they are from. */
import Headless from "@xterm/headless"
import * as Fs from "node:fs"
import * as Path from "node:path"

export interface Terminal {
  readonly name: string
  /** Of each code point: 0, 1 or 2, or 3 for one that is 1 or 2 as the terminal is set. */
  readonly widths: Uint8Array
}

const read = (runs: string): Uint8Array => {
  const widths = new Uint8Array(0x110000)
  let at = 0
  for (const run of runs.trim().split(" ")) {
    const end = at + Number.parseInt(run.slice(1), 36)
    widths.fill(Number(run[0]), at, end)
    at = end
  }
  if (at !== widths.length) throw new Error(`A table ends at ${at}.`)
  return widths
}

export const terminals: ReadonlyArray<Terminal> = Fs.readFileSync(
  Path.join(import.meta.dirname, "terminals.txt"),
  "utf8"
).trim().split("\n").slice(2).map((line) => {
  const [name, , runs] = line.split(" | ")
  return { name: name!, widths: read(runs!) }
})

/** Lets a screen draw by a terminal's table. */
export const drawBy = (screen: Headless.Terminal, { name, widths }: Terminal, ambiguous: 1 | 2): void => {
  const wcwidth = (code: number): 0 | 1 | 2 => {
    const width = widths[code]!
    return width === 3 ? ambiguous : width === 0 ? 0 : width === 1 ? 1 : 2
  }
  screen.unicode.register({
    version: name,
    wcwidth,
    // What has no width is drawn on what stands before it.
    charProperties: (code, preceding) => {
      const before = (preceding >> 1) & 3
      const joins = wcwidth(code) === 0 && before > 0
      return ((joins ? before : wcwidth(code)) << 1) | (joins ? 1 : 0)
    }
  })
  screen.unicode.activeVersion = name
}

export const screenOf = (terminal: Terminal, ambiguous: 1 | 2, columns: number, rows: number) => {
  const screen = new Headless.Terminal({ cols: columns, rows, scrollback: 2_000, allowProposedApi: true })
  drawBy(screen, terminal, ambiguous)
  return screen
}
