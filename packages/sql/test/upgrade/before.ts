/** The source of this repository as it was at a commit, in a folder of its own, from which processes can be started. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

export interface Before {
  readonly folder: string
  /** The path of a program of this folder there, as it is today. */
  readonly programAt: (program: string) => string
  readonly remove: () => void
}

const root = Path.join(import.meta.dirname, "../../../..")

const git = (...args: ReadonlyArray<string>) =>
  ChildProcess.spawnSync("git", args, { cwd: root, maxBuffer: 1_000_000_000 })

/** What a commit is called, or why it cannot be had, such as in a checkout without history. */
export const nameOf = (commit: string): { readonly name: string } | { readonly missing: string } => {
  const { status, stderr, stdout } = git("log", "-1", "--format=%h %s", `${commit}^{commit}`)
  return status === 0
    ? { name: stdout.toString().trim() }
    : { missing: stderr?.toString().split("\n")[0] || "There is no git here" }
}

/** What is installed here is there too, but for the packages of this repository, which are its own. */
const link = (folder: string): void => {
  const installed = Path.join(root, "node_modules")
  const linked = Path.join(folder, "node_modules")
  Fs.mkdirSync(Path.join(linked, "@assent"), { recursive: true })
  for (const name of Fs.readdirSync(installed)) {
    if (name !== "@assent") Fs.symlinkSync(Path.join(installed, name), Path.join(linked, name))
  }
  for (const name of Fs.readdirSync(Path.join(folder, "packages"))) {
    Fs.symlinkSync(Path.join(folder, "packages", name), Path.join(linked, "@assent", name))
  }
}

export const make = (commit: string): Before => {
  const folder = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-before-")))
  const archive = git("archive", commit, "packages")
  const unpacked = ChildProcess.spawnSync("tar", ["-x", "-C", folder], { input: archive.stdout })
  if (archive.status !== 0 || unpacked.status !== 0) throw new Error(`${commit} cannot be unpacked: ${archive.stderr}`)
  Fs.writeFileSync(Path.join(folder, "package.json"), `{"type":"module"}`)
  link(folder)
  const own = Path.relative(root, import.meta.dirname)
  return {
    folder,
    programAt: (program) => {
      const path = Path.join(folder, own, "programs", program)
      Fs.mkdirSync(Path.dirname(path), { recursive: true })
      Fs.copyFileSync(Path.join(import.meta.dirname, "programs", program), path)
      return path
    },
    remove: () => Fs.rmSync(folder, { recursive: true, force: true })
  }
}
