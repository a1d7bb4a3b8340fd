/** What a specification requires, and which tests show it: the form of the tables beside this. */

/** Tests of one file, by their titles as they stand in the source; `…` is what a title is given when it runs. */
export interface Shown {
  /** Below `packages/ai/test`, or below another package's: `terminal:stories`. */
  readonly file: string
  readonly titles: ReadonlyArray<string>
}

export interface Requirement {
  /** The section of the specification, and the place in it. */
  readonly number: string
  readonly says: string
  /** What happens instead, on purpose, and why; the tests show that. */
  readonly differs?: string
  readonly tests: ReadonlyArray<Shown>
}

export interface Specification {
  readonly name: string
  readonly requirements: ReadonlyArray<Requirement>
}

export const inFile = (file: string, ...titles: ReadonlyArray<string>): Shown => ({ file, titles })

export const must = (number: string, says: string, ...tests: ReadonlyArray<Shown>): Requirement => ({
  number,
  says,
  tests
})

/** What happens instead of what the specification says. */
export const instead = (
  number: string,
  says: string,
  differs: string,
  ...tests: ReadonlyArray<Shown>
): Requirement => ({ number, says, differs, tests })
