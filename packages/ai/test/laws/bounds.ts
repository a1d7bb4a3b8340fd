/** Values that are too deep or too large, for the tests of L17, and how a history is seen to be one that can be written. */
import { Effect, Schema } from "effect"
import { Prompt } from "../../src/index.ts"

/** So many arrays inside each other. */
export const nested = (levels: number, innermost: unknown = 1): unknown => {
  let value = innermost
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

/** A result of 12 KB, which could be written under a shallow stack, and then not again. */
export const deep = nested(6_000)

export const whole = (bytes: number): string => "x".repeat(bytes - 2)

const encode = Schema.encodeEffect(Prompt.Prompt)

/** Writes a history as a store does: with its schema, and as JSON. */
export const writable = (history: Prompt.Prompt): Effect.Effect<string> =>
  Effect.map(Effect.orDie(encode(history)), (encoded) => JSON.stringify(encoded))

/** The levels of JSON, in text. */
export const levelsOf = (json: string): number => {
  let open = 0
  let most = 0
  for (const character of json.replace(/"(?:[^"\\]|\\.)*"/g, "")) {
    if (character === "[" || character === "{") most = Math.max(most, ++open)
    else if (character === "]" || character === "}") open--
  }
  return most
}
