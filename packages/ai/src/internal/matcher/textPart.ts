/**
 * What a matcher looks at, so that rules about the same parameter read it once.
 */
import type { Others } from "./description.ts"

/** Of a matcher of one parameter: which, and what it says of its text. Both functions may throw. */
export interface TextPart {
  readonly param: string
  readonly others: Others
  readonly covers: (value: string) => boolean
  readonly mayCover: (value: string) => boolean
}

const parts = new WeakMap<object, TextPart>()

export const register = <Matcher extends object>(matcher: Matcher, part: TextPart): Matcher => {
  parts.set(matcher, part)
  return matcher
}

export const of = (matcher: object): TextPart | undefined => parts.get(matcher)
