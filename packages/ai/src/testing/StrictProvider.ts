/**
 * A provider that refuses what OpenAI Responses, Anthropic or Chat Completions refuse, so that a test finds a broken
 * conversation before a customer does (law L7).
 *
 * {@link check} reads a prompt, {@link wrap} puts the check before a provider's hooks.
 *
 * @since 0.1.0
 */
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

// =============================================================================
// Models
// =============================================================================

/**
 * The rules of a well-formed prompt, named for their breach.
 *
 * Of calls and results: `dangling-call` (a local call has no result), `misplaced-result` (a result is not in the tool
 * messages directly after the assistant message with its call, or a local and a provider's result changed places),
 * `split-results` (the results of one assistant message are spread over several tool messages), `duplicate-result`,
 * `orphan-result` (no local call has this id), `result-name` (the call has another name), `duplicate-call-id` (within
 * one assistant message). Of approvals: `foreign-approval` (a request or an answer that the provider did not issue).
 * Of content: `empty-message`, `empty-text`, `empty-result` (no result, or a failure that says nothing),
 * `missing-reason` (a denied or interrupted execution without its reason), `result-not-json`, `params-not-json`,
 * `tool-message-part` (a tool message holds something else than results and answers). Of the end: `assistant-last` (the
 * prompt ends with the assistant, and not with a call or a result of the provider's own).
 *
 * @category models
 * @since 0.1.0
 */
export type Rule =
  | "dangling-call"
  | "misplaced-result"
  | "split-results"
  | "duplicate-result"
  | "orphan-result"
  | "result-name"
  | "duplicate-call-id"
  | "foreign-approval"
  | "empty-message"
  | "empty-text"
  | "empty-result"
  | "missing-reason"
  | "result-not-json"
  | "params-not-json"
  | "tool-message-part"
  | "assistant-last"

/**
 * One breach of one rule. `messageIndex` counts the messages of the prompt from 0.
 *
 * @category models
 * @since 0.1.0
 */
export interface Violation {
  readonly rule: Rule
  readonly message: string
  readonly messageIndex: number
}

/**
 * What a provider accepts besides. `allowProviderApprovals` names the ids of the approvals it issued itself;
 * `incremental` is for a prompt that continues an earlier response and so may begin with results of unseen calls.
 * `allowPrefill` is for a program that begins the assistant's next message itself, with a model that goes on from there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly allowProviderApprovals?: ReadonlyArray<string> | undefined
  readonly incremental?: boolean | undefined
  readonly allowPrefill?: boolean | undefined
}

/**
 * The hooks that a language model is made from: what `LanguageModel.make` takes.
 *
 * @category models
 * @since 0.1.0
 */
export type Params = Parameters<typeof LanguageModel.make>[0]

// =============================================================================
// Checking
// =============================================================================

/**
 * Names everything in a prompt that a provider would refuse, in the order of the messages; an empty array means that
 * the prompt is accepted.
 *
 * Calls and results are matched by position, so a later message may use a settled call's id again. Calls that the
 * provider executes, and their results, stand in the assistant message and need no pair.
 *
 * @example
 * import { StrictProvider } from "@assent/ai/testing"
 * import { Prompt } from "effect/ai"
 *
 * const prompt = Prompt.make([
 *   { role: "user", content: "Delete it" },
 *   { role: "assistant", content: [{ type: "tool-call", id: "call-1", name: "DeleteFile", params: {} }] }
 * ])
 *
 * StrictProvider.check(prompt).map((violation) => violation.rule) // => ["dangling-call"]
 *
 * @category checking
 * @since 0.1.0
 */
export const check = (prompt: Prompt.Prompt, options?: Options): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const pairing = makePairing(violations, options?.incremental === true)
  const allowed = new Set(options?.allowProviderApprovals)

  for (const [messageIndex, message] of prompt.content.entries()) {
    const report = (rule: Rule, text: string) => {
      violations.push({ rule, message: text, messageIndex })
    }
    pairing.enter(message, messageIndex)
    if (message.role === "system") continue
    if (message.content.length === 0) report("empty-message", `this ${message.role} message has no parts`)

    for (const part of message.content) {
      if (message.role === "tool" && part.type !== "tool-result" && part.type !== "tool-approval-response") {
        report("tool-message-part", `a tool message must hold results only, not a part of type "${typeOf(part)}"`)
      }
      switch (part.type) {
        case "text":
          if (part.text === "") report("empty-text", "a text part is empty")
          break
        case "tool-call":
          checkParams(part, report)
          if (message.role === "assistant") pairing.call(part, messageIndex)
          break
        case "tool-result":
          checkResult(part, report)
          pairing.result(part, message.role, messageIndex)
          break
        case "tool-approval-request":
        case "tool-approval-response":
          if (!allowed.has(part.approvalId)) {
            report("foreign-approval", `the provider did not issue the approval of this ${part.type} part`)
          }
          break
        default:
          break
      }
    }
  }

  pairing.end()
  if (options?.allowPrefill !== true && endsWithAssistant(prompt.content)) {
    violations.push({
      rule: "assistant-last",
      message: "the prompt ends with the assistant: there is nothing to answer",
      messageIndex: prompt.content.length - 1
    })
  }
  return violations.toSorted((left, right) => left.messageIndex - right.messageIndex)
}

