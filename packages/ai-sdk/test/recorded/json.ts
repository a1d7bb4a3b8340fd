/**
 * Reading JSON whose form is only partly known: what is not there is `undefined`, nothing throws.
 */

/** The value at the end of a path of keys and indices. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown => {
  let here: unknown = value
  for (const key of path) {
    if (typeof here !== "object" || here === null) return undefined
    here = (here as Readonly<Record<string, unknown>>)[key]
  }
  return here ?? undefined
}

/** A string at the end of a path. */
export const string = (value: unknown, ...path: ReadonlyArray<string | number>): string | undefined => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

/** A number at the end of a path. */
export const number = (value: unknown, ...path: ReadonlyArray<string | number>): number | undefined => {
  const found = at(value, ...path)
  return typeof found === "number" ? found : undefined
}

/** A list at the end of a path; an empty one if there is none. */
export const list = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** Strings, without those that are not there. */
export const present = (values: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  values.filter((value): value is string => value !== undefined && value !== "")

/** The same as keys of what is named, without a value. */
export const keys = (values: ReadonlyArray<string | undefined>): ReadonlyArray<{ readonly key: string }> =>
  present(values).map((key) => ({ key }))

/** A sum of what is there; nothing if nothing is. */
export const sum = (...values: ReadonlyArray<number | undefined>): number | undefined =>
  values.every((value) => value === undefined)
    ? undefined
    : values.reduce<number>((total, value) => total + (value ?? 0), 0)

/** Parameters as a model wrote them: JSON, or the text itself where it is not. */
export const params = (text: string | undefined): unknown => {
  if (text === undefined || text.trim() === "") return {}
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
