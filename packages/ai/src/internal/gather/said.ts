/** What a tool says of itself beside its name: what it does, and its parameters in the order in which it lists them. */
import * as Tool from "effect/ai/Tool"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Text from "../text.ts"

interface Said {
  readonly description: string | undefined
  readonly names: ReadonlyArray<string>
}

// A JSON Schema is made anew each time, and of a tool it is always the same.
const known = new WeakMap<Tool.Any, Said>()

const namesOf = (tool: Tool.Any): ReadonlyArray<string> => {
  // Not every schema has a JSON Schema.
  const schema = Result.getOrElse(Result.try(() => Tool.getJsonSchema(tool)), () => undefined)
  return Predicate.isObject(schema?.["properties"]) ? Object.keys(schema["properties"]) : []
}

const of = (tool: Tool.Any): Said => {
  const said = known.get(tool) ?? { description: Tool.getDescription(tool), names: namesOf(tool) }
  known.set(tool, said)
  return said
}

const isSame = (names: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  names.every((name, index) => name === others[index])

/** As fields of a request; an order that the parameters have already is not told. */
export const fields = (
  tool: Tool.Any | undefined,
  params: Schema.Json
): { readonly toolDescription?: string; readonly order?: ReadonlyArray<string> } => {
  if (tool === undefined) return {}
  const { description, names } = of(tool)
  const given = Predicate.isObject(params) ? Object.keys(params) : []
  // All of them are one list, however many requests there are.
  const order = names.every((name) => given.includes(name)) ? names : names.filter((name) => given.includes(name))
  return {
    ...(description === undefined || description.trim() === ""
      ? undefined
      : { toolDescription: Text.escape(description, { maxLength: 1_000, multiline: true }) }),
    ...(isSame(order, given) ? undefined : { order })
  }
}
