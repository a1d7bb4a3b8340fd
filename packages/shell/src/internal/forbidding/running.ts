/**
 * Whether a command may do anything, for all that its words tell: it is a shell or an interpreter that is given a text, or
 * which program runs is only known by then.
 *
 * A script in a file, and what `make` and `npm test` run, is not meant: no rule about command lines can see into it.
 */
import * as Git from "./git.ts"
import type { Command, Line } from "./line.ts"
import * as Programs from "./programs.ts"
import * as Reason from "./reason.ts"
import * as Scripts from "./scripts.ts"
import * as Words from "./words.ts"

/** Programs within programs that are looked at in one command; more are taken for anything. */
const maxPrograms = 24

/** Why a command may do anything; `names` are the programs that are forbidden. */
export const reasonOf = (
  command: Command,
  line: Line,
  names: ReadonlyArray<string>
): Reason.Reason | undefined => new Running(command, line, names).run(0)

class Running {
  private programs = 0
  private readonly words: ReadonlyArray<string>

  private readonly command: Command
  private readonly line: Line
  private readonly names: ReadonlyArray<string>

  constructor(command: Command, line: Line, names: ReadonlyArray<string>) {
    this.command = command
    this.words = command.words
    this.line = line
    this.names = names
  }

  /** The command that begins at a word. */
  run(at: number): Reason.Reason | undefined {
    const { words } = this
    const word = words[at]
    if (word === undefined) return undefined
    if (++this.programs > maxPrograms) return Reason.unknown(word)
    const last = Words.lastOf(word)
    if (Words.isUnknown(last)) return this.mayBeRunner(last) ? Reason.unknown(word) : undefined
    if (word.startsWith("!") || word === "") return Reason.unknown(word)
    const name = Words.nameOf(word).replace(/(?<=.)@.*$/, "")
    const instructions = Object.hasOwn(Programs.instructions, name) ? Programs.instructions[name] : undefined
    if (instructions !== undefined && [...this.line.written].some((one) => instructions.test(one))) {
      return Reason.text(word)
    }
    if ((word.includes("/") || this.line.setsPath && this.line.written.has(word)) && this.isWritten(word)) {
      return Reason.text(word)
    }
    if (Programs.shells.has(name)) return this.shell(at)
    if (name === "." || name === "source") return at + 1 < words.length ? this.file(words[at + 1]!) : undefined
    if (Programs.texts.has(name)) return this.takesText(at, name)
    if (Programs.serving.has(name) && this.command.fed !== "nothing") return Reason.text(word)
    const wrapper = Object.hasOwn(Programs.wrappers, name) ? Programs.wrappers[name] : undefined
    if (wrapper !== undefined) return this.wrapped(at, name, wrapper)
    const interpreter = Programs.interpreters.find((one) => one.name.test(name))
    if (interpreter !== undefined) return this.interpreter(at, interpreter)
    if (/^(?:[gmn]|original-)?awk$/.test(name)) return this.awk(at)
    if (/^g?sed$/.test(name)) return this.sed(at)
    if (name === "git") return this.git(at)
    if (name === "find" || name === "gfind" || name === "fd" || name === "fdfind") return this.find(at)
    return this.others(at, name)
  }

  // ---------------------------------------------------------------------------
  // Shells and interpreters
  // ---------------------------------------------------------------------------

  private shell(at: number): Reason.Reason | undefined {
    const { words } = this
    for (let index = at + 1; index < words.length; index++) {
      const word = words[index]!
      if (/^--(?:version|help)$/.test(word)) return undefined
      if (word === "--") return index + 1 < words.length ? this.file(words[index + 1]!) : Reason.text(words[at]!)
      if (/^[-+][oO]$|^-[euxvfanl]+o$/.test(word)) index++
      else if (/^[-+][euxvfabhnliEBCT]+$|^--(?:norc|noprofile|posix|login|verbose)$/.test(word)) continue
      else if (/^[-+]/.test(word) || Words.isOpen(word)) return Reason.text(word)
      else return this.file(word)
    }
    return Reason.text(words[at]!)
  }

  /** A file that a shell or an interpreter carries out. */
  private file(word: string): Reason.Reason | undefined {
    const isFile = !Words.isOpen(word) && !/^(?:-|\/dev\/.*|\/proc\/.*|.*::?\/\/.*)$/s.test(word)
    return isFile && !this.isWritten(word) ? undefined : Reason.text(word)
  }

