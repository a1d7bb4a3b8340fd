/**
 * What a program weighs in a browser or a worker: the program with everything it imports, tree shaken and minified by
 * vite's own bundler, and how much of it each module is.
 */
import { decode } from "@jridgewell/sourcemap-codec"
import * as Fs from "node:fs"
import { gzipSync } from "node:zlib"
import { build } from "vite"

/** A module of a bundle: what is left of it, in bytes of minified code. */
export interface Part {
  readonly module: string
  readonly bytes: number
}

/** A program's bundle: its bytes as they are sent, and its modules, largest first. */
export interface Bundle {
  readonly gzip: number
  readonly minified: number
  readonly parts: ReadonlyArray<Part>
}

const entry = "\0program"

const read = (file: string): string => Fs.readFileSync(file, "utf8")

/** Bundles a program, whose imports are found from a folder. */
export const bundle = async (folder: string, program: string): Promise<Bundle> => {
  const outcome = await build({
    configFile: false,
    root: folder,
    logLevel: "silent",
    plugins: [{
      name: "program",
      resolveId: (id) => id === "program" ? entry : undefined,
      // With its source map, a file tells of the modules that it was made of.
      load: (id) =>
        id === entry
          ? program
          : Fs.existsSync(`${id}.map`) && !id.includes("/effect/")
          ? { code: read(id), map: read(`${id}.map`) }
          : undefined
    }],
    build: {
      write: false,
      target: "es2023",
      minify: true,
      sourcemap: "hidden",
      modulePreload: false,
      rolldownOptions: { input: "program", output: { format: "es" }, preserveEntrySignatures: "strict" }
    }
  })
  const [output] = [outcome].flat()
  if (output === undefined || !("output" in output)) throw new Error("The bundler gave nothing out.")
  const chunks = output.output.filter((chunk) => chunk.type === "chunk")
  const code = chunks.map((chunk) => chunk.code).join("\n")
  const parts = chunks.flatMap((chunk) => chunk.map === null ? [] : [...bytesBySource(chunk.code, chunk.map)])
  return {
    gzip: gzipSync(code, { level: 9 }).length,
    minified: Buffer.byteLength(code),
    parts: parts
      .map(([source, bytes]) => ({ module: source.replace(/^.*\/(?:node_modules|packages)\//, ""), bytes }))
      .toSorted((one, other) => other.bytes - one.bytes)
  }
}

/** How much of the code comes from each source, which the source map says: up to the next mark, it is the mark's. */
const bytesBySource = (
  code: string,
  map: { readonly mappings: string; readonly sources: ReadonlyArray<string | null> }
): ReadonlyMap<string, number> => {
  const bytes = new Map<string, number>()
  const lines = code.split("\n")
  for (const [index, marks] of decode(map.mappings).entries()) {
    for (const [at, [column, source]] of marks.entries()) {
      const name = map.sources[source ?? -1] ?? ""
      const text = lines[index]?.slice(column, marks[at + 1]?.[0]) ?? ""
      bytes.set(name, (bytes.get(name) ?? 0) + Buffer.byteLength(text))
    }
  }
  return bytes
}
