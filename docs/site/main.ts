/**
 * `npm run docs`: builds the site, after it has installed what that needs. With `--check` a browser then looks at it, with
 * `--serve` it is served until you stop it.
 */
import * as Path from "node:path"
import { install, run } from "../../scratchpad/web/test/install.ts"

const here = import.meta.dirname
const options = new Set(process.argv.slice(2))

const check = async (): Promise<number> => {
  const browser = Path.join(here, "../../scratchpad/web/test")
  const status = await install(browser, "a browser (130 MB, about ten seconds, once)")
  if (status !== 0) return status
  const vitest = Path.join(here, "../../node_modules/vitest/vitest.mjs")
  return run(process.execPath, [vitest, "run", "--config", Path.join(here, "check/vitest.config.ts")])
}

const main = async (): Promise<number> => {
  const unknown = [...options].filter((option) => option !== "--check" && option !== "--serve")
  if (unknown.length > 0) {
    console.error(`There is no option ${unknown.join(", ")}: only --check and --serve.`)
    return 1
  }
  process.env["ASTRO_TELEMETRY_DISABLED"] = "1"
  const status = await install(here, "what builds the site (230 MB, half a minute, once)") ||
    await run(process.execPath, ["--conditions=@assent/source", Path.join(here, "build/main.ts")])
  if (status !== 0) return status
  if (options.has("--check")) return check()
  if (options.has("--serve")) {
    const { serve } = await import("./check/served.ts")
    console.log(`The site is served at ${await serve(4321)} until you press Ctrl-C.`)
  }
  return 0
}

process.exitCode = await main()
