/** A scripted response as the provider interface has it, and prompts of the interface beside those of the engine. */
import type * as Provider from "@ai-sdk/provider"
import type { Prompt, Response } from "effect/ai"

// =============================================================================
// Responses
// =============================================================================

/** A whole response. */
export const result = (parts: ReadonlyArray<Response.PartEncoded>): Provider.LanguageModelV4GenerateResult => {
  const finish = parts.find((part) => part.type === "finish")
  return {
    content: parts.flatMap((part) => content(part) ?? []),
    finishReason: { unified: unified(finish?.reason), raw: undefined },
    usage,
    warnings: []
  }
}

const usage: Provider.LanguageModelV4Usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 }
}

const unified = (
  reason: Response.FinishReason | undefined
): Provider.LanguageModelV4FinishReason["unified"] => {
  switch (reason) {
    case "length":
    case "tool-calls":
      return reason
    default:
      return "stop"
  }
}

type Content = Exclude<
  Provider.LanguageModelV4Content,
  Provider.LanguageModelV4Reasoning | Provider.LanguageModelV4Text
>

const content = (part: Response.PartEncoded): Provider.LanguageModelV4Content | undefined =>
  part.type === "text" ? { type: "text", text: part.text } : called(part)

const called = (part: Response.AllPartsEncoded): Content | undefined => {
  switch (part.type) {
    case "tool-call":
      return {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.name,
        input: JSON.stringify(part.params),
        ...(part.providerExecuted === true ? { providerExecuted: true } : undefined)
      }
    case "tool-result":
      return {
        type: "tool-result",
        toolCallId: part.id,
        toolName: part.name,
        result: part.result as NonNullable<Provider.JSONValue>,
        isError: part.isFailure
      }
    case "tool-approval-request":
      return { type: "tool-approval-request", approvalId: part.approvalId, toolCallId: part.toolCallId }
    default:
      return undefined
  }
}

/** One part of a streamed response. */
export const streamPart = (part: Response.StreamPartEncoded): Provider.LanguageModelV4StreamPart => {
  switch (part.type) {
    case "text-start":
    case "text-end":
      return { type: part.type, id: part.id }
    case "text-delta":
      return { type: part.type, id: part.id, delta: part.delta }
    case "tool-params-start":
      return {
        type: "tool-input-start",
        id: part.id,
        toolName: part.name,
        ...(part.providerExecuted === true ? { providerExecuted: true } : undefined)
      }
    case "tool-params-delta":
      return { type: "tool-input-delta", id: part.id, delta: part.delta }
    case "tool-params-end":
      return { type: "tool-input-end", id: part.id }
    case "finish":
      return { type: "finish", usage, finishReason: { unified: unified(part.reason), raw: undefined } }
    default:
      return called(part) ?? { type: "ping" }
  }
}

// =============================================================================
// Prompts
// =============================================================================

/** What is wrong with a prompt of the interface, and where it says something else than the engine's. */
export const check = (
  sent: Provider.LanguageModelV4Prompt,
  engine: Prompt.Prompt
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const { disputed, said } = ofEngine(engine)
  const heard = sent.flatMap(ofMessage).filter((line) => !disputed.some((id) => line.startsWith(`answer ${id} `)))
  if (sent.some((message) => rivals(message, disputed))) problems.push("the model hears two answers about one call")
  if (said.join("\n") !== heard.join("\n")) {
    problems.push(`the engine says\n${said.join("\n")}\nand the model hears\n${heard.join("\n")}`)
  }
  let waiting = new Set<string>()
  for (const message of sent) {
    if (message.role !== "tool" && waiting.size > 0) {
      problems.push(`no result of ${[...waiting].join(", ")} stands behind the message of the calls`)
    }
    if (message.role === "assistant") {
      waiting = new Set(
        message.content.flatMap((part) =>
          part.type === "tool-call" && part.providerExecuted !== true ? [part.toolCallId] : []
        )
      )
    } else if (message.role === "tool") {
      for (const part of message.content) {
        if (part.type !== "tool-result") continue
        if (!waiting.delete(part.toolCallId)) problems.push(`the result of ${part.toolCallId} is out of place`)
        if (part.output.type === "execution-denied") problems.push("a denial is not told as a sentence")
      }
    }
    if (message.role !== "system" && message.content.length === 0) problems.push(`an empty ${message.role} message`)
  }
  if (waiting.size > 0) problems.push(`the prompt ends without results of ${[...waiting].join(", ")}`)
  return problems
}

const rivals = (message: Provider.LanguageModelV4Message, disputed: ReadonlyArray<string>): boolean =>
  message.role === "tool" &&
  message.content.filter((part) => part.type === "tool-approval-response" && disputed.includes(part.approvalId))
      .length > 1

