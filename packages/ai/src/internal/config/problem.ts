/**
 * What is wrong with a configuration, for the person who wrote it: where, what may stand there, and what was meant.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { definedFields } from "../fields.ts"
import * as Text from "../text.ts"
import type { Step } from "./lines.ts"
import * as Names from "./names.ts"

/**
 * One thing that is wrong with a configuration. `at` is the path as text, `line` counts from 1 and is there if the
 * configuration was a text. `allowed` is what may stand there, `suggestion` what was probably meant.
 *
 * @category errors
 * @since 0.1.0
 */
export class Problem extends Schema.Class<Problem>("@assent/ai/ApprovalConfig/Problem")({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Number])),
  at: Schema.String,
  line: Schema.optionalKey(Schema.Number),
  message: Schema.String,
  allowed: Schema.optionalKey(Schema.Array(Schema.String)),
  suggestion: Schema.optionalKey(Schema.String)
}) {}

/** A path as a person writes it: `tools.write_file.rules[0]`, `tools["mcp.github.*"]`. */
export const showPath = (path: ReadonlyArray<Step>): string =>
  path.map((step, index) =>
    typeof step === "number"
      ? `[${step}]`
      : /^[\p{L}_$*][\p{L}\p{N}_$*-]*$/u.test(step)
      ? index === 0 ? show(step) : `.${show(step)}`
      : `[${show(JSON.stringify(step))}]`
  ).join("")

/** Words of the configuration as a screen may show them (law L15). */
export const show = (text: string): string => Text.escape(text, { maxLength: 200 })

export const make = (problem: {
  readonly path: ReadonlyArray<Step>
  readonly line?: number | undefined
  readonly message: string
  readonly allowed?: ReadonlyArray<string> | undefined
  readonly suggestion?: string | undefined
}): Problem =>
  new Problem({
    ...definedFields({
      ...problem,
      suggestion: problem.suggestion === undefined ? undefined : show(problem.suggestion)
    }),
    at: showPath(problem.path),
    message: Text.escape(problem.message, { maxLength: 1_000 })
  })

/** One line: where, what, what may stand there, what was meant. */
export const toLine = (file: string | undefined, problem: Problem): string =>
  [
    file === undefined && problem.line === undefined
      ? ""
      : `${file === undefined ? "line " : `${show(file)}${problem.line === undefined ? "" : ":"}`}${
        problem.line ?? ""
      }: `,
    problem.at === "" ? "" : `${problem.at}: `,
    problem.message,
    problem.allowed === undefined ? "" : ` It may be ${problem.allowed.join(", ")}.`,
    problem.suggestion === undefined ? "" : ` Did you mean ${problem.suggestion}?`
  ].join("")

/** What is meant by words of other programs, and by the booleans that some YAML makes of `no` and `yes`. */
const synonyms = new Map<string, string>([
  ...["false", "no", "off", "never", "skip", "allow", "allowed", "auto", "pre_approved", "approved"].map((word) =>
    [word, "none"] as const
  ),
  ...["true", "yes", "on", "always", "ask", "prompt", "approve", "require", "confirm"].map((word) =>
    [word, "required"] as const
  ),
  ...["block", "blocked", "forbid", "forbidden", "denied", "refuse"].map((word) => [word, "deny"] as const),
  ...["session", "once", "remember"].map((word) => [word, "once_per_session"] as const),
  ...["inherit", "tool"].map((word) => [word, "default"] as const)
])

/** What is meant by keys of other programs. */
const keySynonyms = new Map<string, string>([
  ...["command", "commands", "cmd", "bash", "exec"].map((word) => [word, "shell"] as const),
  ...["glob", "globs", "paths", "file", "files", "folder", "directory"].map((word) => [word, "path"] as const),
  ...["params", "parameters", "arguments", "args", "input"].map((word) => [word, "exact"] as const),
  ...["parameter", "field", "argument"].map((word) => [word, "param"] as const),
  ...["timeout", "ttl", "expiry", "expires"].map((word) => [word, "expires_in"] as const),
  ...["action", "permission", "decision", "mode"].map((word) => [word, "approval"] as const)
])