  private isWritten(word: string): boolean {
    const { splits, written } = this.line
    if (written.size === 0) return false
    const last = Words.lastOf(word.replace(/[/\\]+$/, ""))
    if (Words.isUnknown(last) || /^\.{0,2}$/.test(last)) return true
    // A module goes by its name without its ending, and `split` adds letters to the name that it is given.
    const stem = stemOf(last)
    return [...written].some((one) =>
      one === last || Words.isUnknown(one) && Words.matches(one, last) || stem !== "" && stemOf(one) === stem ||
      splits && last.startsWith(one)
    )
  }

  private interpreter(
    at: number,
    { flags, name, other, text, values }: Programs.Interpreter
  ): Reason.Reason | undefined {
    const { words } = this
    const isPython = name.test("python")
    // After an option that is not known, a word may be its value, and the text comes later.
    let isWary = false
    let file: string | undefined
    for (let index = at + 1; index < words.length; index++) {
      const word = words[index]!
      if (text.test(word) || Words.isOpen(word) && file === undefined) return Reason.text(word)
      if (other.test(word)) return /^--(?:test|run)/.test(word) && this.writesCode() ? Reason.text(word) : undefined
      if (/^-[mMr]./.test(word) && this.isWritten(word.slice(2))) return Reason.text(word)
      if (isPython && /^-[A-Za-z]*?m/.test(word)) {
        const module = word.replace(/^-[A-Za-z]*?m/, "") || (words[index + 1] ?? Words.open)
        return Words.isUnknown(module) || Programs.pythonTexts.has(Words.fold(module)) || this.isWritten(module)
          ? Reason.text(module)
          : undefined
      }
      if (values.has(word)) {
        index++
        const value = words[index] ?? ""
        if (text.test(value) || Words.isOpen(value) || this.isWritten(value)) return Reason.text(word)
      } else if (/^[-+]/.test(word)) {
        if (word === "--") continue
        isWary ||= !flags.test(word)
      } else {
        file ??= word
        if (!isWary) break
      }
    }
    return file === undefined ? Reason.text(words[at]!) : this.file(file)
  }

  private writesCode(): boolean {
    return [...this.line.written].some((one) => /\.[cm]?[jt]sx?$|\.json$/.test(one))
  }

  private awk(at: number): Reason.Reason | undefined {
    const { words } = this
    for (let index = at + 1; index < words.length; index++) {
      const word = words[index]!
      if (/^--(?:version|help)$|^-V$/.test(word)) return undefined
      if (word === "-F" || word === "-v") index++
      else if (/^-[Fv]./.test(word) || word === "--") continue
      else if (word === "-f") return index + 1 < words.length ? this.file(words[index + 1]!) : undefined
      else if (word.startsWith("-") || Words.isUnknown(word) || !Scripts.isHarmlessAwk(word)) return Reason.text(word)
      else return undefined
    }
    return undefined
  }

  private sed(at: number): Reason.Reason | undefined {
    const { words } = this
    const scripts: Array<string> = []
    const others: Array<string> = []
    let isGiven = false
    for (let index = at + 1; index < words.length; index++) {
      const word = words[index]!
      if (/^-[nErszub]*e$/.test(word) || word === "--expression") {
        isGiven = true
        scripts.push(words[++index] ?? "")
      } else if (/^-[nErszub]*e./.test(word)) {
        isGiven = true
        scripts.push(word.replace(/^-[nErszub]*e/, ""))
      } else if (word.startsWith("--e")) {
        isGiven = true
        scripts.push(word.slice(word.indexOf("=") + 1))
      } else if (/^-[nErszub]*f$/.test(word) || word === "--file") {
        isGiven = true
        const reason = this.file(words[++index] ?? "")
        if (reason !== undefined) return reason
      } else if (
        /^-[nErszub]*[ils]?$|^-[nErszub]*i[\w.]*$|^--(?:quiet|silent|regexp-extended|in-place.*|null-data|separate|sandbox|posix|debug|version|help)$/
          .test(word) && word !== "-"
      ) {
        continue
      } else if (word.startsWith("-") || Words.isOpen(word)) {
        return Reason.text(word)
      } else others.push(word)
    }
    if (!isGiven && others.length > 0) scripts.push(others[0]!)
    const found = scripts.find((script) => !Scripts.isHarmlessSed(script))
    return found === undefined ? undefined : Reason.text(found)
  }

  private takesText(at: number, name: string): Reason.Reason | undefined {
    const rest = this.words.slice(at + 1)
    const looks = rest.every((word) => /^(?:-[lpV]|-ls|ls|--version|--help|-)$/.test(word))
    if (rest.length === 0) {
      return this.command.fed !== "nothing" || /^(?:at|batch|cmd|powershell|pwsh|su|parallel)$/.test(name)
        ? Reason.text(name)
        : undefined
    }
    return looks ? undefined : Reason.text(rest[0]!)
  }

