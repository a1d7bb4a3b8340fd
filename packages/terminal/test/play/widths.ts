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
  "oo-1 7-3 8 2 l b2 13-1 1f-1 4 1k-7 s-3 7-a 7j 1p-1 2u-d 1o-1 1e-1 g t-1 2 c-4 w 3-5 6l 9-1 3-1 n 8 2-2 5-1 a-1 " +
  "3-1 5-7 2-3 3 6-1 q-1 4 7-3 3-1 n 8 3 3 3-1 2 6-3 3-1 4-2 2-6 5 2-6 i-9 4 a 4 n 8 3 6-1 b 4 4-1 2-e 5-1 d-6 8 4 " +
  "9-1 3-1 n 8 3 6-1 a-1 3-1 4-6 4-3 3 6-1 j-9 3 7-2 4 5-2 3 2 3-2 3-2 4-2 d-3 6-2 4 5-1 2-5 2-d m-4 e 4 o h-1 a 4 " +
  "5-6 3 4-1 2-1 5-1 b-6 n 4 o b 6-1 a 4 5-6 3-5 3 5-1 b 3-c e 4 1g 4 7-3 h-1 r 4 j-2 p a 2-1 8-2 2-3 7 2 9-5 b-1 " +
  "4-b 1n-3 u-10 3 2 6 p 2 o-1 6 2 7-1 b-1 5-v 21 11-3 14 11 g e-10 5j 2-4 2-1 1d-2n 6i 5-1 8 2 5-1 16 5-1 y 5-1 8 " +
  "2 5-1 g 1m 5-1 1w-1 x-2 r-5 2f-1 7-1 im-2 2i-6 n-8 p-8 l-b e 4 3-b 2n-1 b-5 b-5 r-5 2i-6 18-4 1z-9 w d-3 d-3 2-2 " +
  "17-1 6-a 19-3 r-5 c-2 1r-1 1u u-1 c-5 b-5 f-1 w-1c 26-2 1c 39-7 1p-2 g-2 1p-6 18-1 c-7 18-4 ev-1 7-1 13-1 7-1 9 " +
  "2 2 2 w-1 1i g f-1 7 k-1 4 a 2u d-1 s e-2 y-e y-e 3x-3 az-1 e-1 5b-3 4 3 1g-o c-k bi-1 m-1 1f-b 18 k e 9-1 i-1 " +
  "6-1 9 6 m 8-1 2 5 3 8 5-1 t 10 2 5-2 2 1q-2 p f nw-1 1g 5 v-1 x 9q-4 1a 2-4 2-1 1l-6 3-d p-8 8 8 8 8 8 8 8 8 " +
  "3j-cr 5-g 2-2g 3-bw 9-5f3 1t-h5b 9p-j 55-7 5o-4 3 2 6-n 1o-2 b-5 1l-7 1z-7 d-5 39-a 2-v 27 c-3 y 1k-8 f-1 b-1 " +
  "2w-n t-9 7-1 7-1 7-8 8 8 1p-3 3j-1 b-8mt o-3 1e-3 6ip-e7 8-b 6-4 r 6 2 3 3 3i-f ce-1 1j-6 2-v x-f h-1r 6 3s-1 " +
  "2-2o 2n-2 7-1 7-1 7-1 4-a 8-9 6-1 d r k 3 g-1 f-x 3g-4 4-3 1a-2 2h e-2 2-1a 1b-3l u-2 1e-e t-3 11-8 v-4 18-4 v " +
  "12-3 f-15 4f-1 b-5 11-3 11-3 15-7 1h-a d g 8 3 c g 8 3-1u 8o-8 n-9 9-n 7 17 a-1w 7-1 2 19 3-2 2-1 o 21-7 a-1b k " +
  "3-4 y-2 s-4 2-1r 1l-3 l-1 1f 3-4 9 4 u-1 4-3 b-6 a-6 1t-v 14-3 d-8 1j-2 u-1 s-4 r-6 5-b 8-27 22-1i 1g-c 1g-6 " +
  "1b-7 b-85 w 17 4-1 3-25 15-7 17-l r-11 t-j o-8 27-3 11-8 1x-9 2-1 q-6 b-5 1i j-7 14-8 2p l-a j 19-1s 8 2 5 g c-5 " +
  "1o-4 b-5 5 9-1 3-1 n 8 3 6 b-1 3-1 4-1 2-5 2-4 8-1 8-2 6-3u 2l 6-t 21-7 b-4l 1j-1 13-x 1y-a b-5 e-i 1n-5 b-1h " +
  "s-1 g-3 o-54 1p-2r 2c-b 9-1 2-1 9 3 v 3-1 d-8 b-1x 9-1 1b-1 c-q 21-7 2c-c 22-7a a 1a f-9 u-2 x-1 n f-20 8 3 19-2 " +
  "2 3 a-7 b-5 7 3 12 3 7-6 b-8l q-52 2-e 1f-c po-2t 34 6-a 5h-217 2s-c ts a-346 g8-6ns fu-6 w b-3 2a b-5 v-1 7-9 " +
  "1z-9 b 8 m-4 k-j3 2k-2s 24-3 1m-6 i-1v 2-f16 30-4 e-2 a-6 b-1 9-3mj 1b-1 o-8 39-1n 6v-9 14-1 5f-k 1z-49 l-b 2g-8 " +
  "q-3q 2e 20 3-1 2-1 3-1 5 d 2 8 1u 5-1 9 8 t 5 6 2-2 8 9h-1 85-1 jj-e 6 g-un w-68 8 i-1 8 3 6-5w 1a-2 f-1 b-3 " +
  "3-8v w-g 1n-4 2-yn 8 5 3 g 5i-1 h-14 25-3 b-3 3-ls 1x-23 1q-5d 5 s 3 2-1 2 b 5 2 2-5 2-3 2 2 2 4 3 2-1 2 2 2 2 2 " +
  "3 2-1 5 8 5 5 2 b i-4 4 6 i-1f 3-7h 5 14-3 2t-b g-1 g f-1 12-9 3z 3-9 k-1j r-80 d-8 2-1x 2-l d-16 5-4 d-g 4 4-1y " +
  "2 2-56 3-1q e-3 2-n j r-1 e 2f-2c 1d-1x 7 4-2 3-a c-4 5-b 39-b 2i-12 d-3 1l-7 b-5 15-7 v-1 3-25 d-1a 2-9 2-54 " +
  "2d-b f-41 44 1k-10 "

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
