/** One simple command of a line. */
export interface Piece {
  /** What stands between this command and the one before it; a newline is `;`. */
  readonly operator: "" | ";" | "&&" | "||" | "|"
  /** The words as the program gets them, without quotes. */
  readonly words: ReadonlyArray<string>
  /** Harmless redirects, without blanks: `2>&1`, `>/dev/null`. */
  readonly redirects: ReadonlyArray<string>
}