// A local call has no result then, which is a breach of its own. A provider goes on from what it ran itself: after a
// pause, and after the approval of one of its own calls.
const endsWithAssistant = (messages: ReadonlyArray<Prompt.Message>): boolean => {
  const last = messages.at(-1)
  if (last?.role !== "assistant" || last.content.some(isLocalCall)) return false
  const end = last.content.at(-1)
  return end !== undefined && !("providerExecuted" in end && end.providerExecuted === true)
}

const isLocalCall = (part: Prompt.AssistantMessagePart): boolean =>
  part.type === "tool-call" && part.providerExecuted !== true

// =============================================================================
// Wrapping
// =============================================================================

/**
 * Puts {@link check} before a provider's hooks: a refused prompt fails with an `AiError` of reason
 * `InvalidRequestError`, whose description names every violation, and the hook is not called.
 *
 * An incremental prompt, where there is one, is checked too; it may begin with results.
 *
 * @example
 * import { StrictProvider } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 * import { LanguageModel } from "effect/ai"
 *
 * const params = StrictProvider.wrap({
 *   generateText: () => Effect.succeed([{ type: "text", text: "never" }]),
 *   streamText: () => Stream.empty
 * })
 * const program = Effect.gen(function*() {
 *   const model = yield* LanguageModel.make(params)
 *   const error = yield* Effect.flip(model.generateText({ prompt: [{ role: "user", content: [] }] }))
 *   return error.reason._tag
 * })
 *
 * await Effect.runPromise(program) // => "InvalidRequestError"
 *
 * @category wrapping
 * @since 0.1.0
 */
export const wrap = (params: Params, options?: Omit<Options, "incremental">): Params => ({
  ...params,
  generateText: (request) =>
    Effect.suspend(() => {
      const error = refusal("generateText", request, options)
      return error === undefined ? params.generateText(request) : Effect.fail(error)
    }),
  streamText: (request) =>
    Stream.suspend(() => {
      const error = refusal("streamText", request, options)
      return error === undefined ? params.streamText(request) : Stream.fail(error)
    })
})

const refusal = (
  method: string,
  request: LanguageModel.ProviderOptions,
  options: Options | undefined
): AiError.AiError | undefined => {
  const problems = [
    ...check(request.prompt, options).map((violation) => describe("message", violation)),
    ...(request.incrementalPrompt === undefined
      ? []
      : check(request.incrementalPrompt, { ...options, incremental: true }).map((violation) =>
        describe("incremental message", violation)
      ))
  ]
  return problems.length === 0 ? undefined : AiError.make({
    module: "StrictProvider",
    method,
    reason: new AiError.InvalidRequestError({
      parameter: "prompt",
      description: `A strict provider refuses this prompt: ${problems.join("; ")}.`
    })
  })
}

const describe = (what: string, violation: Violation): string =>
  `[${violation.rule}] ${what} ${violation.messageIndex}: ${violation.message}`

// =============================================================================
// Internals: pairs of calls and results
// =============================================================================

/** The last local call with an id, and what became of it. `turn` is the index of its assistant message. */
interface Call {
  readonly name: string
  readonly turn: number
  settled: boolean
}

interface Pairing {
  readonly enter: (message: Prompt.Message, messageIndex: number) => void
  readonly call: (part: Prompt.ToolCallPart, messageIndex: number) => void
  readonly result: (part: Prompt.ToolResultPart, role: Prompt.Message["role"], messageIndex: number) => void
  readonly end: () => void
}

/** The turn of results that stand before every message: they answer calls of the response an increment continues. */
const earlierResponse = -1

/** No turn: tool messages that come here answer no call directly before them. */
const closed = -2

