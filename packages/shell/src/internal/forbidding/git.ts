/**
 * What is known of git: where its subcommand stands, and what makes it run another program.
 */
import * as Words from "./words.ts"

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/).filter((name) => name !== ""))

/** Options before the subcommand that take the next word. */
const takesWord = set("--attr-source --git-dir --namespace --super-prefix --work-tree -C -c --config-env --exec-path")

/** Git's own, which no alias can take the place of. */
export const builtins = set(`
  add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config
  count-objects credential daemon describe diagnose diff diff-files diff-index diff-tree difftool fast-export fast-import fetch
  fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep gui
  hash-object help hook lfs http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers log
  ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool
  mktag mktree multi-pack-index mv name-rev notes p4 pack-objects pack-refs patch-id prune prune-packed pull push quiltimport
  range-diff read-tree rebase receive-pack reflog remote repack replace request-pull rerere reset restore rev-list rev-parse
  revert rm send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status
  stripspace submodule svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info
  upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree
`)

/** Settings that run nothing; of all others the value may be a command, or name a file that has some. */
const harmlessSetting =
  /^(?:(?:advice|author|branch|checkout|color|column|commit|committer|fetch|format|gc|gui|help|http|https|i18n|index|init|log|merge|pack|pull|push|rebase|receive|rerere|safe|stash|status|tag|transfer|user|versionsort)\.(?!.*(?:command|cmd|driver|program|tool|template)\b)[\w.:/-]+|core\.(?:abbrev|autocrlf|bare|bigfilethreshold|commentchar|eol|filemode|ignorecase|longpaths|precomposeunicode|quotepath|safecrlf|symlinks|untrackedcache|whitespace)|diff\.(?:algorithm|colormoved|colormovedws|context|mnemonicprefix|noprefix|renamelimit|renames|submodule)|remote\.[\w.-]+\.(?:url|fetch|pushurl|prune)|submodule\.recurse|protocol\.version|gpg\.format|user\.signingkey)$/i

/** Subcommands that run what they are given, or serve others. */
const running = set(
  "archimport citool credential cvsexportcommit cvsimport cvsserver daemon difftool fast-import filter-branch filter-repo for-each-repo http-backend imap-send instaweb merge-index mergetool p4 send-email shell svn web--browse"
)

/** Options of subcommands that run what they are given. */
const options: { readonly [subcommand: string]: RegExp } = {
  "add--interactive": /./,
  archive: /^--exec/,
  bisect: /^run$/,
  clone: /^-[A-Za-z]*[cu]|^--(?:upl|conf|template)/,
  fetch: /^--upl/,
  "fetch-pack": /^--(?:upl|exec)/,
  grep: /^-[A-Za-z]*O|^--open/,
  help: /^-[A-Za-z]*w|^--w/,
  hook: /^run$/,
  "interpret-trailers": /^--trailer/,
  "ls-remote": /^--(?:upl|exec)/,
  pull: /^--upl/,
  push: /^--(?:rec|exec)/,
  // What is pushed later is pushed by force, and what is not there is removed.
  remote: /^--mi/,
  rebase: /^-[A-Za-z]*x|^--ex/,
  "send-pack": /^--(?:rec|exec)/,
  submodule: /^(?:foreach|--command)$/
}

/** `ext::sh -c …` as the address of a repository, alone or as the value of an option. */
const address = /^(?:--?[A-Za-z-]+=)?[A-Za-z0-9+.-]*::/

export interface Call {
  /** Where the subcommand stands; the number of words if there is none. */
  readonly at: number
  /** A word by which git may run anything. */
  readonly runs: string | undefined
}

/** Reads the words after `git`; what is known of later words from before is taken from there. */
export const read = (words: ReadonlyArray<string>, start: number, known = new Map<number, Call>()): Call => {
  const passed: Array<number> = []
  const call = walk(words, start, (at) => {
    const before = known.get(at)
    passed.push(at)
    return before
  })
  for (const at of passed) known.set(at, call)
  return call
}

const walk = (words: ReadonlyArray<string>, start: number, before: (at: number) => Call | undefined): Call => {
  let at = start
  for (; at < words.length; at++) {
    const found = before(at)
    if (found !== undefined) return found
    const word = words[at]!
    if (!word.startsWith("-")) break
    const setting = word === "-c" ? words[at + 1] ?? "" : word.startsWith("-c") ? word.slice(2) : undefined
    if (setting !== undefined && !isHarmless(setting)) return { at, runs: setting }
    if (/^--(?:config-env|exec-path)/.test(word) && word !== "--exec-path") return { at, runs: word }
    if (takesWord.has(word)) at++
  }
  return { at: Math.min(at, words.length), runs: undefined }
}

const isHarmless = (setting: string): boolean => {
  const [key = "", ...value] = setting.split("=")
  return harmlessSetting.test(key) || /^(?:core\.pager|pager\.[a-z-]+|core\.editor|sequence\.editor)$/i.test(key) &&
      /^(?:|cat|less|more|true|false|vi|vim|nano|:)$/.test(value.join("="))
}

/** A word of a subcommand by which it may run anything. */
export const runsBy = (words: ReadonlyArray<string>, at: number): string | undefined => {
  const subcommand = words[at]
  if (subcommand === undefined) return undefined
  if (Words.isUnknown(subcommand) || running.has(subcommand) || /^(?:remote|credential)-|--/.test(subcommand)) {
    return subcommand
  }
  const rest = words.slice(at + 1)
  if (subcommand === "config") return configures(rest)
  if (/^(?:clone|fetch|ls-remote|pull|push|remote|submodule|archive|fetch-pack|send-pack)$/.test(subcommand)) {
    const found = rest.find((word) => address.test(word) || Words.isOpen(word))
    if (found !== undefined) return found
  }
  const option = Object.hasOwn(options, subcommand) ? options[subcommand]! : undefined
  return option === undefined ? undefined : rest.find((word) => option.test(word) || Words.isOpen(word))
}

const looking = /^--(?:get.*|list|show-.*|unset.*|remove-section)$|^-l$/

const neutral =
  /^--(?:add|all|bool|bool-or-int|global|int|local|no-includes|includes|null|path|replace-all|system|worktree|fixed-value|expiry-date|name-only)$|^-z$|^--type=/

/** `git config key value`, `git config set key value`; to look at one is nothing. */
const configures = (words: ReadonlyArray<string>): string | undefined => {
  let at = 0
  // Git takes options before the key alone, and an option that is not known may take the next word.
  for (; at < words.length && words[at]!.startsWith("-"); at++) {
    if (looking.test(words[at]!)) return undefined
    if (/^(?:-f|--file|--blob|--type)$/.test(words[at]!)) at++
    else if (!neutral.test(words[at]!)) return words[at]
  }
  if (/^(?:get|list|unset|remove-section)$/.test(words[at] ?? "")) return undefined
  const [key, ...value] = words.slice(words[at] === "set" ? at + 1 : at).filter((word) => !neutral.test(word))
  if (key === undefined || value.length === 0 && !Words.isUnknown(key)) return undefined
  return harmlessSetting.test(key) ? undefined : key
}
