/**
 * Whether a word can be what is expected in its place.
 */
import { star } from "../line/plain.ts"
import { entriesOf, type Kind } from "../programs/program.ts"
import * as Scripts from "./scripts.ts"

/** What is known of a word besides its text. */
export interface Context {
  /** How many of its first characters the pattern writes out. */
  readonly written: number
  /** Where the line runs, without a `/` at its end, if that is known. */
  readonly folder: string | undefined
}

/** Why the word cannot be that; nothing if it can. */
export const problemOf = (kind: Kind, word: string, { folder, written }: Context): string | undefined => {
  // What the pattern writes out is the person's own.
  if (written >= word.length && written > 0) return undefined
  if (typeof kind === "object") {
    const fits = "oneOf" in kind ? entriesOf(kind.oneOf).includes(word) : kind.like.test(word)
    if (!fits) return "not a known value"
    return "hasPath" in kind && isSecret(word) ? secret : undefined
  }
  switch (kind) {
    case "text":
      return undefined
    case "glob":
      return isSecret(word) ? secret : undefined
    case "number":
      return /^\d+$/.test(word) ? undefined : "a number is expected"
    case "path":
      return problemOfPath(word, written, folder)
    case "revision":
      // `:/fix` is the last commit that says so, and `:/` the folder of the repository.
      return problemOfPath(word.replace(/^:\//, ":"), written, folder)
    case "sedScript":
      return Scripts.problemOfSed(word)
    case "jqFilter":
      return Scripts.problemOfJq(word)
    case "awkProgram":
      return Scripts.problemOfAwk(word)
  }
}

const problemOfPath = (word: string, written: number, folder: string | undefined): string | undefined => {
  const start = written === 0 ? 0 : word.lastIndexOf("/", written - 1) + 1
  const here = folder !== undefined && (word === folder || word.startsWith(`${folder}/`)) ? folder.length + 1 : 0
  const path = word.slice(Math.max(start, here))
  if (/^[/~]|:[/~]/.test(path)) {
    return "it is outside the working folder; a pattern can name the folder, as in `cat /srv/log/*`"
  }
  // `main..dev` is no step up.
  if (/(?:^|[/:])\.\.(?:$|[/:])/.test(path)) return "it leads out of the working folder"
  return isSecret(word) ? secret : undefined
}

const secret = "it may hold secrets"

const isSecret = (path: string): boolean =>
  // `:(top).env*` is a path of git's.
  path.replaceAll("*", "").split(/[/:)]/).some((name) =>
    /^(?:\.(?:netrc|pgpass|git-credentials|npmrc|pypirc|ssh|aws|gnupg|kube|envrc|htpasswd)|id_[a-z0-9]+|\.env(?:\..*)?)$/i
        .test(name)
      ? !/^\.env\.(?:example|sample|template)$/i.test(name)
      : /\.(?:pem|key|p12|pfx)$/i.test(name)
  )

/**
 * Why it is not known what the shell puts in the place of a word with a wildcard. With a letter before it, the names
 * that it finds are no options; a name that begins with a dot it does not find, unless the dot is written.
 */
export const problemOfWildcard = (word: string, isTame: boolean): string | undefined => {
  if (word.startsWith(star) && !isTame) return "a file name may look like an option; write `./*`"
  return word.split("/").some((name) => /^(?:\.|id_)/i.test(name) && name.includes(star))
    ? "it may match `..` or a file with secrets"
    : undefined
}
