/**
 * The mutants of every package, from Stryker's instrumenter, and a sample of them: so many of each wing, drawn by a seed.
 */
import { type File, Instrumenter } from "@stryker-mutator/instrumenter"
import * as Arr from "effect/Array"
import * as Fs from "node:fs"
import * as Path from "node:path"

export const root = Path.join(import.meta.dirname, "../../../..")

export interface Mutant {
  readonly id: string
  readonly wing: string
  /** From the root of the workspace. */
  readonly path: string
  readonly line: number
  readonly mutator: string
  readonly original: string
  readonly replacement: string
}

const silent = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {}
}

/** A wing of the engine, its public modules, what stands beside the wings, or another package as a whole. */
export const wingOf = (path: string): string => {
  const [, name, , ...rest] = path.split("/")
  if (name !== "ai") return name ?? path
  if (rest[0] !== "internal") return rest[0] === "testing" ? "ai testing" : "ai public"
  return rest.length === 3 ? `ai ${rest[1]}` : "ai ground"
}

const published = ["ai", "ai-sdk", "openai", "shell", "sql", "terminal", "web"]

const sources = (): ReadonlyArray<string> =>
  published.flatMap((name) =>
    Fs.readdirSync(Path.join(root, "packages", name, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => `packages/${name}/src/${path.replaceAll("\\", "/")}`)
  ).toSorted()

interface Place {
  readonly start: { readonly line: number; readonly column: number }
  readonly end: { readonly line: number; readonly column: number }
}

const instrument = (files: ReadonlyArray<readonly [path: string, mutate: true | ReadonlyArray<Place>]>) =>
  new Instrumenter(silent).instrument(
    files.map(([name, mutate]): File => ({
      name,
      mutate: mutate === true ? true : [...mutate],
      content: Fs.readFileSync(Path.join(root, name), "utf8")
    })),
    { plugins: null, excludedMutations: [], ignorers: [] }
  )

const textAt = (lines: ReadonlyArray<string>, { end, start }: Place): string =>
  lines.slice(start.line, end.line + 1).map((line, index) =>
    line.slice(index === 0 ? start.column : 0, index === end.line - start.line ? end.column : undefined)
  ).join("\n")

const keyOf = (mutant: { fileName: string; location: Place; mutatorName: string; replacement?: string }): string =>
  JSON.stringify([mutant.fileName, mutant.location, mutant.mutatorName, mutant.replacement])

/** Numbers from a seed (mulberry32): the same sample again for the same seed and sources. */
const numbers = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
}

const draw = <A>(all: ReadonlyArray<A>, count: number, next: () => number): ReadonlyArray<A> =>
  all.map((value) => ({ value, rank: next() })).toSorted((left, right) => left.rank - right.rank)
    .slice(0, count).map(({ value }) => value)

export interface Sample {
  readonly mutants: ReadonlyArray<Mutant>
  /** How many mutants each wing has in all. */
  readonly population: ReadonlyMap<string, number>
  /** The sources with the sample's mutants in them, each switched off. */
  readonly files: ReadonlyMap<string, string>
}

/** `count` mutants of each wing whose name contains one of `words` (all wings without words). */
export const sample = async (options: {
  readonly count: number
  readonly seed: number
  readonly words: ReadonlyArray<string>
}): Promise<Sample> => {
  const wanted = (path: string) =>
    options.words.length === 0 || options.words.some((word) => wingOf(path).includes(word) || path.includes(word))
  const every = (await instrument(sources().filter(wanted).map((path) => [path, true]))).mutants
  const wings = Object.entries(Arr.groupBy(every, ({ fileName }) => wingOf(fileName)))
  const next = numbers(options.seed)
  const drawn = wings.flatMap(([, all]) => draw(all, options.count, next))
  const keys = new Set(drawn.map(keyOf))
  const places = Object.entries(Arr.groupBy(drawn, ({ fileName }) => fileName))
  const chosen = await instrument(places.map(([path, of]) => [path, of.map(({ location }) => location)]))
  const lines = new Map(
    places.map(([path]) => [path, Fs.readFileSync(Path.join(root, path), "utf8").split("\n")] as const)
  )
  return {
    population: new Map(wings.map(([wing, of]) => [wing, of.length])),
    files: new Map(chosen.files.map(({ content, name }) => [name, content])),
    mutants: chosen.mutants.filter((mutant) => keys.has(keyOf(mutant))).map((mutant) => ({
      id: mutant.id,
      wing: wingOf(mutant.fileName),
      path: mutant.fileName,
      line: mutant.location.start.line + 1,
      mutator: mutant.mutatorName,
      original: textAt(lines.get(mutant.fileName) ?? [], mutant.location),
      replacement: mutant.replacement ?? ""
    }))
  }
}
