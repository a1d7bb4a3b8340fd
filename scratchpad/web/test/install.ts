/** Installs what a folder outside of the workspaces needs, where it is not there yet: nobody pays for it who does not use it. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "../../..")

export const run = (command: string, args: ReadonlyArray<string>, priority?: number): Promise<number> =>
  new Promise((resolve, reject) => {
    // npm of Windows is a script of its shell.
    const shell = process.platform === "win32" && command === "npm"
    const child = ChildProcess.spawn(command, args, { cwd: root, stdio: "inherit", shell })
      .once("error", reject)
      .once("exit", (code) => resolve(code ?? 1))
    if (child.pid !== undefined && priority !== undefined) Os.setPriority(child.pid, priority)
  })

/** `what` says what is installed, and how long it takes. Gives npm's status. */
export const install = async (folder: string, what: string): Promise<number> => {
  const lock = Fs.readFileSync(Path.join(folder, "package-lock.json"), "utf8")
  // What npm has installed, it says in this file; it is as old as the lock that it was installed from.
  const installed = Path.join(folder, "node_modules/.lock")
  if (Fs.existsSync(installed) && Fs.readFileSync(installed, "utf8") === lock) return 0
  console.log(`Installing ${what} …`)
  const status = await run("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"])
  if (status === 0) Fs.writeFileSync(installed, lock)
  return status
}
