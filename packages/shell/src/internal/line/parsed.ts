/**
 * What the shell parser says a line is. Whatever is not a simple command, or has a word that is not literal, is
 * `undefined`: a construct that a later parser knows is not let through by not being listed here.
 */
import { type Command, type CommandNode, parse, type PipelineNode, type Statement, type Word } from "unbash"
import type { Piece } from "./piece.ts"

/** The commands of a line, or `undefined` if it has anything else in it. */
export const read = (source: string): ReadonlyArray<Piece> | undefined => {
  const script = parse(source)
  if (script.shebang !== undefined || (script.errors !== undefined && script.errors.length > 0)) return undefined
  const pieces: Array<Piece> = []
  return script.commands.every((statement) => readStatement(pieces, statement)) ? pieces : undefined
}

const readStatement = (pieces: Array<Piece>, { background, command }: Statement): boolean => {
  // What runs in the background goes on when the call is over.
  if (background === true) return false
  const operator = pieces.length === 0 ? "" : ";"
  if (command.type !== "AndOr") return readPipeline(pieces, command, operator)
  return command.commands.every((node, index) =>
    readPipeline(pieces, node, index === 0 ? operator : command.operators[index - 1]!)
  )
}

const readPipeline = (pieces: Array<Piece>, node: PipelineNode, operator: Piece["operator"]): boolean => {
  if (node.type !== "Pipeline") return readCommand(pieces, node, operator)
  return node.prefixes.length === 0 &&
    node.operators.every((pipe) => pipe === "|") &&
    node.commands.every((command, index) => readCommand(pieces, command, index === 0 ? operator : "|"))
}

const readCommand = (pieces: Array<Piece>, node: CommandNode, operator: Piece["operator"]): boolean => {
  if (node.type !== "Command" || node.prefix.length > 0 || node.name === undefined || !isLiteral(node.name)) {
    return false
  }
  const words = [node.name.value]
  const redirects: Array<string> = []
  for (const part of node.suffix) {
    const redirect = part.type === "Redirect" ? readRedirect(part) : undefined
    if (redirect !== undefined) redirects.push(redirect)
    else if (part.type === "Word" && isLiteral(part)) words.push(part.value)
    else return false
  }
  pieces.push({ operator, words, redirects })
  return true
}

const readRedirect = (
  { descriptor, operator, target }: Extract<Command["suffix"][number], { readonly type: "Redirect" }>
): string | undefined => {
  if (target === undefined || descriptor?.type === "FileDescriptorVariable") return undefined
  return `${descriptor?.value ?? ""}${operator}${target.text}`
}

/** `*` is let through for patterns; a line that has one was given up before. */
const isLiteral = ({ parts }: Word): boolean =>
  (parts ?? []).every((part) =>
    part.type === "Literal" || part.type === "SingleQuoted" || (part.type === "Glob" && part.kind === "star") ||
    (part.type === "DoubleQuoted" && part.parts.every((child) => child.type === "Literal"))
  )
