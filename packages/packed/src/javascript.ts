/**
 * Before `@assent/ai` is packed: writes the JavaScript that is published in the place of TypeScript's, beside its
 * declarations. What is behind the public modules is put together in few files, because to look for two hundred takes longer
 * than to read them; and each call that is made on loading is marked, for bundlers. After that `postpack` forgets what
 * TypeScript knows of the folder, which would write no more than what has changed beside these.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { build, transformWithOxc } from "vite"
import { markPure } from "./pure.ts"

const root = Path.resolve(import.meta.dirname, "../../ai")
const source = Path.join(root, "src")
const dist = Path.join(root, "dist")

const filesIn = (directory: string): ReadonlyArray<string> =>
  Fs.readdirSync(directory, { recursive: true, encoding: "utf8" }).map((path) => path.split(Path.sep).join("/"))

// An index names whole modules: that a bundler cannot put together without keeping all of each.
const isIndex = (path: string): boolean => /(^|\/)index\./.test(path)

for (const path of filesIn(dist)) {
  if (/\.js(\.map)?$/.test(path)) Fs.rmSync(Path.join(dist, path))
}

for (const path of filesIn(source).filter(isIndex)) {
  const { code } = await transformWithOxc(Fs.readFileSync(Path.join(source, path), "utf8"), path)
  Fs.writeFileSync(
    Path.join(dist, path.replace(/\.ts$/, ".js")),
    code.replaceAll(/(?<=^export .* from "\..*)\.ts"/gm, ".js\"")
  )
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
