/** Numbers as people read them. */

/** `1200` as `1,200`. */
export const counted = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",")

/** The lines of a text; a line break at its end begins none. */
export const linesOf = (text: string): ReadonlyArray<string> => text.replace(/\n$/, "").split("\n")

/** `1 line`, `2 lines`. */
export const many = (count: number, what: string): string => `${counted(count)} ${what}${count === 1 ? "" : "s"}`
