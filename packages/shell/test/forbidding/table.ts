/** A line, and why it is refused or not where a pattern is forbidden. */
export type Table = ReadonlyArray<readonly [line: string, reason: string]>

export interface Rows {
  readonly pattern: string
  readonly refused: Table
  readonly let: Table
}
