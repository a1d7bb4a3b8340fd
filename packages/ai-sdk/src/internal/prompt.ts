/** A prompt as the provider interface takes it. What the engine wrote is well-formed (law L7), and stays so here. */
import type * as Provider from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Approvals from "./approvals.ts"
import * as Carrier from "./carrier.ts"
import * as Files from "./files.ts"
import * as Metadata from "./metadata.ts"
import type { Version } from "./models.ts"
import * as Requirements from "./requirements.ts"
import * as Results from "./results.ts"

type Message = Provider.LanguageModelV4Message
type UserPart = Extract<Message, { role: "user" }>["content"][number]
type AssistantPart = Extract<Message, { role: "assistant" }>["content"][number]
type ToolPart = Extract<Message, { role: "tool" }>["content"][number]

/** The model that a prompt is for. */
interface Model {
  readonly provider: string
  readonly modelId: string
  readonly specificationVersion: Version
}

/** What every part is written by. */
interface Context {
  readonly history: Approvals.History
  readonly version: Version
  readonly ids: Requirements.CallIds
  readonly requirements: Requirements.Requirements
  /** Calls that another provider ran. */
  readonly foreign: Set<string>
  /** The tools of the request, by their names. */
  readonly tools: ReadonlyMap<string, Tool.Any>
}

export const make = (
  messages: ReadonlyArray<Prompt.Message>,
  history: Approvals.History,
  model: Model,
  tools: ReadonlyArray<Tool.Any>
): Provider.LanguageModelV4Prompt => {
  const requirements = Requirements.of(model)
  const version = model.specificationVersion
  const context: Context = {
    history,
    version,
    ids: Requirements.callIds(requirements),
    requirements,
    foreign: new Set(),
    tools: new Map(tools.map((tool) => [tool.name, tool]))
  }
  const written: Array<Message> = []
  for (const [index, message] of messages.entries()) {
    const providerOptions = Metadata.toProvider(message.options)
    const rest = providerOptions === undefined ? undefined : { providerOptions }
    switch (message.role) {
      case "system":
        written.push({ role: "system", content: message.content, ...rest })
        break
      case "user":
        if (requirements.assistantAfterResults && written[written.length - 1]?.role === "tool") {
          written.push({ role: "assistant", content: [{ type: "text", text: Requirements.acknowledgement }] })
        }
        written.push({ role: "user", content: message.content.flatMap((part) => userPart(part, version)), ...rest })
        break
      case "assistant": {
        let content: Array<AssistantPart> = []
        // What was thought, and led to nothing, as where a model was cut: some refuse it alone, and others a message that it
        // leaves empty. Where the assistant goes on, it led there.
        const push = (goesOn: boolean) => {
          if (content.length > 0 && (goesOn || !content.every(isThought))) {
            written.push({ role: "assistant", content, ...rest })
          }
          content = []
        }
        const answers: Array<ToolPart> = []
        for (const part of message.content) {
          assistantPart(part, context, content)
          // Denied within the turn: nobody's answer stands in a message.
          const answer = Approvals.inlineAnswer(part, history)
          if (answer === undefined) continue
          answers.push(answer)
          // What follows came after it, but the results of our calls come first.
          if (content.some(isLocalCall)) continue
          push(false)
          pushTool(written, answers.splice(0), undefined)
        }
        push(messages[index + 1]?.role === "assistant")
        pushTool(written, answers, undefined)
        break
      }
      case "tool":
        pushTool(written, message.content.flatMap((part) => toolPart(part, context) ?? []), providerOptions)
    }
  }
  return written
}

const isLocalCall = (part: AssistantPart): boolean => part.type === "tool-call" && part.providerExecuted !== true

const isThought = ({ type }: AssistantPart): boolean => type === "reasoning" || type === "reasoning-file"

const userPart = (part: Prompt.UserMessagePart, version: Version): Array<UserPart> =>
  part.type === "file" ? [Files.filePart(part, version)] : part.text.length === 0 ? [] : [textPart(part)]

const textPart = (part: Prompt.TextPart): Provider.LanguageModelV4TextPart => {
  const providerOptions = Metadata.toProvider(part.options)
  return providerOptions === undefined
    ? { type: "text", text: part.text }
    : { type: "text", text: part.text, providerOptions }
}

