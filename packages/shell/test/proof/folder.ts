/**
 * The folder in which the proofs let programs run: files, a repository with changes that are staged, not staged and not
 * known, and beside it a secret that nobody has to read and a home of its own.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

export interface Folder {
  readonly base: string
  /** Where programs are started. */
  readonly work: string
  readonly environment: Readonly<Record<string, string>>
  readonly reset: () => void
  readonly remove: () => void
}

/** Files whose names look like options, or like other words, are there on purpose. */
const files: Readonly<Record<string, string>> = {
  "a.txt": "b\na\nfoo 1\nfoo 2\n",
  "b.txt": "b\na\nfoo 1\nbar 2\n",
  "c.ts": "export const foo = 1\n",
  "data.json": "{\"scripts\":{\"test\":\"x\"},\"list\":[1,2]}\n",
  "dump.hex": "00000000: 666f 6f0a                                foo.\n",
  encoded: "Zm9vCg==\n",
  "many.txt": Array.from({ length: 200 }, (_, line) => `${line % 7} line ${line}\n`).join(""),
  "patterns": "foo\nbar\n",
  "src/d.ts": "export function foo() {\n  return 1\n}\n",
  "src/deep/e.txt": "foo\n",
  "--pre=evil": "foo\n",
  ".gitignore": "ignored.txt\n",
  "ignored.txt": "foo\n"
}

/** A place of its own for `script`, which is run by bash with git there. */
export const make = (): Folder => {
  const base = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-proof-")))
  const [work, fresh, home] = ["work", "fresh", "home"].map((name) => Path.join(base, name)) as [string, string, string]
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com",
    GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
    GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z"
  }
  Fs.mkdirSync(home)
  Fs.mkdirSync(Path.join(base, "outside"))
  Fs.writeFileSync(Path.join(base, "outside/secret"), "secret\n")
  for (const [name, text] of Object.entries(files)) {
    Fs.mkdirSync(Path.dirname(Path.join(fresh, name)), { recursive: true })
    Fs.writeFileSync(Path.join(fresh, name), text)
  }
  Fs.symlinkSync("../outside/secret", Path.join(fresh, "link"))
  const made = ChildProcess.spawnSync("bash", ["-euc", script], {
    cwd: fresh,
    env: environment,
    encoding: "utf8",
    // With a socket for its input, bash reads startup files.
    stdio: ["ignore", "pipe", "pipe"]
  })
  if (made.status !== 0) throw new Error(`The folder could not be made: ${made.error ?? made.stderr}`)
  const reset = () => {
    Fs.rmSync(work, { recursive: true, force: true })
    Fs.cpSync(fresh, work, { recursive: true, verbatimSymlinks: true })
  }
  reset()
  return { base, work, environment, reset, remove: () => Fs.rmSync(base, { recursive: true, force: true }) }
}

const script = `
  tar -czf archive.tgz src; tar -cjf archive.tbz src; tar -cJf archive.txz src
  git config --global user.name a
  git init -q --template= -b main
  git config user.name a
  git add .
  git commit -qm one
  git tag v1
  git tag -am two v2
  git checkout -q -b dev
  echo dev >> b.txt
  git commit -qam dev
  git checkout -q main
  echo more >> c.ts
  git commit -qam two
  git remote add origin ../outside/origin
  git update-ref refs/remotes/origin/main HEAD
  git config branch.main.remote origin
  git config branch.main.merge refs/heads/main
  git notes add -m note
  echo stashed >> a.txt
  git stash -q
  echo changed >> a.txt
  echo staged >> src/d.ts
  git add src/d.ts
  echo new > new.txt
`
