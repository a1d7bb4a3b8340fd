/**
 * Folders whose settings name programs wherever git and ripgrep take any. Each such program writes its name into a file,
 * so that a test sees which of them a line ran.
 */
import * as Pty from "@lydell/node-pty"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

/** What can be named, in the order of the tables that show it. */
export const names = [
  "fsmonitor",
  "hook",
  "clean filter",
  "smudge filter",
  "external diff",
  "textconv",
  "gpg",
  "fetch",
  "pager",
  "rg --pre",
  "writes elsewhere",
  "other"
] as const
export type Name = typeof names[number]

export interface Where {
  readonly folders: ReadonlyArray<string>
  readonly atTerminal?: true
  /** What the line is followed by, to see what it did. */
  readonly then?: string
}

export interface Hostile {
  /** Which programs of the folders each line runs, in one of them at least, each time as they were. */
  readonly runs: (
    lines: ReadonlyArray<string>,
    environment: Readonly<Record<string, string>>,
    where?: Where
  ) => Promise<ReadonlyArray<ReadonlyArray<Name>>>
  readonly remove: () => void
}

/** Settings that name a program. */
const settings: ReadonlyArray<readonly [setting: string, name: Name]> = [
  ["core.fsmonitor", "fsmonitor"],
  ["filter.f.clean", "clean filter"],
  ["filter.f.smudge", "smudge filter"],
  ["diff.external", "external diff"],
  ["diff.command.command", "external diff"],
  ["diff.text.textconv", "textconv"],
  ["gpg.program", "gpg"],
  ["gpg.openpgp.program", "gpg"],
  ["gpg.ssh.program", "gpg"],
  ["gpg.ssh.defaultKeyCommand", "gpg"],
  ["remote.origin.uploadpack", "fetch"],
  ["core.sshCommand", "fetch"],
  ["core.pager", "pager"],
  ["pager.log", "pager"],
  ["core.editor", "other"],
  ["sequence.editor", "other"],
  ["core.askPass", "other"],
  ["core.alternateRefsCommand", "other"],
  ["credential.helper", "other"],
  ["interactive.diffFilter", "other"],
  ["merge.m.driver", "other"],
  ["trailer.t.command", "other"],
  ["alias.log", "other"],
  ["alias.status", "other"]
]

/** What makes git run them. */
const values = (hooks: string): ReadonlyArray<readonly [setting: string, value: string]> => [
  ["core.hooksPath", hooks],
  ["commit.gpgSign", "true"],
  ["log.showSignature", "true"],
  ["format.pretty", "%h %G?"],
  ["remote.origin.url", "ssh://nowhere.invalid/x"],
  ["column.ui", "always"],
  ["maintenance.auto", "true"]
]

/** A setting as a file of settings has it. */
const written = (setting: string, value: string): string => {
  const [section, ...names] = setting.split(".")
  const name = names.pop()!
  return `[${section}${names.length === 0 ? "" : ` "${names.join(".")}"`}]\n\t${name} = "${value}"\n`
}

const hooks = [
  "commit-msg",
  "post-checkout",
  "post-commit",
  "post-index-change",
  "pre-auto-gc",
  "pre-commit",
  "prepare-commit-msg",
  "reference-transaction"
]