const assistantPart = (
  part: Prompt.AssistantMessagePart,
  context: Context,
  content: Array<AssistantPart>
): void => {
  const { history, ids, version } = context
  switch (part.type) {
    case "text": {
      // What was taken out of other texts to be read is told by those.
      if (Metadata.readOwn(part)["selected"] === true) return
      const text = textPart(part)
      // A text of nothing but space is refused by some, even where they said it.
      if (text.text.trim().length > 0 || text.providerOptions !== undefined) content.push(text)
      return
    }
    case "reasoning": {
      if (Carrier.isCarrier(part)) {
        const carried = Carrier.read(part, version, history.provider)
        if (carried !== undefined) content.push(carried)
        return
      }
      const providerOptions = Metadata.toProvider(part.options)
      content.push({
        type: "reasoning",
        text: part.text,
        ...(providerOptions === undefined ? undefined : { providerOptions })
      })
      return
    }
    case "file":
      content.push(Files.filePart(part, version))
      return
    case "tool-call": {
      if (isForeign(part, context)) return
      const providerOptions = Approvals.callOptions(part, history)
      content.push({
        type: "tool-call",
        toolCallId: part.providerExecuted ? part.id : ids.ofCall(part.id, givenId(part, history)),
        toolName: providerName(part, context),
        input: inputOf(part, context),
        ...(part.providerExecuted ? { providerExecuted: true } : undefined),
        ...(providerOptions === undefined ? undefined : { providerOptions })
      })
      return
    }
    case "tool-result":
      // The denial of a call that the provider runs is told by the answer.
      if (!Approvals.isDenial(part) && !isForeign(part, context)) {
        content.push({ ...Results.part(part, version), toolName: providerName(part, context) })
      }
      return
    case "tool-approval-request":
      // The interface has no place for it: the answer names it.
      return
  }
}

// What another provider ran is no call that this one could take, and has its result in no place where this one looks for it:
// what came of it, the model has said.
const isForeign = (
  part: Prompt.ToolCallPart | Prompt.ToolResultPart,
  { foreign, history }: Context
): boolean => {
  if (!part.providerExecuted) return false
  if (part.type === "tool-result") return foreign.has(part.id)
  const own = Metadata.readOwn(part)["provider"] === history.provider
  if (own) foreign.delete(part.id)
  else foreign.add(part.id)
  return !own
}

// The id that this provider gave a call, where the conversation has another. One that was used again in a response has its own.
const givenId = (part: Prompt.ToolCallPart, history: Approvals.History): string | undefined => {
  const { callId, provider } = Metadata.readOwn(part)
  return typeof callId === "string" && provider === history.provider &&
      Requirements.inConversation(callId) === part.id
    ? callId
    : undefined
}

// Most providers refuse a call whose input is no object, as of a model that was cut in the middle of it, in this request and
// in every later one. The field is what Vercel's packages call it where they see to that. A tool of the provider's own may
// have an input of any form.
const inputOf = ({ name, params, providerExecuted }: Prompt.ToolCallPart, { tools }: Context): unknown => {
  const tool = tools.get(name)
  if (params === null || params === undefined) return {}
  return providerExecuted || (tool !== undefined && Tool.isProviderDefined(tool)) || Metadata.isRecord(params)
    ? params
    : { rawInvalidInput: params }
}

// The name that the provider used, where one tool of the toolkit stands for many. What a model calls although it is not there
// may have a name that no provider takes, in this request and in every later one.
const providerName = (part: Prompt.ToolCallPart | Prompt.ToolResultPart, { tools }: Context): string => {
  if (part.providerExecuted) {
    const { toolName } = Metadata.readOwn(part)
    return typeof toolName === "string" ? toolName : part.name
  }
  return tools.has(part.name) ? part.name : part.name.replace(/[^\w-]/gu, "_").slice(0, 64) || "unknown"
}

const toolPart = (
  part: Prompt.ToolMessagePart,
  context: Context
): ToolPart | undefined => {
  const { history, ids, requirements, version } = context
  if (part.type === "tool-approval-response") return Approvals.answer(part, history)
  if (Approvals.isDenial(part)) return Approvals.inlineAnswer(part, history)
  if (isForeign(part, context)) return undefined
  const result = Results.part(part, version)
  return {
    ...result,
    output: requirements.takesBlankResults ? result.output : Results.notBlank(result.output),
    toolCallId: part.providerExecuted ? part.id : ids.ofResult(part.id),
    toolName: part.providerExecuted ? part.name : providerName(part, context)
  }
}

// Results and answers that follow each other are one message.
const pushTool = (
  written: Array<Message>,
  content: Array<ToolPart>,
  providerOptions: Provider.SharedV4ProviderOptions | undefined
): void => {
  if (content.length === 0) return
  const last = written[written.length - 1]
  if (last?.role === "tool" && last.providerOptions === undefined && providerOptions === undefined) {
    last.content.push(...content)
    return
  }
  written.push({ role: "tool", content, ...(providerOptions === undefined ? undefined : { providerOptions }) })
}
