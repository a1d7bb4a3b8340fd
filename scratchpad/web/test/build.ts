/** Builds, once for all tests, the page of `useChat` and the server that is a process of its own. */
import { createHash } from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { InlineConfig } from "vite"
import type * as Start from "./server/start.ts"

const root = Path.join(import.meta.dirname, "../../..")

const built = Path.join(import.meta.dirname, "node_modules/.built")

/** The files of the page. */
export const folder = Path.join(built, "page")

const servers = Path.join(built, "server")

/** What Node has compiled, for the next time. */
export const compiled = Path.join(built, "compiled")

/** A server in one file starts in a quarter of a second, and in two seconds of its sources. */
export const program = Path.join(servers, "process.js")

/** The same, in the process of the tests. */
export const importStart = (): Promise<typeof Start> => import(Path.join(servers, "start.js"))

export const conditions = ["@assent/source", "node", "import", "module", "default"]

const common: InlineConfig = { configFile: false, logLevel: "error" }

const output = { emptyOutDir: true, target: "esnext", modulePreload: false, reportCompressedSize: false } as const

const bundle = async (): Promise<void> => {
  // It is read only where something is to be built.
  const { build } = await import("vite")
  await Promise.all([
    build({
      ...common,
      root: Path.join(import.meta.dirname, "page"),
      build: { ...output, outDir: folder }
    }),
    build({
      ...common,
      root: import.meta.dirname,
      resolve: { conditions },
      ssr: { noExternal: true, resolve: { conditions } },
      build: {
        ...output,
        minify: false,
        ssr: true,
        outDir: servers,
        rolldownOptions: { input: ["server/process.ts", "server/start.ts"] }
      }
    })
  ])
}

/** Every file that can go in, and the versions of what npm has installed. */
const sources = (): ReadonlyArray<string> => {
  const filesIn = (folder: string) =>
    Fs.readdirSync(folder, { recursive: true, withFileTypes: true })
      .flatMap((entry) => entry.isFile() ? [Path.join(entry.parentPath, entry.name)] : [])
  const packages = Path.join(root, "packages")
  return [
    ...Fs.readdirSync(packages).flatMap((name) => [
      Path.join(packages, name, "package.json"),
      ...filesIn(Path.join(packages, name, "src"))
    ]),
    ...filesIn(Path.join(import.meta.dirname, "page")),
    ...filesIn(Path.join(import.meta.dirname, "server")),
    import.meta.filename,
    Path.join(root, "node_modules/.package-lock.json"),
    Path.join(import.meta.dirname, "node_modules/.package-lock.json")
  ].filter((file) => Fs.existsSync(file))
}

const hash = (files: ReadonlyArray<string>): string => {
  const hashing = createHash("sha256")
  for (const file of files.toSorted()) {
    const bytes = Fs.readFileSync(file)
    hashing.update(`${Path.relative(root, file)}\n${bytes.length}\n`).update(bytes)
  }
  return hashing.digest("hex")
}

/** Says what is built there. */
const label = Path.join(built, "sources.sha256")

/** Builds nothing where it is built of the same files. */
export const build = async (): Promise<void> => {
  const current = hash(sources())
  if (Fs.existsSync(label) && Fs.readFileSync(label, "utf8") === current) return
  Fs.rmSync(label, { force: true })
  await bundle()
  Fs.writeFileSync(label, current)
}
