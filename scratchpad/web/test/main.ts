/**
 * `npm run test:browser`: installs what these tests need into this folder, where it is not there yet, finds a browser, and
 * runs them; words pick tests by their titles. Where there is no browser it says that nothing was tested, and ends well.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const here = import.meta.dirname
const root = Path.join(here, "../../..")

/** What npm has installed here, it says in this file; it is as old as the lock that it was installed from. */
const installed = Path.join(here, "node_modules/.lock")

const run = (command: string, args: ReadonlyArray<string>, priority?: number): Promise<number> =>
  new Promise((resolve, reject) => {
    // npm of Windows is a script of its shell.
    const shell = process.platform === "win32" && command === "npm"
    const child = ChildProcess.spawn(command, args, { cwd: root, stdio: "inherit", shell })
      .once("error", reject)
      .once("exit", (code) => resolve(code ?? 1))
    if (child.pid !== undefined && priority !== undefined) Os.setPriority(child.pid, priority)
  })

const install = async (): Promise<number> => {
  const lock = Fs.readFileSync(Path.join(here, "package-lock.json"), "utf8")
  if (Fs.existsSync(installed) && Fs.readFileSync(installed, "utf8") === lock) return 0
  console.log("Installing what the browser tests need (130 MB, about ten seconds, once) …")
  const status = await run("npm", ["ci", "--prefix", here, "--no-audit", "--no-fund", "--loglevel=error"])
  if (status === 0) Fs.writeFileSync(installed, lock)
  return status
}

const main = async (): Promise<number> => {
  const status = await install()
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
