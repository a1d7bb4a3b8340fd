/** Programs and packages written for a test beside the tests, where they find `effect`; not in git. */
import * as Fs from "node:fs"
import * as Path from "node:path"

const folder = Path.join(import.meta.dirname, "generated")

let examples = 0

/** A second copy of this package's sources; gives the path of its index. */
export const copyOfSources = (): string => {
  const copy = Path.join(folder, `copy-${process.pid}`)
  Fs.cpSync(Path.join(import.meta.dirname, "../../src"), copy, { recursive: true })
  return Path.join(copy, "index.ts")
}

/** One of effect's examples, with other imports and tools that need approval; gives its path. */
export const example = (name: string, changes: ReadonlyArray<readonly [from: string, to: string]>): string => {
  const docs = Path.join(import.meta.dirname, "../../../../node_modules/effect/ai-docs/src/71_ai")
  let text = Fs.readFileSync(Path.join(docs, `${name}.ts`), "utf8").replaceAll("./fixtures/", `${docs}/fixtures/`)
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${name}.ts has no ${from}`)
    text = text.replaceAll(from, to)
  }
  // A module is loaded once by its path.
  const file = Path.join(folder, `example-${process.pid}-${++examples}-${name}.ts`)
  Fs.mkdirSync(folder, { recursive: true })
  Fs.writeFileSync(file, text)
  return file
}

export const remove = (path: string): void => Fs.rmSync(path, { recursive: true, force: true })