  // ---------------------------------------------------------------------------
  // Programs that run programs
  // ---------------------------------------------------------------------------

  private wrapped(at: number, name: string, wrapper: Programs.Wrapper): Reason.Reason | undefined {
    const { words } = this
    let skip = wrapper.words ?? 0
    let index = at + 1
    for (; index < words.length; index++) {
      const word = words[index]!
      if (wrapper.looks?.test(word)) return undefined
      if (wrapper.text?.test(word)) return Reason.text(word)
      if (word === "--") continue
      if (wrapper.values?.has(word)) index++
      else if (wrapper.flags?.has(word) || /^-\d+$/.test(word)) continue
      else if (/^-[A-Za-z]?.+/.test(word) && [...wrapper.values ?? []].some((value) => word.startsWith(value))) continue
      else if (word.startsWith("-") && word !== "-") return this.scan(at, true)
      else if (wrapper.variables && /^[A-Za-z_]\w*=/.test(word)) continue
      else if (skip > 0 && !Words.isOpen(word)) skip--
      else break
    }
    // What `xargs` adds is no program, if there was one; alone it only prints.
    if (Programs.adding.has(name) && index === words.length - 1 && Words.isUnknown(words[index]!)) return undefined
    return this.run(index)
  }

  private find(at: number): Reason.Reason | undefined {
    const { words } = this
    const isFd = Words.nameOf(words[at]!).startsWith("fd")
    for (let index = at + 1; index < words.length; index++) {
      const word = words[index]!
      if (Words.isOpen(word)) return Reason.unknown(word)
      const runs = isFd
        ? /^-[A-Za-wyz]*[xX]$|^--exec(?:-batch)?$/.test(word)
        : /^-(?:exec|execdir|ok|okdir)$/.test(word)
      const reason = runs
        ? this.run(index + 1)
        : isFd && /^-[A-Za-z]*[xX].|^--exec/.test(word)
        ? Reason.unknown(word)
        : undefined
      if (reason !== undefined) return reason
    }
    return undefined
  }

  private git(at: number): Reason.Reason | undefined {
    const call = Git.read(this.words, at + 1)
    const runs = call.runs ?? Git.runsBy(this.words, call.at)
    if (runs !== undefined) return Reason.text(runs)
    const subcommand = this.words[call.at]
    // What git does not know may be another program, as `git lfs`, or an alias.
    return subcommand === undefined || Git.builtins.has(subcommand) ? undefined : this.scan(call.at, false)
  }

  private others(at: number, name: string): Reason.Reason | undefined {
    const { words } = this
    const rest = [...words.slice(at + 1), ...this.command.texts]
    const handing = Object.hasOwn(Programs.handing, name) ? Programs.handing[name] : undefined
    if (/^(?:bsd|g)?tar$/.test(name) && /^[A-Za-z]*[IF]/.test(rest[0] ?? "")) return Reason.text(rest[0]!)
    if (/^(?:docker|podman|kubectl|nerdctl)$/.test(name) && this.serves(rest)) return Reason.text(name)
    if (handing !== undefined) {
      const found = rest.findIndex((word) => handing.test(word))
      if (found >= 0 && (Programs.saying.has(name) || !this.isName(rest, found, handing))) {
        return Reason.text(rest[found]!)
      }
      const open = Programs.saying.has(name) ? undefined : rest.find(Words.isOpen)
      if (open !== undefined) return Reason.unknown(open)
    }
    if (Programs.reading.has(name) && this.command.fed === "pipe") return Reason.text(name)
    const keeping = Object.hasOwn(Programs.keeping, name) ? Programs.keeping[name] : undefined
    const kept = keeping === undefined ? undefined : rest.find((word) => keeping.test(word) || Words.isOpen(word))
    if (kept !== undefined) return Reason.text(kept)
    if (Programs.naming.has(name)) return this.takesNames(name, rest)
    if (Programs.copying.has(name)) return this.copies(rest)
    return Programs.plain.has(name) ? undefined : this.scan(at, false)
  }

  /** Whether what is given to a container may be given to a shell in it. */
  private serves(rest: ReadonlyArray<string>): boolean {
    return this.command.fed !== "nothing" && rest.some((word) => /^(?:attach|exec|run)$/.test(word)) &&
      !rest.some((word) => Programs.plain.has(Words.nameOf(word)))
  }

  /** Whether an option hands over a program that is only a name, and no shell. */
  private isName(rest: ReadonlyArray<string>, at: number, option: RegExp): boolean {
    const word = rest[at]!
    const attached = word.includes("=")
      ? word.slice(word.indexOf("=") + 1)
      : /^-[^-]/.test(word)
      ? word.slice(option.exec(word)![0].length)
      : ""
    const value = attached === "" ? rest[at + 1] ?? "" : attached
    return /^[\w./+-]+$/.test(value) && !Programs.shells.has(Words.nameOf(value)) && !this.isWritten(value) &&
      !Programs.interpreters.some(({ name }) => name.test(Words.nameOf(value)))
  }

