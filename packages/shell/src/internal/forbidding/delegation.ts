/**
 * Arguments with which a well-known program runs another one, takes its configuration from elsewhere, or, of git, writes
 * a file anywhere.
 *
 * A `*` stands for arguments, not for other commands: these words are covered only where the pattern writes them out.
 * The list is what we know, no proof. It refuses rather too much, because what it refuses is only asked.
 */

/** Whether one of the words that stand for a `*` makes the program run something else. */
export const runsAnother = (words: ReadonlyArray<string>, isFree: (index: number) => boolean): boolean => {
  const program = words[0]!.slice(words[0]!.lastIndexOf("/") + 1)
  const known = Object.hasOwn(programs, program) ? programs[program] : undefined
  const isOption = (word: string, index: number): boolean =>
    everywhere.has(beforeEquals(word)) ||
    (known !== undefined && (isLong(known.long, word) || (known.short?.(word, index) ?? false)))
  return words.some((word, index) => index > 0 && isFree(index) && isOption(word, index)) ||
    (program === "git" && gitRunsAnother(words, isFree))
}

/** Of `find`, `fd`, `rsync`, `git` and others. */
const everywhere: ReadonlySet<string> = new Set(["--exec", "-exec", "-execdir", "-ok", "-okdir", "--rsh"])

interface Options {
  readonly long: ReadonlyArray<string>
  readonly short?: (word: string, index: number) => boolean
}

const tar: Options = {
  long: [
    "--checkpoint-action",
    "--info-script",
    "--new-volume-script",
    "--rmt-command",
    "--rsh-command",
    "--to-command",
    "--use-compress-program"
  ],
  // The first word may do without its dash.
  short: (word, index) => index === 1 ? /^-?[A-Za-z]*[IF]/.test(word) : /^-[A-Za-z]*[IF]/.test(word)
}

const programs: { readonly [program: string]: Options } = {
  bat: { long: ["--pager"] },
  bsdtar: tar,
  go: { long: [], short: (word) => /^--?(?:exec|toolexec|vettool)(?:=|$)/.test(word) },
  man: { long: ["--html", "--pager"], short: (word) => /^-[A-Za-z]*[HP]/.test(word) },
  split: { long: ["--filter"] },
  tcpdump: { long: ["--postrotate-command"], short: (word) => /^-[A-Za-z]*z/.test(word) },
  wget: { long: ["--execute", "--use-askpass"], short: (word) => /^-[A-Za-z]*e/.test(word) },
  zip: { long: ["--unzip-command"], short: (word) => /^-[A-Za-z]*TT/.test(word) },
  fd: { long: ["--exec-batch"], short: (word) => /^-[A-Za-z]*[xX]/.test(word) },
  gtar: tar,
  rg: { long: ["--hostname-bin", "--pre"] },
  rsync: { long: ["--rsync-path"], short: (word) => /^-[A-Za-z0-9]*e/.test(word) },
  sort: { long: ["--compress-program"] },
  tar,
  git: {
    long: [
      "--config-env",
      "--exec",
      "--exec-path",
      "--extcmd",
      "--open-files-in-pager",
      "--output",
      "--output-directory",
      "--receive-pack",
      "--template",
      "--unsafe-paths",
      "--upload-pack"
    ],
    // `ext::sh -c …` as the address of a repository, alone or as the value of an option.
    short: (word) => /^(?:--?[A-Za-z-]+=)?[A-Za-z0-9+.-]+::/.test(word)
  }
}

const beforeEquals = (word: string): string => word.includes("=") ? word.slice(0, word.indexOf("=")) : word

/** Programs take a long option for its beginning, too. */
const isLong = (names: ReadonlyArray<string>, word: string): boolean => {
  const name = beforeEquals(word)
  return name.length > 2 && name.startsWith("--") && names.some((long) => long.startsWith(name))
}

// =============================================================================
// git
// =============================================================================

/** Options before the subcommand that change nothing; all others choose a repository, a configuration or programs. */
const gitHarmless: ReadonlySet<string> = new Set([
  "--glob-pathspecs",
  "--help",
  "--icase-pathspecs",
  "--literal-pathspecs",
  "--no-lazy-fetch",
  "--no-optional-locks",
  "--no-pager",
  "--no-replace-objects",
  "--noglob-pathspecs",
  "--version",
  "-P",
  "-h",
  "-v"
])

/** Options before the subcommand that take the next word. */
const gitTakesWord: ReadonlySet<string> = new Set([
  "--attr-source",
  "--config-env",
  "--git-dir",
  "--namespace",
  "--super-prefix",
  "--work-tree",
  "-C",
  "-c"
])

/** Subcommands that run commands they are given, or other systems' programs, set up what runs later, or serve. */
const gitRunners: ReadonlySet<string> = new Set([
  "bisect",
  "archimport",
  "citool",
  "config",
  "credential",
  "cvsexportcommit",
  "cvsimport",
  "cvsserver",
  "daemon",
  "difftool",
  "fast-import",
  "filter-branch",
  "filter-repo",
  "for-each-repo",
  "gui",
  "hook",
  "http-backend",
  "imap-send",
  "instaweb",
  "maintenance",
  "merge-index",
  "mergetool",
  "p4",
  "receive-pack",
  "send-email",
  "shell",
  "submodule",
  "svn",
  "upload-archive",
  "upload-pack",
  "web--browse"
])

/** Short options of subcommands, also among others in one word. */
const gitShort: { readonly [subcommand: string]: RegExp } = {
  archive: /^-[A-Za-z]*o/,
  bugreport: /^-[A-Za-z]*o/,
  "checkout-index": /^--pref/,
  clone: /^-[A-Za-z]*[cu]|^--conf/,
  diagnose: /^-[A-Za-z]*o/,
  "fast-export": /^--exp/,
  "format-patch": /^-[A-Za-z]*o/,
  grep: /^-[A-Za-z]*O/,
  help: /^-[A-Za-z]*w|^--w/,
  "index-pack": /^-[A-Za-z]*o/,
  mailsplit: /^-[A-Za-z]*o/,
  rebase: /^-[A-Za-z]*x/
}

const gitRunsAnother = (words: ReadonlyArray<string>, isFree: (index: number) => boolean): boolean => {
  let at = 1
  for (; at < words.length && words[at]!.startsWith("-"); at++) {
    if (isFree(at) && !gitHarmless.has(words[at]!)) return true
    if (gitTakesWord.has(words[at]!)) at++
  }
  const subcommand = words[at]
  if (subcommand === undefined) return false
  // Two dashes are in the names of git's own helpers, which do in pieces what subcommands do.
  if (isFree(at) && (gitRunners.has(subcommand) || /^(?:remote|credential)-|--/.test(subcommand))) return true
  const short = Object.hasOwn(gitShort, subcommand) ? gitShort[subcommand]! : undefined
  return short !== undefined && words.some((word, index) => index > at && isFree(index) && short.test(word))
}
