/** What a program without types gives where tools and their schemas are to stand, and the sentence that says so. */
import type * as Tool from "effect/ai/Tool"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Text from "../text.ts"

/** What a value is, without what is in it (law L15). */
export const kindOf = (u: unknown): string =>
  u === undefined || u === null
    ? String(u)
    : Array.isArray(u)
    ? "an array"
    : Predicate.isPromiseLike(u)
    ? "a Promise"
    : isTool(u)
    ? "a tool"
    : typeof u === "string"
    ? "a text"
    : typeof u === "object"
    ? "an object"
    : `a ${typeof u}`

const isTool = (u: unknown): u is Tool.Any => Predicate.hasProperty(u, "parametersSchema")

const fields = Object.entries(
  {
    parameters: "parametersSchema",
    success: "successSchema",
    failure: "failureSchema"
  } as const
)

/** What is wrong with a tool's schemas, whoever made it; `undefined` if nothing is. */
export const problemOf = (tool: Tool.Any): string | undefined => {
  for (const [option, field] of fields) {
    const schema: unknown = tool[field]
    if (Schema.isSchema(schema)) continue
    const what = `The tool ${Text.quote(tool.name)} has ${kindOf(schema)} as its ${option}, not a schema.`
    return option === "parameters"
      ? `${what} Import Tool from @assent/ai, not from effect/ai, for plain fields, { path: Schema.String }; or write` +
        " Schema.Struct({ path: Schema.String })."
      : `${what} Write ${option}: Schema.Struct({ … }), or another schema.`
  }
  return undefined
}

/** A tool, if its schemas are schemas. Throws a `TypeError` otherwise. */
export const usable = <T>(tool: T): T => {
  const problem = problemOf(tool as unknown as Tool.Any) // `Tool.Any` asks more of the schemas than a tool does
  if (problem !== undefined) throw new TypeError(problem)
  return tool
}

/** Throws a `TypeError` for what is no tool, and for a tool whose schemas are none. */
export const refuse = (door: string, tools: ReadonlyArray<unknown>): void => {
  for (const tool of tools) {
    if (!isTool(tool)) {
      throw new TypeError(
        `${door} takes tools, one after the other, as in ${door}(DeleteFile, ReadFile); it was given ${kindOf(tool)}.` +
          " Make a tool with Tool.make(\"DeleteFile\", { … })."
      )
    }
    usable(tool)
  }
}

/** Throws a `TypeError` for parameters that are neither a schema nor the plain fields of one. */
export const refuseFields = (name: unknown, parameters: unknown): void => {
  if (typeof name !== "string") {
    throw new TypeError(
      `Tool.make takes a name and then options, as in Tool.make("DeleteFile", { … }); its name is ${kindOf(name)}.`
    )
  }
  if (parameters === undefined || Schema.isSchema(parameters)) return
  const wrong = Predicate.isObject(parameters)
    ? Object.entries(parameters).find(([, field]) => !Schema.isSchema(field))
    : undefined
  if (Predicate.isObject(parameters) && wrong === undefined) return
  const found = wrong === undefined
    ? `${kindOf(parameters)} for its parameters`
    : `${kindOf(wrong[1])} for the parameter ${Text.quote(wrong[0])}`
  throw new TypeError(
    `The tool ${Text.quote(name)} was given ${found}, not a schema. Write parameters: { path: Schema.String };` +
      " a JSON Schema is for Tool.dynamic."
  )
}

// What other libraries call it, and what is mistyped: an option that nobody reads would let the tool run unasked.
const likeApproval = /approv|confirm|permission/i

/** Throws a `TypeError` for an option that looks as if a person were to be asked because of it, and is not read. */
export const refuseOptions = (name: string, options: unknown): void => {
  if (!Predicate.isObject(options)) return
  const unread = Object.keys(options).find((option) => option !== "needsApproval" && likeApproval.test(option))
  if (unread === undefined) return
  throw new TypeError(
    `The tool ${Text.quote(name)} was given the option ${
      Text.quote(unread)
    }, which does not exist, so nobody would be` +
      " asked. Write needsApproval: true, or needsApproval: (params) => …."
  )
}

/** Throws a `TypeError` for interactions that are none, such as `Interaction.form` without its schema. */
export const refuseInteractions = (name: string, interactions: unknown): void => {
  const wrong = Predicate.isObject(interactions)
    ? Object.entries(interactions).find(([, interaction]) => !Predicate.hasProperty(interaction, "kind"))
    : undefined
  if (Predicate.isObject(interactions) && wrong === undefined) return
  const found = wrong === undefined
    ? `${kindOf(interactions)} for its interactions`
    : `${kindOf(wrong[1])} for the interaction ${Text.quote(wrong[0])}`
  throw new TypeError(
    `The tool ${Text.quote(name)} was given ${found}. Write interactions: { colour: Interaction.askUser, address:` +
      " Interaction.form(schema) }, or {} for a tool that waits for its agents only."
  )
}