const makePairing = (violations: Array<Violation>, incremental: boolean): Pairing => {
  const calls = new Map<string, Call>()
  const providerResults = new Set<string>()
  const idsInMessage = new Set<string>()
  let turn = incremental ? earlierResponse : closed
  let toolMessageOfTurn: number | undefined

  const report = (rule: Rule, message: string, messageIndex: number) => {
    violations.push({ rule, message, messageIndex })
  }
  const reportDangling = (id: string, call: Call) => {
    if (!call.settled) report("dangling-call", `the call ${quote(id)} of ${quote(call.name)} has no result`, call.turn)
  }

  /** The results of one turn belong into the first tool message that holds any. */
  const settleInPlace = (id: string, messageIndex: number) => {
    if (toolMessageOfTurn === undefined) toolMessageOfTurn = messageIndex
    if (toolMessageOfTurn === messageIndex) return
    report(
      "split-results",
      `the result of ${quote(id)} belongs in message ${toolMessageOfTurn}, with the results of the same turn`,
      messageIndex
    )
  }

  const localResult = (part: Prompt.ToolResultPart, role: Prompt.Message["role"], messageIndex: number) => {
    const call = calls.get(part.id)
    if (call === undefined) {
      if (turn !== earlierResponse || role !== "tool") {
        return report("orphan-result", `the result of ${quote(part.id)} answers no call`, messageIndex)
      }
      calls.set(part.id, { name: part.name, turn, settled: true })
      return settleInPlace(part.id, messageIndex)
    }
    if (call.settled) {
      return report("duplicate-result", `the call ${quote(part.id)} has a result already`, messageIndex)
    }
    call.settled = true
    if (call.name !== part.name) {
      report(
        "result-name",
        `the result of ${quote(part.id)} is for ${quote(part.name)}, but the call was of ${quote(call.name)}`,
        messageIndex
      )
    }
    if (role !== "tool" || call.turn !== turn) {
      return report(
        "misplaced-result",
        `the result of ${quote(part.id)} belongs in a tool message directly after message ${call.turn}`,
        messageIndex
      )
    }
    settleInPlace(part.id, messageIndex)
  }

  const providerResult = (part: Prompt.ToolResultPart, role: Prompt.Message["role"], messageIndex: number) => {
    if (role !== "assistant") {
      report(
        "misplaced-result",
        `the result of ${quote(part.id)}, which the provider executed, belongs in the assistant message`,
        messageIndex
      )
    }
    if (providerResults.has(part.id)) {
      report("duplicate-result", `the call ${quote(part.id)} has a result already`, messageIndex)
    }
    providerResults.add(part.id)
  }

  return {
    enter(message, messageIndex) {
      if (message.role === "tool") return
      idsInMessage.clear()
      turn = message.role === "assistant" ? messageIndex : closed
      toolMessageOfTurn = undefined
    },
    call(part, messageIndex) {
      if (idsInMessage.has(part.id)) {
        return report("duplicate-call-id", `two calls of this message have the id ${quote(part.id)}`, messageIndex)
      }
      idsInMessage.add(part.id)
      if (part.providerExecuted) {
        providerResults.delete(part.id)
        return
      }
      const previous = calls.get(part.id)
      if (previous !== undefined) reportDangling(part.id, previous)
      calls.set(part.id, { name: part.name, turn: messageIndex, settled: false })
    },
    result(part, role, messageIndex) {
      if (part.providerExecuted) providerResult(part, role, messageIndex)
      else localResult(part, role, messageIndex)
    },
    end() {
      for (const [id, call] of calls) reportDangling(id, call)
    }
  }
}

// =============================================================================
// Internals: content
// =============================================================================

type Report = (rule: Rule, message: string) => void

const checkParams = (part: Prompt.ToolCallPart, report: Report) => {
  const problem = notJson(part.params, "params", [])
  if (problem !== undefined) report("params-not-json", `the call ${quote(part.id)} is not JSON: ${problem}`)
}

const checkResult = (part: Prompt.ToolResultPart, report: Report) => {
  if (part.result === undefined) {
    return report("empty-result", `the result of ${quote(part.id)} is undefined`)
  }
  const problem = notJson(part.result, "result", [])
  if (problem !== undefined) {
    return report("result-not-json", `the result of ${quote(part.id)} is not JSON: ${problem}`)
  }
  if (!part.isFailure) return
  if (part.result === null || part.result === "") {
    return report("empty-result", `the failed result of ${quote(part.id)} says nothing`)
  }
  if (
    Predicate.isObject(part.result) && "type" in part.result &&
    (part.result.type === "execution-denied" || part.result.type === "execution-interrupted") &&
    (!("reason" in part.result) || typeof part.result.reason !== "string" || part.result.reason === "")
  ) {
    report("missing-reason", `the failed result of ${quote(part.id)} is "${part.result.type}" without a reason`)
  }
}

/**
 * Says where a value is not JSON. A key whose value is undefined is as good as absent, and a `Date` or an instance of
 * a class is not JSON: somebody forgot to encode it.
 */
const notJson = (value: unknown, path: string, parents: ReadonlyArray<object>): string | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${value}`
    case "object": {
      if (value === null) return undefined
      if (parents.includes(value)) return `${path} contains itself`
      const inside = [...parents, value]
      if (Array.isArray(value)) {
        return firstProblem(value.entries(), (index, item) => notJson(item, `${path}[${index}]`, inside))
      }
      const prototype: unknown = Object.getPrototypeOf(value)
      if (prototype !== null && prototype !== Object.prototype) return `${path} is an instance of a class`
      return firstProblem(
        Object.entries(value),
        (key, item) => item === undefined ? undefined : notJson(item, `${path}.${key}`, inside)
      )
    }
    default:
      return `${path} is of type ${typeof value}`
  }
}

const firstProblem = <Key>(
  entries: Iterable<[Key, unknown]>,
  find: (key: Key, item: unknown) => string | undefined
): string | undefined => {
  for (const [key, item] of entries) {
    const problem = find(key, item)
    if (problem !== undefined) return problem
  }
  return undefined
}

const quote = (text: string): string => JSON.stringify(text)

// The types of a tool message leave nothing else; a history that was read unchecked may still hold it.
const typeOf = (part: { readonly type: string }): string => part.type
