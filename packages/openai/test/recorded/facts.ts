/**
 * What an answer of the Responses API says, as named facts: read out of a recording by itself, or out of the parts that a
 * program got. What is not said is not in the map.
 */

export type Json = { readonly [key: string]: unknown }

export type Facts = Map<string, unknown>

export const isObject = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)

export const objects = (u: unknown): ReadonlyArray<Json> => Array.isArray(u) ? u.filter(isObject) : []

export const string = (u: unknown): string | undefined => typeof u === "string" ? u : undefined

/** Says a fact, unless there is nothing to say. */
export const say = (facts: Facts, name: string, value: unknown): void => {
  if (value !== undefined && value !== null && value !== "") facts.set(name, value)
}

/** JSON with its keys in order, without what is `null` or not there. */
export const stable = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(
        Object.entries(inner).filter(([, field]) => field !== null && field !== undefined).toSorted(([left], [right]) =>
          left < right ? -1 : 1
        )
      )
      : inner) ?? "undefined"

/** A fact that is seen otherwise than it was sent, or not at all. */
export interface Difference {
  readonly kind: "wrong" | "lost"
  readonly fact: string
  readonly sent: unknown
  readonly seen: unknown
}

export const differences = (sent: Facts, seen: Facts): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  for (const [fact, value] of sent) {
    if (!seen.has(fact)) found.push({ kind: "lost", fact, sent: value, seen: undefined })
    else if (stable(value) !== stable(seen.get(fact))) {
      found.push({ kind: "wrong", fact, sent: value, seen: seen.get(fact) })
    }
  }
  for (const [fact, value] of seen) {
    if (!sent.has(fact)) found.push({ kind: "wrong", fact, sent: undefined, seen: value })
  }
  return found
}

/** Arguments as a model wrote them: JSON, or the text itself where it is none. Some servers parse it. */
export const parse = (text: unknown): unknown => {
  if (isObject(text)) return text
  if (typeof text !== "string" || text.trim() === "") return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
