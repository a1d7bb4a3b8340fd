/**
 * Loaded before the programs that tests start. Of what such a program takes to begin, a quarter is Node that looks for modules:
 * 600 of Effect and of the sources, each with a look at its file and at every folder above for a package.json. Which modules
 * there are, and what is in them, stays as it is.
 */
import { registerHooks, type ResolveFnOutput } from "node:module"

/** Folders in which all modules are ES modules, and name each other by their files. */
const folders = /^file:.*\/(?:packages\/[\w-]+\/src|node_modules\/effect\/dist)\//

const formats = { ".js": "module", ".ts": "module-typescript" }

const found = new Map<string, ResolveFnOutput>()

registerHooks({
  resolve(specifier, context, next) {
    const folder = folders.exec(context.parentURL ?? "")?.[0]
    if (folder === undefined) return next(specifier, context)
    if (specifier.startsWith(".")) {
      const url = new URL(specifier, context.parentURL).href
      const format = formats[url.slice(-3) as keyof typeof formats]
      return format === undefined ? next(specifier, context) : { url, format, shortCircuit: true }
    }
    // Within a package a name means the same everywhere.
    const key = `${folder} ${specifier}`
    const resolved = found.get(key) ?? { ...next(specifier, context), shortCircuit: true }
    found.set(key, resolved)
    return resolved
  }
})
