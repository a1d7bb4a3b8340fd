/**
 * The commands of a line, wherever they stand in it: in loops, functions, substitutions and here-documents.
 *
 * The strict reader refuses such lines, for rules that allow. A rule that forbids has to look into them, and takes what
 * it does not know for anything.
 */
import {
  type Assignment,
  forEachChild,
  parse,
  type ParsedScript,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart
} from "unbash"
import { lastRead } from "../line/lastRead.ts"
import * as Programs from "./programs.ts"
import * as Reason from "./reason.ts"
import * as Words from "./words.ts"

type Fed = "nothing" | "file" | "pipe"

/** One simple command. */
export interface Command {
  /** As the program gets them, as far as that can be told; see `words.ts`. */
  readonly words: ReadonlyArray<string>
  /** What it is given to read: a file or a text of the line, what another command prints, or nothing. */
  readonly fed: Fed
  /** Here-documents and here-strings. */
  readonly texts: ReadonlyArray<string>
}

export interface Line {
  readonly commands: ReadonlyArray<Command>
  /** The last parts of the paths of files that the line may write, and other words of programs that write. */
  readonly written: ReadonlySet<string>
  /** Whether it says where programs are looked for. */
  readonly setsPath: boolean
  /** Whether names of files that it writes are only beginnings. */
  readonly splits: boolean
  /** What the shell itself does that may be anything. */
  readonly reason: Reason.Reason | undefined
}

const maxLength = 16_384

const maxDepth = 200

/** The parser looks for the ends of all documents on each line. */
const maxDocuments = 64

/** What nobody can see, but for what belongs to a picture. */
const unseen = /[^\t\n\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]|[\p{Default_Ignorable_Code_Point}\u2800\u00a0]/u
const pictures = /(?<=\p{Extended_Pictographic})[\u{fe0f}\u{200d}]/gu

/** More marks on one letter than any script needs; to put them in order takes the square of their number. */
const marks = /\p{M}{31}/u

/** Whether a line is short enough, and all of it can be seen. */
export const isSeen = (source: string): boolean =>
  source.length <= maxLength && !marks.test(source) && !unseen.test(source.replaceAll(pictures, ""))

/** The commands of a line that {@link isSeen}, or `undefined` if it cannot be read. */
export const read = lastRead((source): Line | undefined => {
  if (source.split("<<").length > maxDocuments) return undefined
  const script = parse(source)
  if (!isRead(script)) return undefined
  const reader = new Reader()
  reader.assigned(script)
  reader.visit(script, "nothing")
  return reader
})

const isRead = (script: ParsedScript): boolean =>
  script.shebang === undefined && (script.errors === undefined || script.errors.length === 0)

/** What a variable was set to: digits, a name or a path, or anything. */
type Kind = "number" | "tame" | "wild"

class Reader implements Line {
  readonly commands: Array<Command> = []
  readonly written = new Set<string>()
  splits = false
  setsPath = false
  reason: Reason.Reason | undefined = undefined
  private readonly kinds = new Map<string, Kind>()
  private depth = 0
  /** What a program such as `xargs` adds: one name of a file after another, or anything. */
  private added = Words.open

  // ---------------------------------------------------------------------------
  // What is set
  // ---------------------------------------------------------------------------

  assigned(node: SyntaxNode): void {
    if (node.type === "Assignment") this.assign(node)
    else if (node.type === "For" || node.type === "Select") {
      for (const word of node.wordlist ?? []) this.set(node.name.value, kindOf(word))
      if (node.wordlist === undefined || node.type === "Select") this.set(node.name.value, "wild")
    } else if (node.type === "Command" && node.name !== undefined && Programs.naming.has(node.name.value)) {
      // `read x`, `printf -v x`, `declare x`
      for (const part of node.suffix) if (part.type === "Word") this.set(part.value, "wild")
    } else if (node.type === "ParameterExpansion" && node.operation?.type === "Default") {
      this.set(node.parameter, "wild")
    }
    this.within(() => forEachChild(node, (child) => this.assigned(child)))
  }