const keyMeant = (key: string, allowed: ReadonlyArray<string>): string | undefined => {
  const possible = [...keySynonyms].flatMap(([word, meant]) => allowed.includes(meant) ? [word] : [])
  const word = Names.nearest(key, possible)
  return word === undefined ? undefined : keySynonyms.get(word)
}

interface Leaf {
  readonly path: ReadonlyArray<Step>
  readonly issue: SchemaIssue.Issue
}

const leavesOf = (issue: SchemaIssue.Issue, path: ReadonlyArray<Step>): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leavesOf(issue.issue, [...path, ...issue.path.map((step) => typeof step === "symbol" ? "" : step)])
    case "Filter":
    case "Encoding":
      return leavesOf(issue.issue, path)
    case "Composite":
      return issue.issues.flatMap((child) => leavesOf(child, path))
    case "AnyOf":
      return issue.issues.length === 0
        ? [{ path, issue }]
        : issue.issues.flatMap((child) => leavesOf(child, path))
    default:
      return [{ path, issue }]
  }
}

/** What a schema did not accept. `value` is what it was given. */
export const fromIssue = (
  issue: SchemaIssue.Issue,
  value: unknown
): ReadonlyArray<Omit<Parameters<typeof make>[0], "line">> =>
  leavesOf(issue, []).map(({ issue, path }) => {
    const found = valueAt(value, path)
    switch (issue._tag) {
      case "UnexpectedKey": {
        const allowed = issue.ast._tag === "Objects" ? keysOf(issue.ast) : []
        const key = String(path.at(-1))
        return {
          path,
          message: `${JSON.stringify(key)} is not a known key here.`,
          allowed,
          suggestion: Names.nearest(key, allowed) ?? keyMeant(key, allowed)
        }
      }
      case "MissingKey":
        return { path, message: "It is missing." }
      case "AnyOf":
      case "OneOf":
      case "InvalidType": {
        const allowed = literalsOf(issue.ast)
        const expected = expectedOf(issue.ast)
        if (allowed.length === 0) return { path, message: `This is ${kindOf(found)}; it has to be ${expected}.` }
        const word = typeof found === "string" || typeof found === "boolean" ? String(found) : undefined
        return {
          path,
          message: word === undefined
            ? `This is ${kindOf(found)}; it has to be ${expected}.${hintOf(found, allowed)}`
            : `${typeof found === "string" ? JSON.stringify(found) : word} is not a known value here.`,
          allowed,
          suggestion: word === undefined ? undefined : meant(word, allowed)
        }
      }
      default:
        return { path, message: `This is ${kindOf(found)}, which is not allowed here.` }
    }
  })

const meant = (word: string, allowed: ReadonlyArray<string>): string | undefined => {
  const synonym = synonyms.get(word.toLowerCase().replaceAll("-", "_"))
  return synonym !== undefined && allowed.includes(synonym) ? synonym : Names.nearest(word, allowed)
}

const hintOf = (found: unknown, allowed: ReadonlyArray<string>): string => {
  if (!allowed.includes("required")) return ""
  if (found === null) return " Write `{}` to leave it to the tool."
  return typeof found === "object" && !Array.isArray(found)
    ? " For some calls only, write `rules`."
    : ""
}

const keysOf = (ast: SchemaAST.Objects): ReadonlyArray<string> => ast.propertySignatures.map(({ name }) => String(name))

const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Literal" ? [String(ast.literal)] : ast._tag === "Union" ? ast.types.flatMap(literalsOf) : []

const expectedOf = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "a text"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Arrays":
      return "a list"
    case "Objects":
      return "a map"
    case "Literal":
      return "a word"
    case "Union":
      return [...new Set(ast.types.map(expectedOf))].join(" or ")
    default:
      return "JSON"
  }
}

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return "empty"
  if (Array.isArray(value)) return "a list"
  switch (typeof value) {
    case "string":
      return "a text"
    case "object":
      return "a map"
    default:
      return `a ${typeof value}`
  }
}

const valueAt = (value: unknown, path: ReadonlyArray<Step>): unknown =>
  path.reduce<unknown>(
    (current, step) =>
      typeof current === "object" && current !== null
        ? Object.getOwnPropertyDescriptor(current, step)?.value
        : undefined,
    value
  )
