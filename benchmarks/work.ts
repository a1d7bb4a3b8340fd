/** The program that every library runs: what its model says, the tool that it calls, and how it is seen that it did. */

/** What the model calls the tool with, as text: a provider gets it so, and so it is read by each library. */
export const paramsOf = (index: number): string => `{"path":"/tmp/file-${index}.txt","force":true}`

export const question = "Delete the files."

/** What it streams is a text of so many deltas. */
export const storyQuestion = "Tell a story."
export const words: ReadonlyArray<string> = Array.from({ length: 2_000 }, (_, index) => `word ${index} `)

/** What nobody is asked about. */
export const draftQuestion = "Delete the draft."

export const finalText = "Done."
export const denialReason = "Keep it."
export const key = "a key of the benchmark, 32 bytes or more"

/** How often the tool ran, and with what: no library is measured that does nothing. */
export const ran = { count: 0, characters: 0 }

/** The tool. */
export const deleteFile = ({ force, path }: { readonly path: string; readonly force: boolean }) => {
  if (!force) throw new Error("It was called with other parameters than the model's.")
  ran.count++
  ran.characters += path.length
  return { deleted: true }
}

/** Fails where something else was done than what is measured. */
export const expect = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, and it is ${String(actual)}.`)
}

/** Sees that the tool ran so often, with the parameters of the calls from 0 on. */
export const expectRuns = async <A>(operations: number, calls: number, body: () => Promise<A>): Promise<A> => {
  const before = { ...ran }
  const result = await body()
  expect("runs of the tool", ran.count - before.count, operations * calls)
  let characters = 0
  for (let index = 0; index < calls; index++) characters += JSON.parse(paramsOf(index)).path.length
  expect("characters of its parameters", ran.characters - before.characters, operations * characters)
  return result
}
