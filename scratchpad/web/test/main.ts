/**
 * `npm run test:browser`: installs what these tests need into this folder, where it is not there yet, finds a browser, and
 * runs them; words pick tests by their titles. Where there is no browser it says that nothing was tested, and ends well.
 */
import * as Os from "node:os"
import * as Path from "node:path"
import { install, run } from "./install.ts"

const here = import.meta.dirname
const root = Path.join(here, "../../..")

const main = async (): Promise<number> => {
  const status = await install(here, "what the browser tests need (130 MB, about ten seconds, once)")
  if (status !== 0) return status
  const { find, NoBrowser } = await import("./browser.ts")
  try {
    await find()
  } catch (error) {
    if (!(error instanceof NoBrowser)) throw error
    console.log(`No browser was found, so the browser tests did NOT run: ${error.message}`)
    return 0
  }
  const words = process.argv.slice(2)
  const ofRoot = (path: string) => Path.join(root, "node_modules", path)
  const [tested, checked] = await Promise.all([
    run(process.execPath, [
      ofRoot("vitest/vitest.mjs"),
      "run",
      "--config",
      Path.join(here, "vitest.config.ts"),
      ...(words.length > 0 ? ["-t", words.join(" ")] : [])
    ]),
    // Without what is installed here, `npm run check` cannot. Nobody waits for it, so it lets the tests go first.
    run(process.execPath, [ofRoot("typescript/bin/tsc"), "-b", here], Os.constants.priority.PRIORITY_LOW)
  ])
  if (checked !== 0) console.error("These tests have errors of types.")
  return tested === 0 ? checked : tested
}

process.exitCode = await main()