  /** What is nested deeper than anybody writes counts as anything, and is not gone into. */
  private within(children: () => void): void {
    if (this.depth > maxDepth) {
      this.reason ??= unreadable
      return
    }
    this.depth++
    children()
    this.depth--
  }

  private assign({ append, index, name, value }: Assignment): void {
    this.set(name, append === true || index !== undefined || value.type !== "Word" ? "wild" : kindOf(value))
    const text = value.type === "Word" ? value.value : " "
    this.setsPath ||= /^path$/i.test(name)
    const isPlain = value.type === "Word" && kindOf(value) !== "wild" && !Programs.shells.has(Words.nameOf(text))
    if (Programs.commandVariables.test(name) && !isPlain && !isHarmless(name, text)) {
      this.reason ??= Reason.text(`${name}=${text}`)
    }
  }

  private set(name: string, kind: Kind): void {
    const old = this.kinds.get(name)
    this.kinds.set(name, old === undefined || old === kind ? kind : old === "wild" || kind === "wild" ? "wild" : "tame")
  }

  // ---------------------------------------------------------------------------
  // What runs
  // ---------------------------------------------------------------------------

  visit(node: SyntaxNode, fed: Fed): void {
    switch (node.type) {
      case "Script":
        if (!isRead(node)) this.reason ??= unreadable
        return this.children(node, fed)
      case "Command": {
        const parts = [...node.prefix, ...node.suffix]
        const redirects = parts.filter(isRedirection)
        const words = [
          ...(node.name === undefined ? [] : [this.word(node.name)]),
          ...node.suffix.flatMap((part) =>
            part.type === "Word"
              ? [this.word(part)]
              : part.type === "Assignment"
              ? [`${part.name}=${part.value.type === "Word" ? this.word(part.value) : Words.open}`]
              : []
          )
        ]
        if (words.length > 0) {
          this.setsPath ||= words.some((word) => word.startsWith("PATH="))
          this.commands.push({
            words: withAdded(words, this.added),
            fed: redirects.some(feeds) ? "file" : fed,
            texts: redirects.flatMap((r) => this.textOf(r))
          })
        }
        if (words.some((word) => Programs.writing.has(Words.nameOf(word)) || /^-f(?:ls|print0?|printf)$/.test(word))) {
          words.forEach((word, index) => {
            if (index > 0 && !/^(?:-f|--file)$/.test(words[index - 1]!)) this.writes(word)
          })
          this.splits ||= words.some((word) => /^c?split$/.test(Words.nameOf(word)))
        }
        if (Programs.counting.test(words[0] ?? "")) {
          for (const word of words.slice(1)) {
            if (word.startsWith(Words.open) && words[0] === "let") this.reason ??= Reason.text(word)
            this.arithmetic(word)
          }
        }
        return this.children(node, "nothing")
      }
      case "Redirected":
        for (const redirect of node.redirects) this.visit(redirect, "nothing")
        return this.visit(node.command, node.redirects.some(feeds) ? "file" : fed)
      case "Pipeline":
        node.commands.forEach((command, index) => {
          this.added = index > 0 && this.listsFiles(node.commands[index - 1]!) ? Words.given : Words.open
          this.visit(command, index > 0 ? "pipe" : fed)
        })
        this.added = Words.open
        return
      case "Redirect": {
        const target = node.target === undefined ? "" : this.word(node.target)
        if (node.operator.includes(">") && target !== "/dev/null" && !/^\d?$/.test(target)) this.writes(target)
        // `/dev/tcp/host/80` is a connection.
        if (Words.isUnknown(target) && (target.startsWith("/dev/") || /(?:tcp|udp)\//.test(target))) {
          this.reason ??= Reason.unknown(target)
        }
        return this.children(node, fed)
      }
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        if (node.type === "ArithmeticCommandExpansion") this.reason ??= Reason.text(node.text)
        if (node.script === undefined) this.reason ??= unreadable
        return this.children(node, "nothing")
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
        if (node.expression === undefined) this.reason ??= unreadable
        return this.children(node, fed)
      case "ArithmeticWord":
        this.arithmetic(node.value)
        // What a command says, or a function is given, is arithmetic of its own.
        if (/\$[\d*@]/.test(node.value) || node.parts?.some((part) => this.part(part).includes(Words.open)) === true) {
          this.reason ??= Reason.text(node.value)
        }
        return this.children(node, fed)
      case "TestUnary":
        if (node.operator === "-v" || node.operator === "-R") this.arithmetic(node.operand.value)
        return this.children(node, fed)
      case "TestBinary":
        if (node.operator.startsWith("-") && !/^-(?:ef|nt|ot)$/.test(node.operator)) {
          this.arithmetic(node.left.value)
          this.arithmetic(node.right.value)
        }
        return this.children(node, fed)
      case "ExtendedGlob":
        // Off in `bash -c`; in zsh a wildcard may have a command at its end.
        this.reason ??= Reason.unknown(node.text)
        return
      case "ParameterExpansion":
        this.parameter(node)
        return this.children(node, fed)
      case "Assignment":
        if (node.index !== undefined) this.arithmetic(node.index.value)
        if (node.value.type === "ArrayValue") {
          for (const { value } of node.value.elements) if (value.startsWith("[")) this.arithmetic(value)
        }
        return this.children(node, fed)
      default:
        return this.children(node, fed)
    }
  }

  private children(node: SyntaxNode, fed: Fed): void {
    this.within(() => forEachChild(node, (child) => this.visit(child, fed)))
  }

  /** Arithmetic runs what stands in the index of an array, also in the value of a variable. */
  private arithmetic(text: string): void {
    if (/[[`]|\$\(/.test(text) && /[$`]/.test(text)) this.reason ??= Reason.text(text)
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
      const kind = this.kinds.get(name)
      if (kind !== undefined && kind !== "number") this.reason ??= Reason.text(name)
    }
  }

  /** A word that names a file, or a script of a little language in which a file is named. */
  private writes(word: string): void {
    for (const part of word.split(/[^\ue000-\ue002\w.+@%-]+/)) if (part !== "") this.written.add(part)
    this.written.add(Words.lastOf(word))
  }

  private parameter(
    { index, operation, parameter, prefix, text }: Extract<SyntaxNode, { type: "ParameterExpansion" }>
  ) {
    const isStrange = !/^(?:\w+|[@*#?$!-])$/.test(parameter) || operation?.type === "Unknown" ||
      operation?.type === "Transform"
    if (isStrange || (prefix === "!" && this.kinds.get(parameter) === "wild")) this.reason ??= Reason.text(text)
    if (index !== undefined && !/^[@*]$/.test(index.value)) this.arithmetic(index.value)
    if (operation?.type === "Slice") {
      this.arithmetic(operation.offset.value)
      this.arithmetic(operation.length?.value ?? "")
    }
  }

  // ---------------------------------------------------------------------------
  // Words
  // ---------------------------------------------------------------------------

  private word(word: Word): string {
    return word.parts === undefined ? word.value : word.parts.map((part) => this.part(part)).join("")
  }

  private part(part: WordPart): string {
    switch (part.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        return part.value
      case "DoubleQuoted":
      case "LocaleString":
        return part.parts.map((child) => this.part(child)).join("")
      case "Glob":
        return Words.wild
      case "SimpleExpansion":
        return this.variable(part.text.slice(1))
      case "ParameterExpansion":
        return part.operation === undefined && part.index === undefined && part.prefix === undefined
          ? this.variable(part.parameter)
          : part.prefix === "#"
          ? Words.given
          : Words.open
      case "ArithmeticExpansion":
        return Words.given
      case "ProcessSubstitution":
        return `/dev/fd/${Words.given}`
      default:
        return Words.open
    }
  }

  private variable(name: string): string {
    if (/^[?$!#]$/.test(name)) return Words.given
    return /^[A-Za-z_]\w*$/.test(name) && this.kinds.get(name) !== "wild" ? Words.given : Words.open
  }

  /** Whether what a command prints is nothing but names of files that there are. */
  private listsFiles(node: SyntaxNode): boolean {
    if (node.type !== "Command" || node.name === undefined) return false
    const words = [node.name, ...node.suffix.filter((part) => part.type === "Word")].map((word) => this.word(word))
    const line = words.join(" ")
    if (line.includes(Words.open)) return false
    return line.startsWith("find ") && !/ -(?:f?printf|exec|ok)/.test(line) ||
      line.startsWith("grep ") && / (?:-[A-Za-z]*l[A-Za-z]*|--files-with-matches)(?: |$)/.test(line) ||
      line.startsWith("rg ") && / (?:-l|--files|--files-with-matches)(?: |$)/.test(line) ||
      /^git ls-files(?: |$)/.test(line) && !line.includes("--format") ||
      line.startsWith("git diff ") && / --name-only(?: |$)/.test(line)
  }

  private textOf(redirect: Redirection): ReadonlyArray<string> {
    if (redirect.type === "HereDoc") return [redirect.body.text]
    return redirect.type === "HereString" && redirect.target !== undefined ? [this.word(redirect.target)] : []
  }
}

const unreadable: Reason.Reason = { _tag: "Unreadable", word: "" }

const isRedirection = (node: Assignment | Redirection | Word): node is Redirection =>
  node.type === "Redirect" || node.type === "HereDoc" || node.type === "HereString"

const feeds = (redirect: Redirection): boolean =>
  redirect.type !== "Redirect" || (redirect.operator.startsWith("<") && redirect.target?.value !== "/dev/null")

const kindOf = (word: Word): Kind => {
  const parts = word.parts ?? []
  if (parts.length === 1 && parts[0]!.type === "ArithmeticExpansion") return "number"
  const isLiteral = parts.every((part) =>
    part.type === "Literal" || part.type === "SingleQuoted" || part.type === "Glob" ||
    (part.type === "DoubleQuoted" && part.parts.every((child) => child.type === "Literal"))
  )
  if (!isLiteral) return "wild"
  return /^\d*$/.test(word.value) ? "number" : /^[\w./*][\w./:@%+,=*-]*$/.test(word.value) ? "tame" : "wild"
}

/** `NODE_OPTIONS=--max-old-space-size=4096`, `LESS=-R`, and nothing that is given to a shell. */
const isHarmless = (name: string, text: string): boolean =>
  /^(?:NODE_OPTIONS|LESS|FZF_DEFAULT_OPTS|MAKEFLAGS|RUSTFLAGS)$/.test(name) &&
  /^(?:-[A-Za-z]+|-j\d+|--(?:max-[a-z-]+=\d+|no-[a-z-]+|enable-source-maps|height[=\d%]*))(?: -[\w=-]+)*$/.test(text) &&
  !/-(?:r|i|e)\b|--(?:require|import|loader|eval)/.test(text)

/** With the words that programs such as `xargs` add, and in place of those that they replace. */
const withAdded = (words: ReadonlyArray<string>, added: string): ReadonlyArray<string> => {
  const at = words.findIndex((word) => Programs.adding.has(Words.nameOf(word)))
  if (at < 0) return words
  const marks = new Set(["{}"])
  words.forEach((word, index) => {
    if (index <= at) return
    if (word === "-I" || word === "--replace" || word === "-J") marks.add(words[index + 1] ?? "{}")
    else if (/^-[IiJ]./.test(word)) marks.add(word.slice(2))
    else if (word.startsWith("--replace=")) marks.add(word.slice("--replace=".length))
  })
  marks.delete("")
  // One mark is what is written; with more nobody knows, and each counts.
  const replaced = words.map((word, index) =>
    index <= at || word.startsWith("-I")
      ? word
      : [...marks].slice(0, 4).reduce((text, mark) => text.replaceAll(mark, added), word)
  )
  return [...replaced, added]
}
