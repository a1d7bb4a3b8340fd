/**
 * Keeps a history within bounds (law L17): what is too deep or too large in a part is left out of it, and the part says so.
 * Whatever a model says passes here before it is in a history, and every history that comes from elsewhere. What was let in
 * is not looked at again: a turn costs what is new in it.
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Bounds from "../bounds.ts"
import * as Results from "./results.ts"

// =============================================================================
// What a model says
// =============================================================================

const leftOutParams = new WeakMap<object, Bounds.Excess>()

/** Why the parameters of a call of a response were left out, if they were. */
export const excessOf = (params: unknown): Bounds.Excess | undefined =>
  typeof params === "object" && params !== null ? leftOutParams.get(params) : undefined

/** What stands in the place of parameters; it is an object, because providers take nothing else back. */
const withoutParams = (excess: Bounds.Excess): object => {
  const params = { omitted: `The parameters were ${Bounds.describe(excess, Bounds.params)}, so they are left out.` }
  leftOutParams.set(params, excess)
  return params
}

/** The parts of a response as they may enter a history: the same ones, unless something has to be left out. */
export const parts = <Part extends Response.AnyPart>(
  parts: ReadonlyArray<Part>,
  maxResultBytes: number
): ReadonlyArray<Part> => {
  let bounded: Array<Part> | undefined
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    const one = partOf(part, maxResultBytes)
    if (one !== part) bounded ??= parts.slice()
    if (bounded !== undefined) bounded[at] = one
  }
  return bounded ?? parts
}

const partOf = <Part extends Response.AnyPart>(part: Part, maxResultBytes: number): Part => {
  switch (part.type) {
    // The most parts of all. What stands beside them is looked at where they have become one.
    case "text-delta":
    case "reasoning-delta":
    case "tool-params-delta":
      return part
    case "tool-call": {
      const excess = Bounds.check(part.params, Bounds.params)
      return plain(excess === undefined ? part : { ...part, params: withoutParams(excess) })
    }
    case "tool-result": {
      const bounded = Results.bounded(part, maxResultBytes)
      return plain(bounded === part ? part : { ...part, ...bounded })
    }
    default:
      return plain(part)
  }
}

const plain = <Part extends Response.AnyPart>(part: Part): Part =>
  fits(part.metadata) ? part : { ...part, metadata: {} }

const fits = (options: object | undefined): boolean => {
  for (const _ in options) return Bounds.check(options, Bounds.metadata) === undefined
  return true
}

// =============================================================================
// Histories
// =============================================================================

/** Messages as they may enter a history: the same prompt, unless something has to be left out. */
export const prompt = (prompt: Prompt.Prompt, maxResultBytes: number): Prompt.Prompt => {
  const bounded = prompt.content.map((message) => messageOf(message, maxResultBytes))
  return bounded.every((message, at) => message === prompt.content[at])
    ? prompt
    : Prompt.fromMessages(bounded.filter((message) => message !== undefined))
}

/** Whether it may enter a history that is kept, as a whole and in each of its parts. */
export const isWithin = (said: Prompt.Prompt): boolean =>
  Bounds.check(said.content, Bounds.prompt) === undefined && prompt(said, Number.POSITIVE_INFINITY) === said

const messageOf = (message: Prompt.Message, maxResultBytes: number): Prompt.Message | undefined => {
  if (message.role !== "assistant" && message.role !== "tool") return message
  const options = fits(message.options) ? message.options : {}
  // The two kinds of messages have parts of their own, which stay what they are.
  const before = message.content as ReadonlyArray<Prompt.Part>
  let changed = options !== message.options
  const content: Array<Prompt.Part> = []
  for (const part of before) {
    const one = promptPartOf(part, maxResultBytes)
    if (one !== part) changed = true
    if (one !== undefined) content.push(one)
  }
  if (!changed) return message
  return content.length === 0
    ? undefined
    : Prompt.makeMessage(message.role, { ...message, content, options } as never) as Prompt.Message
}

const promptPartOf = (part: Prompt.Part, maxResultBytes: number): Prompt.Part | undefined => {
  switch (part.type) {
    case "tool-call": {
      const excess = Bounds.check(part.params, Bounds.params)
      const params = excess === undefined ? part.params : withoutParams(excess)
      return fits(part.options) && excess === undefined
        ? part
        : Prompt.makePart("tool-call", { ...part, params, options: fits(part.options) ? part.options : {} })
    }
    case "tool-result": {
      // What a tool writes for the model was looked at when it did; ours has the parameters and the result in it.
      const { modelOutput, options, ...said } = part
      const { encodedResult, isFailure } = Results.bounded({ ...said, encodedResult: part.result }, maxResultBytes)
      const isWhole = encodedResult === part.result
      return fits(options) && isWhole ? part : Prompt.makePart("tool-result", {
        ...said,
        isFailure,
        result: encodedResult,
        ...(isWhole && modelOutput !== undefined ? { modelOutput } : undefined),
        options: fits(options) ? options : {}
      })
    }
    case "tool-approval-response":
      // An approval without what the person changed would be another one: what is out of bounds is no answer.
      return Results.answerFits(part)
        ? part
        : part.approved
        ? undefined
        : Prompt.makePart("tool-approval-response", { ...part, options: {} })
    default:
      return fits(part.options) ? part : { ...part, options: {} }
  }
}
