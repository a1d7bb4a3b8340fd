/**
 * Folders whose settings name programs wherever git and ripgrep take any. Each such program writes its name into a file,
 * so that a test sees which of them a line ran.
 */
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
  "other"
] as const
export type Name = typeof names[number]

export interface Hostile {
  /** Which programs of the folder the line runs there: in each of the folders, each time as it was. */
  readonly runs: (line: string, environment: Readonly<Record<string, string>>) => Promise<ReadonlyArray<Name>>
  /** What a file beside the folder holds after a line. */
  readonly beside: string
  readonly remove: () => void
}

/** Settings that name a program, for which `%s` stands. */
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
  for (const folder of ["home", "programs", "fresh", "runs"]) Fs.mkdirSync(at(folder))
  const program = (name: Name) => at("programs", name.replaceAll(/\W+/g, "-"))
  for (const name of names) {
    const passesOn = /filter/.test(name) ? "cat" : /textconv|pre/.test(name) ? "cat \"$1\"" : "true"
    Fs.writeFileSync(program(name), `#!/bin/sh\necho '${name}' >> "$RAN"\n${passesOn}\n`, { mode: 0o755 })
  }
  // What a table of settings names in place of a program of the folder: not of the folder, so nothing is written down.
  for (const name of ["gpg", "gpgsm", "ssh-keygen"]) {
    Fs.writeFileSync(at("programs", name), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
  }
  const environment = {
    PATH: `${at("programs")}:${process.env["PATH"]}`,
    HOME: at("home"),
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com"
  }
  const made = ChildProcess.spawnSync("bash", ["-euc", script], {
    cwd: at("fresh"),
    env: {
      ...environment,
      HOOK: program("hook"),
      HOOKS: hooks.join(" "),
      PRE: program("rg --pre"),
      SETTINGS: settings.map(([setting, name]) =>
        `${setting}=${setting.startsWith("alias.") ? "!" : ""}${program(name)}`
      ).join("\n")
    },
    encoding: "utf8"
  })
  if (made.status !== 0) throw new Error(`The folders could not be made: ${made.error ?? made.stderr}`)
  let count = 0
  const runIn = (folder: string, line: string, added: Readonly<Record<string, string>>) =>
    new Promise<ReadonlyArray<string>>((resolve, reject) => {
      const place = at("runs", `${count++}`)
      Fs.cpSync(at("fresh"), place, { recursive: true, verbatimSymlinks: true })
      const ran = Path.join(place, "ran")
      const child = ChildProcess.spawn("bash", ["-c", line], {
        cwd: Path.join(place, folder),
        env: { ...environment, RAN: ran, RIPGREP_CONFIG_PATH: ".ripgreprc", ...added },
        stdio: "ignore"
      })
      child.on("error", reject)
      child.on("close", () => {
        const text = Fs.existsSync(ran) ? Fs.readFileSync(ran, "utf8") : ""
        Fs.rmSync(place, { recursive: true, force: true })
        resolve(text.split("\n").filter((name) => name !== ""))
      })
    })
  return {
    beside: at("beside"),
    runs: async (line, added) => {
      const seen = new Set((await Promise.all(folders.map((folder) => runIn(folder, line, added)))).flat())
      return names.filter((name) => seen.has(name))
    },
    remove: () => Fs.rmSync(base, { recursive: true, force: true })
  }
}

/**
 * - `settings`: everything is named, and the last commit is signed, so that whoever shows its signature asks gpg.
 * - `drivers`: the same without `diff.external`, which goes before the drivers of single files.
 * - `partial`: a clone whose objects are missing, so that git fetches them when it needs one.
 * - `outer`: without such settings itself, but with all of them in a submodule.
 * - `plain/bare`: a bare repository that was committed as plain files.
 */
const folders = ["settings", "drivers", "partial", "outer", "plain/bare"]

const script = `
  hostile() {
    while IFS= read -r setting; do git config "\${setting%%=*}" "\${setting#*=}"; done <<< "$SETTINGS"
    git config commit.gpgSign true
    git config log.showSignature true
    git config format.pretty '%h %G?'
    git config remote.origin.url ssh://nowhere.invalid/x
    git config column.ui always
    git config maintenance.auto true
  }
  make() {
    git init -q --template= -b main "$1"
    cd "$1"
    printf '%s\\n' '*.txt filter=f diff=text' '*.bin diff=command' > .gitattributes
    printf '%s\\n' "--pre=$PRE" > .ripgreprc
    echo one > a.txt; echo one > b.bin; echo one > c.md
    git add .; git commit -qm one; git branch dev
    echo two >> a.txt; echo two >> c.md
    git commit -qam two
    echo three >> c.md; git stash -q
    # The commit as it is, with a signature that nobody has to believe.
    signed=$(git cat-file commit HEAD |
      sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----' |
      git hash-object -t commit -w --stdin)
    git update-ref refs/heads/main "$signed"
    git tag v1
    echo three >> a.txt; echo three >> b.bin; echo new > new.txt
    mkdir .git/hooks
    for hook in $HOOKS; do cp "$HOOK" ".git/hooks/$hook"; done
  }
  (make settings; hostile)
  (make drivers; hostile; git config --unset diff.external)
  (
    make partial; hostile
    for setting in core.fsmonitor filter.f.clean diff.external format.pretty log.showSignature; do
      git config --unset $setting
    done
    git config core.repositoryFormatVersion 1
    git config extensions.partialClone origin
    git config remote.origin.promisor true
    head=$(git rev-parse HEAD)
    find .git/objects -type f ! -path "*/\${head:0:2}/\${head:2}" -delete
  )
  (
    make outer
    rm .gitattributes; rm -r .git/hooks
    make sub; hostile; cd ..
    git add sub 2> /dev/null; git -c core.hooksPath=/dev/null commit -qam sub; git config diff.submodule diff
    cd sub; echo four >> a.txt; echo four >> b.bin
  )
  (
    mkdir plain; git init -q --template= --bare -b main plain/bare; cd plain/bare
    hostile; git config core.bare false; git config core.worktree .
  )
`
