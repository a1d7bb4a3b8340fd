/** Builds the page of `useChat`, with the React and the client of this folder's lock. */
import * as Path from "node:path"
import { build as bundle } from "vite"

export const folder = Path.join(import.meta.dirname, "node_modules/.page")

export const build = async (): Promise<void> => {
  await bundle({
    configFile: false,
    root: Path.join(import.meta.dirname, "page"),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true, target: "esnext", modulePreload: false, minify: false }
  })
}
