/**
 * `npm run docs`: builds the site, after it has installed what that needs. With `--check` a browser then looks at it, with
 * `--screenshots` it takes pictures, with `--serve` it is served until you stop it.
 */
import * as Path from "node:path"
import { install, run } from "../../scratchpad/web/test/install.ts"

const here = import.meta.dirname
const options = new Set(process.argv.slice(2))

const installBrowser = (): Promise<number> =>
  install(Path.join(here, "../../scratchpad/web/test"), "a browser (130 MB, about ten seconds, once)")

const check = async (): Promise<number> => {
  const { find, NoBrowser } = await import("../../scratchpad/web/test/browser.ts")
  const words: Array<string> = []
  try {
    await find()
  } catch (error) {
    if (!(error instanceof NoBrowser)) throw error
    console.log(`No browser was found, so only the files of the site are checked: ${error.message}`)
    words.push("pages")
  }
  const ofRoot = (path: string) => Path.join(here, "../../node_modules", path)
  const tested = await run(process.execPath, [
    ofRoot("vitest/vitest.mjs"),
    "run",
    "--config",
    Path.join(here, "check/vitest.config.ts"),
    ...words
  ])
  // Without what is installed here, `npm run check` cannot.
  const checked = await run(process.execPath, [ofRoot("typescript/bin/tsc"), "-p", here])
  if (checked !== 0) console.error("What builds the site has errors of types.")
  return tested || checked
}

const takeScreenshots = async (): Promise<number> => {
  const { take } = await import("./check/screenshots.ts")
  console.log(`The screenshots are in ${Path.relative(process.cwd(), await take())}.`)
  return 0
}

const main = async (): Promise<number> => {
  const unknown = [...options].filter((option) => !/^--(check|screenshots|serve)$/.test(option))
  if (unknown.length > 0) {
    console.error(`There is no option ${unknown.join(", ")}: only --check, --screenshots and --serve.`)
    return 1
  }
  process.env["ASTRO_TELEMETRY_DISABLED"] = "1"
  const status = await install(here, "what builds the site (230 MB, half a minute, once)") ||
    await run(process.execPath, ["--conditions=@assent/source", Path.join(here, "build/main.ts")])
  if (status !== 0) return status
  if (options.has("--check")) return await installBrowser() || check()
  if (options.has("--screenshots")) return await installBrowser() || takeScreenshots()
  if (options.has("--serve")) {
    const { serve } = await import("./check/served.ts")
    const { address } = await serve(4321)
    console.log(`The site is served at ${address} until you press Ctrl-C.`)
  }
  return 0
}

process.exitCode = await main()
