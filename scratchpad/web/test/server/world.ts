/** What a test and the tools of its server tell each other: what has begun and run, and what may go on. */

/** What tools do and wait for. A process of its own has one that sends all this to the test. */
export interface World {
  readonly tell: (event: string) => void
  /** Resolves when the test lets this go on; a test may have done so before. */
  readonly wait: (gate: string) => Promise<void>
}

/** Words that somebody can wait for. */
export class Said {
  readonly all: Array<string> = []
  #waiting: ReadonlyArray<{ readonly word: string; readonly resolve: () => void }> = []

  readonly add = (word: string): void => {
    this.all.push(word)
    const waiting = this.#waiting
    this.#waiting = waiting.filter((one) => one.word !== word)
    for (const one of waiting) if (one.word === word) one.resolve()
  }

  readonly until = (word: string): Promise<void> =>
    this.all.includes(word)
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting = [...this.#waiting, { word, resolve }])
}
