/**
 * Before `@assent/ai` is packed: writes the JavaScript that is published, in the place of what TypeScript made of each
 * module. What is behind the public modules is put together in few files, because to look for two hundred takes longer
 * than to read them; and each call that is made on loading is marked, for bundlers. Declarations are as they were.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { build } from "vite"
import { markPure } from "./pure.ts"

const root = Path.resolve(import.meta.dirname, "../../ai")
const source = Path.join(root, "src")
const dist = Path.join(root, "dist")

const filesIn = (directory: string): ReadonlyArray<string> =>
  Fs.readdirSync(directory, { recursive: true, encoding: "utf8" }).map((path) => path.split(Path.sep).join("/"))

// An index names whole modules. TypeScript's file does so too, and a bundler's would keep all of each.
const isIndex = (path: string): boolean => /(^|\/)index\./.test(path)

for (const path of filesIn(dist)) {
  if (/\.js(\.map)?$/.test(path) && !isIndex(path)) Fs.rmSync(Path.join(dist, path))
}

const modules = filesIn(source).filter((path) =>
  path.endsWith(".ts") && !path.startsWith("internal/") && !isIndex(path)
)

await build({
  configFile: false,
  root,
  logLevel: "warn",
  plugins: [{
    name: "mark-pure",
    transform: (code, id) => id.startsWith(source) ? { code: markPure(id, code), map: null } : undefined
  }],
  build: {
    outDir: dist,
    emptyOutDir: false,
    target: "es2023",
    minify: false,
    sourcemap: true,
    lib: {
      entry: Object.fromEntries(modules.map((path) => [path.slice(0, -3), Path.join(source, path)])),
      formats: ["es"]
    },
    rolldownOptions: {
      external: /^effect(\/|$)/,
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "internal/[name].js",
        comments: { annotation: true, jsdoc: false, legal: true }
      }
    }
  }
})
