/**
 * Words of which a part is only known when the line runs.
 *
 * Such a part is one character that no line can contain: {@link open} where it may be anything that the line itself
 * makes up, {@link given} where it is one value that stood somewhere before the line, or that the line writes out tamely.
 */

/** May be any text, options and several words included. */
export const open = "\ue000"

/** A variable that the line does not set, or only to names and numbers. */
export const given = "\ue001"

/** Any characters of a file's name: `*`, `?`, `[…]`, `{…}`. */
export const wild = "\ue002"

const unknown = /[\ue000\ue001\ue002]/

/** Whether a part of a word is only known when the line runs. */
export const isUnknown = (word: string): boolean => unknown.test(word)

/** Whether a word may be an option, or more than one word. */
export const isOpen = (word: string): boolean => word.startsWith(open) || /^[\ue000\ue001\ue002]+\ue000/.test(word)

/** One spelling for what a system may take for the same: wide letters, old letters, another case. */
export const fold = (text: string): string => (/^[\t\n -~]*$/.test(text) ? text : text.normalize("NFKC")).toLowerCase()

const endings = /\.(?:bat|cmd|com|exe|ps1)$/

/** What stands after the last folder of a path. */
export const lastOf = (word: string): string => word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1)

/** A program as it is called, without its folder, its case and the endings of Windows. */
export const nameOf = (word: string): string => fold(lastOf(word)).replace(endings, "")

/** Whether a word may become the name of a program, wherever it lies. */
export const canBe = (word: string, name: string): boolean => {
  const last = nameOf(word)
  return isUnknown(last) ? matches(last, name) : last === name
}

/** Whether a text is one that a word with unknown parts may become; back to the last such part only. */
export const matches = (word: string, text: string): boolean => {
  let w = 0
  let t = 0
  let last = -1
  let resume = 0
  while (t < text.length) {
    if (w < word.length && unknown.test(word[w]!)) {
      last = w++
      resume = t
    } else if (w < word.length && word[w] === text[t]) {
      w++
      t++
    } else if (last >= 0) {
      w = last + 1
      t = ++resume
    } else {
      return false
    }
  }
  while (w < word.length && unknown.test(word[w]!)) w++
  return w === word.length
}

const escaped = (name: string): string => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

/** What belongs to a name: to a shell all that is not ASCII, but not the parts that are only known when the line runs. */
const letter = "[\\w\\u0080-\\udfff\\ue003-\\uffff]"

/**
 * Finds a name that is a word of its own within a text: not `rm` in `format`, `rm-dist`, `--rm`, `.rmignore`, `rm.ts` or
 * `rm/`, but in `/bin/rm`, `rm.exe`, `(rm`, `x=rm` and `rm;`.
 */
export const ownWord = (
  names: ReadonlyArray<string>,
  versioned: (name: string) => boolean = () => false
): RegExp =>
  new RegExp(
    `(?<![.-]|${letter})(?:${
      names.map((name) => versioned(name) ? `${escaped(name)}(?:-?\\d[\\d.]*)?` : escaped(name)).join("|")
    })(?:\\.(?:bat|cmd|com|exe|ps1)(?!${letter})|(?!\\.?(?:[/-]|${letter})))`
  )
