/**
 * Programs that carry out what they are given as text: what such a command does cannot be told from its words.
 *
 * For rules that forbid. A program that runs others on its own account, as `make` and `npm test` do, is not meant: no rule
 * about command lines can see into it.
 */

/** Whether a command may do anything, for all that its words tell. */
export const runsText = (words: ReadonlyArray<string>): boolean =>
  words.some((word, index) => {
    const program = nameOf(word)
    const rest = words.slice(index + 1)
    return shells.has(program) || isInterpreting(program, rest)
  })

/** As it is called, without its folder, its case, its version and the endings of Windows. */
export const nameOf = (word: string): string =>
  word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1).toLowerCase().replace(
    /\.(?:bat|cmd|com|exe)$/,
    ""
  )

const shells: ReadonlySet<string> = new Set([
  ".",
  "ash",
  "bash",
  "cmd",
  "csh",
  "dash",
  "eval",
  "fish",
  "ksh",
  "parallel",
  "powershell",
  "pwsh",
  "rbash",
  "sh",
  "source",
  "ssh",
  "su",
  "tcsh",
  "watch",
  "zsh"
])

/** Options with which interpreters take their program from the command line. */
const interpreters: ReadonlyArray<readonly [program: RegExp, option: RegExp]> = [
  [/^python[\d.]*$|^pypy[\d.]*$/, /^-[A-Za-z]*c/],
  [/^perl[\d.]*$|^ruby[\d.]*$|^lua[\d.]*$/, /^-[A-Za-z0-9]*[eE]/],
  [/^(?:node|nodejs|bun|deno)$/, /^-[A-Za-z]*[ep]|^--(?:eval|print)|^eval$/],
  [/^php[\d.]*$/, /^-[A-Za-z]*[rBE]|^--(?:run|process)/],
  [/^env$/, /^-[A-Za-z0-9]*S|^--split/],
  [/^(?:g|m|n)?awk$/, /system|getline|\|/],
  [/^g?sed$/, /^[0-9,$]*e\s|^[0-9,$]+e$|^[0-9,$]*s[^\w\s].*[^\w\s][A-Za-z0-9]*e[A-Za-z0-9]*$/],
  [/^(?:vim?|nvim|ex|ed|emacs)$/, /^[-+]/]
]

const isInterpreting = (program: string, rest: ReadonlyArray<string>): boolean =>
  interpreters.some(([name, option]) => name.test(program) && rest.some((word) => option.test(word)))
