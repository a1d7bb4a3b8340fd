// @ts-check
/**
 * What a form has of fields, by a JSON Schema or by the values that are to be changed; and what was typed, as JSON. Pure.
 *
 * @typedef {{ readonly type: "text", readonly isLong: boolean, readonly isNeeded?: boolean }
 *   | { readonly type: "number", readonly isInteger: boolean }
 *   | { readonly type: "flag" }
 *   | { readonly type: "choice", readonly options: ReadonlyArray<Option> }
 *   | { readonly type: "choices", readonly options: ReadonlyArray<Option> }
 *   | { readonly type: "json" }} Kind
 * @typedef {{ readonly value: unknown, readonly label: string, readonly description?: string | undefined }} Option
 * @typedef {{
 *   readonly name: string
 *   readonly label: string
 *   readonly kind: Kind
 *   readonly isRequired: boolean
 *   readonly description?: string | undefined
 *   readonly initial: unknown
 * }} Field `initial` and what is typed: a text, a boolean for a flag, the index of an option, or the indexes of several
 * @typedef {Readonly<Record<string, unknown>>} Typed
 */

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value)

/** @param {unknown} schema @returns {Kind} */
const kindOf = (schema) => {
  if (!isRecord(schema)) return { type: "json" }
  if (Array.isArray(schema["enum"])) {
    return { type: "choice", options: schema["enum"].map((value) => ({ value, label: String(value) })) }
  }
  /** @type {ReadonlyArray<unknown>} */
  const members = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []
  const told = members.filter((member) => isRecord(member) && member["type"] !== "null" && !isNotFinite(member))
  if (told.length === 1) return kindOf(told[0])
  switch (schema["type"]) {
    case "string":
      return { type: "text", isLong: false, isNeeded: true }
    case "number":
    case "integer":
      return { type: "number", isInteger: schema["type"] === "integer" }
    case "boolean":
      return { type: "flag" }
    default:
      return { type: "json" }
  }
}

/** How effect writes a number that is none. @param {Record<string, unknown>} schema */
const isNotFinite = (schema) =>
  Array.isArray(schema["enum"]) && schema["enum"].every((value) => ["Infinity", "-Infinity", "NaN"].includes(value))

/** @param {Kind} kind */
const untouched = ({ type }) => type === "flag" ? false : type === "choices" ? [] : type === "choice" ? undefined : ""

const answer = "answer"

/**
 * The fields of what a tool asks for. One that is called `answer`, alone, is all of it.
 *
 * @param {import("@assent/ai").Approval.Awaited} awaited
 * @returns {ReadonlyArray<Field>}
 */
export const fieldsOf = ({ answerSchema, kind, multiple, options = [] }) => {
  /** @type {unknown} */
  const schema = answerSchema
  /** @param {Kind} kind @returns {ReadonlyArray<Field>} */
  const one = (kind) => [{ name: answer, label: "Your answer", kind, isRequired: true, initial: untouched(kind) }]
  if (kind === "askUser") return one({ type: "text", isLong: true, isNeeded: true })
  if (kind === "selectOptions") return one({ type: multiple === true ? "choices" : "choice", options })
  const properties = isRecord(schema) ? schema["properties"] : undefined
  if (!isRecord(properties)) return one(kindOf(answerSchema))
  /** @type {ReadonlyArray<unknown>} */
  const required = isRecord(schema) && Array.isArray(schema["required"]) ? schema["required"] : []
  return Object.entries(properties).map(([name, schema]) => {
    const kind = kindOf(schema)
    const description = isRecord(schema) && typeof schema["description"] === "string"
      ? schema["description"]
      : undefined
    return { name, label: name, kind, isRequired: required.includes(name), description, initial: untouched(kind) }
  })
}

/** The fields of parameters that are to be changed. @param {unknown} params @returns {ReadonlyArray<Field>} */
export const fieldsOfParams = (params) =>
  isRecord(params)
    ? Object.entries(params).map(([name, value]) => ({ name, label: name, isRequired: true, ...ofValue(value) }))
    : [{ name: answer, label: "Parameters", isRequired: true, kind: { type: "json" }, initial: write(params) }]

/** @param {unknown} value @returns {Pick<Field, "kind" | "initial">} */
const ofValue = (value) => {
  switch (typeof value) {
    case "string":
      return { kind: { type: "text", isLong: value.includes("\n") || value.length > 80 }, initial: value }
    case "number":
      return { kind: { type: "number", isInteger: false }, initial: String(value) }
    case "boolean":
      return { kind: { type: "flag" }, initial: value }
    default:
      return { kind: { type: "json" }, initial: write(value) }
  }
}

/** @param {unknown} value */
const write = (value) => JSON.stringify(value, null, 2)

/**
 * What one field says; `undefined` where it was left out.
 *
 * @param {Field} field
 * @param {unknown} typed
 * @returns {{ readonly value?: unknown, readonly problem?: string }}
 */
const read = ({ isRequired, kind, label }, typed) => {
  if (kind.type === "flag") return { value: typed === true }
  if (kind.type === "choices") {
    const chosen = /** @type {ReadonlyArray<number>} */ (typed)
    return { value: kind.options.filter((_, index) => chosen.includes(index)).map(({ value }) => value) }
  }
  if (kind.type === "choice") {
    if (typeof typed === "number") return { value: kind.options[typed]?.value }
    return isRequired ? { problem: `Choose: ${label}.` } : {}
  }
  const text = String(typed)
  if (text.trim() === "" && !isRequired) return {}
  switch (kind.type) {
    case "text":
      return kind.isNeeded === true && text.trim() === "" ? { problem: `Fill in: ${label}.` } : { value: text }
    case "number": {
      const value = Number(text)
      const isNumber = text.trim() !== "" && Number.isFinite(value) && (!kind.isInteger || Number.isSafeInteger(value))
      return isNumber ? { value } : { problem: `${label}: enter a ${kind.isInteger ? "whole number" : "number"}.` }
    }
    case "json":
      try {
        return { value: JSON.parse(text) }
      } catch {
        return { problem: `${label}: this is no JSON.` }
      }
  }
}

/**
 * All that was typed, or what is wrong with it.
 *
 * @param {ReadonlyArray<Field>} fields
 * @param {Typed} typed
 * @returns {{ readonly value: unknown, readonly problem?: undefined } | { readonly name: string, readonly problem: string }}
 */
export const readAll = (fields, typed) => {
  /** @type {Array<[string, unknown]>} */
  const entries = []
  for (const field of fields) {
    const { problem, value } = read(field, field.name in typed ? typed[field.name] : field.initial)
    if (problem !== undefined) return { name: field.name, problem }
    if (value !== undefined) entries.push([field.name, value])
  }
  const [first] = entries
  if (fields.length === 1 && fields[0]?.name === answer && fields[0].label !== answer) return { value: first?.[1] }
  return { value: Object.fromEntries(entries) }
}

/**
 * What was changed of parameters, field by field.
 *
 * @param {unknown} before
 * @param {unknown} after
 * @returns {ReadonlyArray<{ readonly name: string, readonly before: unknown, readonly after: unknown }>}
 */
export const changesOf = (before, after) => {
  if (!isRecord(before) || !isRecord(after)) {
    return write(before) === write(after) ? [] : [{ name: "parameters", before, after }]
  }
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => write(before[name]) !== write(after[name]))
    .map((name) => ({ name, before: before[name], after: after[name] }))
}