export const make = (): Hostile => {
  const base = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-hostile-")))
  const at = (...names: ReadonlyArray<string>) => Path.join(base, ...names)
  for (const folder of ["home", "path", "programs", "fresh", "runs"]) Fs.mkdirSync(at(folder))
  const program = (name: Name) => at("programs", name.replaceAll(/\W+/g, "-"))
  for (const name of names) {
    const passesOn = /filter/.test(name) ? "cat" : /textconv|pre/.test(name) ? "cat \"$1\"" : "true"
    Fs.writeFileSync(program(name), `#!/bin/sh\necho '${name}' >> "$RAN"\n${passesOn}\n`, { mode: 0o755 })
  }
  // What git asks about signatures by itself: not of the folder, so nothing is written down.
  for (const name of ["gpg", "gpgsm", "ssh-keygen"]) {
    Fs.writeFileSync(at("path", name), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
  }
  const environment = {
    PATH: `${at("path")}:${process.env["PATH"]}`,
    HOME: at("home"),
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com"
  }
  const all = [
    ...settings.map(([setting, name]) =>
      [setting, `${setting.startsWith("alias.") ? "!" : ""}${program(name)}`] as const
    ),
    ...values(at("hooks"))
  ]
  Fs.writeFileSync(at("config"), all.map(([setting, value]) => written(setting, value)).join(""))
  const made = ChildProcess.spawnSync("bash", ["-euc", script], {
    cwd: at("fresh"),
    env: {
      ...environment,
      EXTERNAL: program("external diff"),
      HOOK: program("hook"),
      HOOKS: hooks.join(" "),
      PRE: program("rg --pre"),
      SETTINGS: at("config")
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"]
  })
  if (made.status !== 0) throw new Error(`The folders could not be made: ${made.error ?? made.stderr}`)
  let count = 0
  /** Carries out one line after the other in a copy of the folder, and brings back what the line before changed. */
  const runIn = async (
    folder: string,
    lines: ReadonlyArray<string>,
    added: Readonly<Record<string, string>>,
    carryOut: CarryOut
  ) => {
    const [root] = folder.split("/") as [string]
    const copy = at("runs", `${count++}`)
    const ran = `${copy}.ran`
    const all: Array<ReadonlyArray<string>> = []
    for (const line of lines) {
      if (all.length === 0 || writes.test(lines[all.length - 1]!)) {
        Fs.rmSync(copy, { recursive: true, force: true })
        Fs.cpSync(at("fresh", root), Path.join(copy, root), { recursive: true, verbatimSymlinks: true })
      } else {
        // Reading refreshes the index, and the next line would find nothing to do.
        const index = Path.join(root, ".git/index")
        if (Fs.existsSync(at("fresh", index))) Fs.copyFileSync(at("fresh", index), Path.join(copy, index))
      }
      Fs.writeFileSync(ran, "")
      await carryOut(line, Path.join(copy, folder), {
        ...environment,
        RAN: ran,
        RIPGREP_CONFIG_PATH: ".ripgreprc",
        ...added
      })
      all.push(Fs.readFileSync(ran, "utf8").split("\n"))
    }
    return all
  }
  return {
    runs: async (lines, added, where = { folders }) => {
      const carryOut = where.atTerminal === undefined ? quietly : atTerminal
      const carriedOut = lines.map((line) => `${line}${where.then ?? ""}`)
      const all = await Promise.all(where.folders.map((folder) => runIn(folder, carriedOut, added, carryOut)))
      return lines.map((_, index) => names.filter((name) => all.some((ran) => ran[index]!.includes(name))))
    },
    remove: () => Fs.rmSync(base, { recursive: true, force: true })
  }
}

type CarryOut = (line: string, cwd: string, env: Readonly<Record<string, string>>) => Promise<void>

const quietly: CarryOut = (line, cwd, env) =>
  new Promise((resolve, reject) => {
    const child = ChildProcess.spawn("bash", ["-c", line], { cwd, env, stdio: "ignore" })
    child.on("error", reject)
    child.on("close", () => resolve())
  })

const atTerminal: CarryOut = (line, cwd, env) =>
  new Promise((resolve) => {
    Pty.spawn("bash", ["-c", line], { cwd, env }).onExit(() => resolve())
  })

/** What changes more than the index. */
const writes = /^git (?:add|commit|restore|switch)/

/**
 * - `settings`: names all of them but `diff.external`, which goes before the drivers of single files. The last commit is
 *   signed, so that whoever shows its signature asks gpg.
 * - `outer`: names `diff.external`, and has a submodule that names all the others.
 * - `partial`: a clone whose objects are missing, so that git fetches them when it needs one.
 */
const folders = ["settings", "outer", "partial"]

/** A bare repository that was committed as plain files. */
export const bare: Where = { folders: ["plain/bare"] }

/** The working tree is said to be beside the repository. */
export const elsewhere: Where = {
  folders: ["beside/repository"],
  then: "; test ! -e ../target/c.txt || echo 'writes elsewhere' >> \"$RAN\""
}

export const terminal: Where = { folders: ["settings"], atTerminal: true }

const script = `
  hostile() { cat "$SETTINGS" >> "\${1:-.git}/config"; }
  mkdir base
  cd base
  git init -q --template= -b main
  printf '%s\\n' '*.txt filter=f diff=text' '*.bin diff=command' > .gitattributes
  printf '%s\\n' "--pre=$PRE" > .ripgreprc
  echo one > a.txt; echo one > b.bin; echo one > c.txt
  git add .; git commit -qm one; git branch dev
  echo two >> c.txt
  git commit -qam two
  echo three >> c.txt; git stash -q
  # The commit as it is, with a signature that nobody has to believe.
  signed=$(git cat-file commit HEAD |
    sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----' |
    git hash-object -t commit -w --stdin)
  git update-ref refs/heads/main "$signed"
  git tag v1
  echo three >> a.txt; echo three >> b.bin; echo new > new.txt
  # Objects and hooks are beside the folders, so that there is less to copy.
  mkdir ../../objects ../../hooks; cp -r .git/objects ../../objects/all; rm -r .git/objects/??
  echo "$PWD/../../objects/all" > .git/objects/info/alternates
  for hook in $HOOKS; do cp "$HOOK" "../../hooks/$hook"; done
  cd ..

  cp -r base settings; (cd settings; hostile; git config --unset diff.external)
  (
    cp -r base partial; cd partial; hostile
    for setting in core.fsmonitor filter.f.clean diff.external format.pretty log.showSignature; do
      git config --unset $setting
    done
    git config core.repositoryFormatVersion 1
    git config extensions.partialClone origin
    git config remote.origin.promisor true
    head=$(git rev-parse HEAD)
    rm .git/objects/info/alternates
    mkdir ".git/objects/\${head:0:2}"; cp "../../objects/all/\${head:0:2}/\${head:2}" ".git/objects/\${head:0:2}"
  )
  (
    cp -r base outer; cd outer; rm .gitattributes; git commit -qam 'no attributes'
    cp -r ../base sub; cd sub; hostile; cd ..
    git add sub 2> /dev/null; git commit -qm sub; git config diff.submodule diff
    git config diff.external "$EXTERNAL"
  )
  (
    mkdir -p beside/target; cp -r base beside/repository; cd beside/repository; git checkout -qf dev; git checkout -qf main
    git config core.worktree ../../target
  )
  (mkdir plain; git init -q --template= --bare -b main plain/bare; cd plain/bare; hostile .; git config core.bare false; git config core.worktree .)
`