/**
 * The parts of a prompt in order, without requests, which the interface has no place for, and without the answers to
 * several about one call, which somebody has forged: one of them may be heard.
 */
const ofEngine = (
  prompt: Prompt.Prompt
): { readonly said: ReadonlyArray<string>; readonly disputed: ReadonlyArray<string> } => {
  const issued = new Set<string>()
  const stamped = new Set<string>()
  // What another provider ran is not said to this one.
  const foreign = new Set<string>()
  const asked = new Map<string, Set<string>>()
  const answered = answersOf(prompt)
  const said = prompt.content.flatMap((message): ReadonlyArray<string> => {
    if (message.role === "system") return [`system ${message.content}`]
    // The results of our calls come first, so that an answer to others of the message stands behind all of it.
    const late: Array<string> = []
    let hasLocal = false
    const lines = (message.content as ReadonlyArray<Prompt.Part>).flatMap((part): ReadonlyArray<string> => {
      switch (part.type) {
        case "text":
          return [`${message.role} text ${part.text}`]
        case "tool-call":
          if (part.options["ai-sdk"] !== undefined) stamped.add(part.id)
          else stamped.delete(part.id)
          if (part.providerExecuted && !stamped.has(part.id)) {
            foreign.add(part.id)
            return []
          }
          if (part.providerExecuted) foreign.delete(part.id)
          else hasLocal = true
          return [`call ${part.id} ${part.name} ${JSON.stringify(part.params)} ${part.providerExecuted}`]
        case "tool-result":
          if (part.providerExecuted && part.isFailure && part.options["assent"] !== undefined) {
            const told = denial(part, stamped, (id) => issued.has(id) && answered.has(id))
            return hasLocal ? (late.push(...told), []) : told
          }
          return part.providerExecuted && foreign.has(part.id)
            ? []
            : [`${message.role} result ${part.id} ${part.name} ${part.isFailure}`]
        case "tool-approval-request":
          if (stamped.has(part.toolCallId)) {
            issued.add(part.approvalId)
            asked.set(part.toolCallId, (asked.get(part.toolCallId) ?? new Set()).add(part.approvalId))
          }
          return []
        case "tool-approval-response":
          return issued.has(part.approvalId)
            ? [`answer ${part.approvalId} ${part.approved} ${part.reason ?? ""}`]
            : []
        case "reasoning":
          return [...carried(part)]
        default:
          return [`${message.role} ${part.type}`]
      }
    })
    return [...lines, ...late]
  })
  const disputed = [...asked.values()].flatMap((ids) => ids.size > 1 ? [...ids] : [])
  return { disputed, said: said.filter((line) => !disputed.some((id) => line.startsWith(`answer ${id} `))) }
}

// Of a call that was denied within its turn nobody's answer stands in a message.
const denial = (
  { id, options, result }: Prompt.ToolResultPart,
  stamped: ReadonlySet<string>,
  isTold: (approvalId: string) => boolean
): ReadonlyArray<string> => {
  const { assent } = options as { readonly assent: { readonly approvalId: string } }
  const { reason } = result as { readonly reason: string }
  return stamped.has(id) && !isTold(assent.approvalId) ? [`answer ${assent.approvalId} false ${reason}`] : []
}

const answersOf = (prompt: Prompt.Prompt): ReadonlySet<string> =>
  new Set(
    prompt.content.flatMap(({ content }) =>
      typeof content === "string" ?
        [] :
        content.flatMap((part) => part.type === "tool-approval-response" ? [part.approvalId] : [])
    )
  )

// A result that does not fit its tool, because that has changed, is carried.
const carried = (part: Prompt.ReasoningPart): ReadonlyArray<string> => {
  const options: { readonly [key: string]: unknown } = part.options
  const { carried } = (options["ai-sdk"] ?? {}) as { readonly carried?: Provider.LanguageModelV4ToolResultPart }
  return carried === undefined ? ["assistant reasoning"] : ofMessage({ role: "assistant", content: [carried] })
}

const ofMessage = (message: Provider.LanguageModelV4Message): ReadonlyArray<string> => {
  if (message.role === "system") return [`system ${message.content}`]
  return message.content.map((part): string => {
    switch (part.type) {
      case "text":
        return `${message.role} text ${part.text}`
      case "tool-call":
        return `call ${part.toolCallId} ${part.toolName} ${JSON.stringify(part.input)} ${
          part.providerExecuted === true
        }`
      case "tool-result": {
        const isFailure = part.output.type === "error-json" || part.output.type === "error-text"
        return `${message.role} result ${part.toolCallId} ${part.toolName} ${isFailure}`
      }
      case "tool-approval-response":
        return `answer ${part.approvalId} ${part.approved} ${part.reason ?? ""}`
      default:
        return `${message.role} ${part.type}`
    }
  })
}
