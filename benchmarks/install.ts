/** Installs the libraries into this folder, where they are not there yet. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"

const here = import.meta.dirname

/** What npm has installed here, it says in this file; it is as old as the lock that it was installed from. */
const installed = Path.join(here, "node_modules/.lock")

/** With the Node that runs this, and not whichever is in PATH: what is built is built for it. */
const env = {
  ...process.env,
  PATH: [Path.dirname(process.execPath), process.env["PATH"]].join(Path.delimiter)
}

const npm = (args: ReadonlyArray<string>, more?: NodeJS.ProcessEnv): number => {
  const { error, status } = ChildProcess.spawnSync("npm", [...args, "--prefix", here, "--loglevel=error"], {
    cwd: here,
    // What npm says does not belong into what this program gives out.
    stdio: ["ignore", 2, 2],
    env: { ...env, ...more },
    // npm of Windows is a script of its shell.
    shell: process.platform === "win32"
  })
  if (error !== undefined) throw error
  return status ?? 1
}

/** Its headers, which npm has brought with it: with them it is built where it cannot be fetched. */
const headers = Path.join(here, "../node_modules", `node-${process.platform}-${process.arch}`)

/** Gives the status of npm. */
export const install = (): number => {
  const lock = Fs.readFileSync(Path.join(here, "package-lock.json"), "utf8")
  if (Fs.existsSync(installed) && Fs.readFileSync(installed, "utf8") === lock) return 0
  console.error("Installing the libraries that Assent is measured beside (320 MB, a minute, once) …")
  const status = npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
  if (status !== 0) return status
  const found = Fs.existsSync(Path.join(headers, "include/node")) ? { npm_config_nodedir: headers } : {}
  if (npm(["rebuild", "better-sqlite3"], found) !== 0) {
    console.error("better-sqlite3 can neither be fetched nor built here, so that nothing will be measured beside it.")
  }
  Fs.writeFileSync(installed, lock)
  return 0
}