  /** Names that builtins take may have an index, and what stands in it runs. */
  private takesNames(name: string, rest: ReadonlyArray<string>): Reason.Reason | undefined {
    const isTest = name === "test" || name === "["
    const isQuiet = isTest && !rest.some((word) => /^-[vR]$/.test(word)) ||
      name === "printf" && !rest.some((word) => word.startsWith("-v") || Words.isOpen(word))
    const hasIndex = (word: string): boolean => word.includes("[") && /[$`]/.test(word.slice(word.indexOf("[")))
    if (
      name === "integer" || /^(?:declare|local|typeset)$/.test(name) && rest.some((word) => /^-[A-Za-z]*i/.test(word))
    ) {
      return Reason.text(name)
    }
    const isDeclaring = /^(?:declare|local|typeset)$/.test(name) &&
      rest.some((word) => /^-[A-Za-z]*n/.test(word))
    const found = isQuiet ?
      undefined :
      rest.find((word) => hasIndex(word) || Words.isOpen(word) || isDeclaring && !/^[\w-]*(?:=\w*)?$/.test(word))
    return found === undefined ? undefined : Reason.text(found)
  }

  /** What is copied may be run by another name. */
  private copies(rest: ReadonlyArray<string>): Reason.Reason | undefined {
    const found = rest.find((word) =>
      /[\ue000\ue001\ue002]/.test(word) && /[^\ue000\ue001\ue002]/.test(Words.lastOf(word)) &&
        this.names.some((name) => Words.canBe(word, name)) ||
      /^\/(?:usr\/)?s?bin\/.*[\ue000\ue001\ue002]/.test(word)
    )
    return found === undefined ? undefined : Reason.unknown(found)
  }

  /** A program of which nothing is known may run each of its words. */
  private scan(at: number, isWrapper: boolean): Reason.Reason | undefined {
    const { command, names, words } = this
    for (let index = at + 1; index < words.length; index++) {
      const word = words[index]!
      const last = Words.lastOf(word)
      if (Words.isUnknown(last)) {
        const isOne = last === Words.given && !isWrapper
        if (!isOne && (isWrapper || names.some((name) => Words.canBe(word, name)))) return Reason.unknown(word)
        continue
      }
      if (/\s/.test(word) && (/[$`]/.test(word) || shellText.test(word) || this.hasWildcard(word))) {
        return Reason.text(word)
      }
      const name = Words.nameOf(word)
      const isLast = index + 1 >= words.length && command.fed === "nothing" && !isWrapper
      const isText = Programs.shells.has(name) || Programs.interpreters.some((one) => one.name.test(name))
      const runs = isText
        ? !isLast
        : textual.test(name) || Object.hasOwn(Programs.wrappers, name) || Object.hasOwn(Programs.handing, name)
      const reason = runs ? this.run(index) : undefined
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /** Whether a text has a wildcard that may become what is forbidden. */
  private hasWildcard(text: string): boolean {
    return text.split(/[\s;|&()"']+/).some((part) => {
      const word = part.replaceAll(/\[[^\]]*\]|\{[^}]*\}|[*?]/g, Words.wild)
      return word !== part && /[^\ue002]/.test(Words.lastOf(word)) && this.names.some((name) => Words.canBe(word, name))
    })
  }

  /** Whether a program that is known in part may be one that runs others. */
  private mayBeRunner(last: string): boolean {
    const start = Words.fold(/^[^\ue000\ue001\ue002]*/.exec(last)![0])
    return start.length < 3 || [...known, ...this.names].some((name) => name.startsWith(start))
  }
}

const stemOf = (name: string): string => name.replace(/\.[^.]*$/, "")

const shellText =
  /(?:^|[\s;|&/])(?:(?:ba|z|da|k|a)?sh|python[\d.]*|perl|node)\s+-\w*[ce]|\|\s*(?:sudo\s+)?(?:ba|z|da|k|a)?sh\b|\beval\s/

const textual = /^(?:cmd|eval|find|git|g?awk|g?sed|parallel|powershell|pwsh|ssh|su)$/

const known: ReadonlyArray<string> = [
  ...Programs.shells,
  ...Programs.texts,
  ...Object.keys(Programs.wrappers),
  ..."python pypy ipython perl ruby lua php node tsx ts-node deno bun osascript rscript julia awk gawk mawk sed git find vim nvim emacs"
    .split(" ")
]
