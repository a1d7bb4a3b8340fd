/**
 * What whoever runs a line sets, so that the settings of a folder name fewer programs: `test/hostile/` shows line by line
 * what each of these closes. Only what a covered line can meet has a place here, and only what leaves the line working:
 * `diff.external` is missing because git takes no value of it for none, and an empty one makes every `git diff` fail.
 */

/** Settings of git that go before those of the repository. */
const settings: ReadonlyArray<readonly [name: string, value: string]> = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  // No key is used, and no program asked for a passphrase, because a repository says so.
  ["commit.gpgSign", "false"],
  ["log.showSignature", "false"],
  // A default format with `%G?` asks these about every commit: git's own names for them.
  ["gpg.openpgp.program", "gpg"],
  ["gpg.x509.program", "gpgsm"],
  ["gpg.ssh.program", "ssh-keygen"],
  // A commit starts it, and it has hooks and settings of its own.
  ["maintenance.auto", "false"],
  // A bare repository that is committed as plain files brings its settings with every clone.
  ["safe.bareRepository", "explicit"]
]

export const environment: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: `${settings.length}`,
  ...Object.fromEntries(settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value]
  ])),
  GIT_PAGER: "cat",
  // Reading leaves the index as it is.
  GIT_OPTIONAL_LOCKS: "0",
  // A missing object is fetched from wherever the repository says, by the program that it names.
  GIT_NO_LAZY_FETCH: "1",
  // Nobody sits at the terminal that would be asked.
  GIT_TERMINAL_PROMPT: "0",
  // It may name a file of the folder, and `--pre` in that file a program.
  RIPGREP_CONFIG_PATH: "",
  // Further options for each call, of which some name programs.
  TAR_OPTIONS: ""
}
