/** How wide terminals draw a character, by tables that are not ours. */
import type Headless from "@xterm/headless"

// Unicode 14.0.0, East Asian width: the distance from the last, and how many follow it, to the base of 36.
const ambiguous =
  "4h 3 3-1 2 4 2-4 2-4 2-3 7 a 7-1 6-3 5 2-2 2-1 3 2-1 4-3 2 2 3 g 2 8 b-1 4 6-2 5 7-3 2 4-3 2 5-1 j-1 4 2r 2 2 2 " +
  "2 2 2 2 39 g 2r 3 2-2 2 3 8-3 2 2 4y-g 2-6 8-g 2-6 1k f-1r 2 5hb 3-3 2-1 3-1 3-2 2-3 9 2-1 2 6 3 1i b 2-3 14 2f " +
  "2 4 a 3 b-1 4 5 14-1 7-3 2-b 5-9 g 7-9 v-1 p 2 j p 2-1 4-1 3 4 2 4 5 3-3 3 2 2-5 2 6-3 5-1 b 4 6 e-1 3-3 3-1 3-1 " +
  "j-1 3-1 e 4 c q 2b 9a-3t 2-2o 5-z d-f 3-3 b-1 2-6 9-1 3-1 5-1 3-1 5-2 3 3-3 h-3 a m-1 3 5-1 d 2 y 2 u-1 2-2 2-3 " +
  "2-1 2 1b-1 w 7-7 2-4 2-c 2 5-1 2-6 3 2-3 2-1 2-1 1q 1l-9 rb-3 1db-7 14mm 1blv-a 6-t 3-1l 7-t 2-1 b-h "

const wide =
  "3cw-2n 3i3-1 e-1 5b-3 4 3 ei-1 m-1 1f-b 18 k e 9-1 i-1 6-1 9 6 m 8-1 2 5 3 8 5-1 t 10 2 5-2 2 1q-2 p f nw-1 1g 5 " +
  "mj-p 2-2g d-5x r-b 5-15 5-g 3-2d 5-2s 6-16 2-2l 2-2b d-1a 2-13 9-5f3 1t-h3g 4-1i wq-s hw-8mb 6l9-a5 3-2x mv-9 " +
  "n-y 2-i 2-3 46-2n 3k-6 m4a-3 d-1 f-4qf 9-yd 17-8 6w8-3 2-6 2-1 2-82 1a-2 i-3 9-az c21 5n 5b 3-9 2u-2 e-17 5-8 " +
  "8-1 f-5 4b-w d-8 2-1x 2-l d-16 5-4 d-g 4 4-1y 2 2-56 3-1q e-3 2-n j r-1 e 2f-2c 1d-1x 7 4-2 3-2 6-2 c-1 8-8 6c-b " +
  "5 7w-1a 2-9 2-54 35-4 4-4 4-6 a-s 4-a 6-5 b-9 7-7 9-6 zu-wyn x-37c 8-65 3-4g1 f-5rk 2e8-f1 15v-3t6 "

const read = (ranges: string): (point: number) => boolean => {
  const found = new Set<number>()
  let last = 0
  for (const range of ranges.trim().split(" ")) {
    const [from = "", more = "0"] = range.split("-")
    const begin = last + Number.parseInt(from, 36)
    last = begin + Number.parseInt(more, 36)
    for (let point = begin; point <= last; point++) found.add(point)
  }
  return (point) => found.has(point)
}

const isAmbiguous = read(ambiguous)
const isWide = read(wide)

/**
 * `xterm`: what VS Code has by itself, Unicode 6. `unicode`: with all the emoji of newer ones. `ambiguous`: as in East Asia,
 * where our own signs take two cells.
 */
export type Table = "xterm" | "unicode" | "ambiguous"

export const tables: ReadonlyArray<Table> = ["xterm", "unicode", "ambiguous"]

/** Makes a screen measure by a table. */
export const use = (screen: Headless.Terminal, table: Table): void => {
  if (table === "xterm") return
  const wcwidth = (point: number): 0 | 1 | 2 => {
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return 0
    if (point < 0x7f) return 1
    if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(String.fromCodePoint(point))) return 0
    return isWide(point) || (table === "ambiguous" && isAmbiguous(point)) ? 2 : 1
  }
  screen.unicode.register({
    version: table,
    wcwidth,
    // A width and, in the last bit, whether it stands in the cell of what is before it.
    charProperties: (point, preceding) => {
      const width = wcwidth(point)
      const joins = width === 0 && preceding !== 0
      return joins ? ((preceding >> 1) & 3) << 1 | 1 : width << 1
    }
  })
  screen.unicode.activeVersion = table
}
