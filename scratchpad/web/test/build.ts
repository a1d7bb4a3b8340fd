/** Builds, once for all tests, the page of `useChat` and the server that is a process of its own. */
import * as Path from "node:path"
import { build as bundle, type InlineConfig } from "vite"

const built = Path.join(import.meta.dirname, "node_modules/.built")

/** The files of the page. */
export const folder = Path.join(built, "page")

/** A server in one file starts in a quarter of a second, and in two seconds of its sources. */
export const program = Path.join(built, "server/process.js")

export const conditions = ["@assent/source", "node", "import", "module", "default"]

const common: InlineConfig = { configFile: false, logLevel: "error" }

const output = { emptyOutDir: true, target: "esnext", minify: false, modulePreload: false } as const

export const build = async (): Promise<void> => {
  await Promise.all([
    bundle({
      ...common,
      root: Path.join(import.meta.dirname, "page"),
      build: { ...output, outDir: folder }
    }),
    bundle({
      ...common,
      root: import.meta.dirname,
      resolve: { conditions },
      ssr: { noExternal: true, resolve: { conditions } },
      build: { ...output, ssr: "server/process.ts", outDir: Path.dirname(program) }
    })
  ])
}
