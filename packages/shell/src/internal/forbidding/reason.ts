/** Why a line may do what is forbidden, as data. */
export interface Reason {
  /**
   * - `Named`: the program, and what else the pattern wants, stands in the line.
   * - `Same`: an act that is known to be the same stands there.
   * - `Text`: a shell or an interpreter is given a text, or a program is given one that it runs.
   * - `Unknown`: which program runs, or with what, is only known by then.
   * - `Unreadable`: nobody can tell what the line, or the pattern, means.
   */
  readonly _tag: "Named" | "Same" | "Text" | "Unknown" | "Unreadable"
  /** The word that it rides on. */
  readonly word: string
}

export const text = (word: string): Reason => ({ _tag: "Text", word })

export const unknown = (word: string): Reason => ({ _tag: "Unknown", word })
