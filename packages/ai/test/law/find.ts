/** Which test files have a test of a law: those that name it, comments aside, or have their titles from a module that does. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { parse } from "../source.ts"

export const root = Path.join(import.meta.dirname, "../../../..")

/** The laws, from the page that promises them. */
export const laws: ReadonlyArray<string> = [
  ...Fs.readFileSync(Path.join(root, "docs/the-laws.md"), "utf8").matchAll(/^## (L\d+) /gm)
].map(([, law = ""]) => law)

/** Finds the laws in a title. `L4-edits` and `L4.test.ts` are names of files. */
export const named = (...laws: ReadonlyArray<string>): RegExp =>
  new RegExp(String.raw`(?<![\w-])(?:${laws.join("|")})(?![\w-]|\.\w)`)

const withoutComments = (file: string, source: string): string =>
  parse(file, source).comments.reduceRight((text, { end, start }) => text.slice(0, start) + text.slice(end), source)

/** Whether a module names the law anywhere but in a comment. */
export const names = (law: RegExp, file: string, source: string): boolean =>
  law.test(source) && law.test(withoutComments(file, source))

const read = (path: string): string => Fs.readFileSync(Path.join(root, path), "utf8")

/** A file and what it imports of its own folder, and so on: a test may have its titles from a table beside it. */
const beside = (path: string, seen: Set<string>): ReadonlySet<string> => {
  if (seen.has(path) || !Fs.existsSync(Path.join(root, path))) return seen
  seen.add(path)
  for (const [, name = ""] of read(path).matchAll(/ from "\.\/([\w.-]+\.ts)"$/gm)) {
    beside(Path.posix.join(Path.posix.dirname(path), name), seen)
  }
  return seen
}

/** The test files that `npm test` would run, by their paths below the root. */
const testFiles = (): ReadonlyArray<string> =>
  Fs.readdirSync(Path.join(root, "packages")).flatMap((name) => {
    const tests = Path.join(root, "packages", name, "test")
    return Fs.existsSync(tests)
      ? Fs.readdirSync(tests, { recursive: true, encoding: "utf8" })
        .map((path) => Path.posix.join("packages", name, "test", path.replaceAll(Path.sep, "/")))
        .filter((path) => path.endsWith(".test.ts") && !/\/(?:node_modules|generated|postgres)\//.test(path))
      : []
  }).toSorted()

/** For each law the test files that name it. */
export const find = (): ReadonlyMap<string, ReadonlyArray<string>> => {
  const known = new Map<string, ReadonlyArray<string>>()
  const namedIn = (path: string): ReadonlyArray<string> => {
    const before = known.get(path)
    if (before !== undefined) return before
    const source = read(path)
    const found = laws.filter((law) => names(named(law), path, source))
    known.set(path, found)
    return found
  }
  const files = testFiles().map((path) => ({ path, named: new Set([...beside(path, new Set())].flatMap(namedIn)) }))
  return new Map(laws.map((law) => [law, files.filter(({ named }) => named.has(law)).map(({ path }) => path)]))
}
