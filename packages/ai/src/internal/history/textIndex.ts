/**
 * Finds things by a long text of theirs. A `Map` by the text has the runtime hash each text in full once per object
 * that holds it, and in a history that was just read from a database every id is such an object: that took longer than
 * all else that reading does. A few characters tell most ids apart, and one comparison confirms it.
 */
export class TextIndex<A extends object> {
  // Those whose few characters are the same stand in a map by their text, so that nobody can make this slow.
  private readonly buckets = new Map<number, A | Map<string, A>>()
  private readonly textOf: (one: A) => string

  constructor(textOf: (one: A) => string) {
    this.textOf = textOf
  }

  get(text: string): A | undefined {
    const bucket = this.buckets.get(fewCharacters(text))
    if (bucket instanceof Map) return bucket.get(text)
    return bucket !== undefined && this.textOf(bucket) === text ? bucket : undefined
  }

  /** Takes the place of what has the same text. */
  set(one: A): void {
    const key = fewCharacters(this.textOf(one))
    const bucket = this.buckets.get(key)
    if (bucket instanceof Map) bucket.set(this.textOf(one), one)
    else if (bucket === undefined || this.textOf(bucket) === this.textOf(one)) this.buckets.set(key, one)
    else this.buckets.set(key, new Map([[this.textOf(bucket), bucket], [this.textOf(one), one]]))
  }
}

// Four of each end: ids begin with a counter or a time, or they end with something random.
const fewCharacters = (text: string): number => {
  const last = text.length - 1
  let hash = last
  for (let i = 0; i < 4; i++) {
    hash = Math.imul(hash, 31) + text.charCodeAt(Math.min(i, last))
    hash = Math.imul(hash, 31) + text.charCodeAt(Math.max(last - i, 0))
  }
  return hash | 0
}
