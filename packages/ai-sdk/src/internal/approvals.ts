/**
 * Approvals of calls that the provider runs (law L9). Its request names a call of its own; the answer goes back once, in
 * its place, by the request's id. No other approval part reaches a provider: not one about a call that runs here, and
 * not one that another provider asked for.
 */
import type * as Provider from "@ai-sdk/provider"
import * as LanguageModel from "@assent/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Metadata from "./metadata.ts"

type Answer = Provider.LanguageModelV4ToolApprovalResponsePart

/** What a history says of the requests of one provider. */
export interface History {
  /** The provider that is called. */
  readonly provider: string
  /** The call that a request asks about, by the request's id. */
  readonly calls: ReadonlyMap<string, Prompt.ToolCallPart>
  /** The other way round. */
  readonly requests: ReadonlyMap<Prompt.ToolCallPart, string>
  /** Requests that somebody has answered in a message. */
  readonly answered: ReadonlySet<string>
  /** Results of calls of this provider that were denied: a chat keeps no request that was answered within its turn. */
  readonly denials: ReadonlySet<Prompt.Part>
  /** Ids of calls that the provider asked about: what it runs for them comes under the same id. */
  readonly askedIds: ReadonlySet<string>
}

/** The name under which a provider's options stand: `openai` of `openai.responses`. */
export const family = (provider: string): string => {
  const end = provider.indexOf(".")
  return end < 0 ? provider : provider.slice(0, end)
}

/** What is noted on a call that a provider runs: whose it is. */
export const stamp = (provider: string) => ({ provider: family(provider) })

interface Found {
  /** The ids of the requests about a call. */
  readonly byCall: Map<Prompt.ToolCallPart, Array<string>>
  readonly answered: Set<string>
  readonly denials: Set<Prompt.Part>
}

export const read = (messages: ReadonlyArray<Prompt.Message>, model: string): Effect.Effect<History> => {
  const provider = family(model)
  const found = find(messages, provider)
  if (found === undefined) return Effect.succeed({ ...noHistory, provider })
  const { answered, byCall, denials } = found
  return Effect.map(
    Effect.forEach(byCall, ([call, ids]) => Effect.map(issued(call, ids), Option.map((id) => [call, id] as const))),
    (found) => Arr.getSomes(found)
  ).pipe(Effect.map((requests) => ({
    provider,
    answered,
    denials,
    calls: new Map(requests.map(([call, id]) => [id, call])),
    requests: new Map(requests),
    askedIds: new Set(Array.from(byCall.keys(), (call) => call.id))
  })))
}

const noHistory: Omit<History, "provider"> = {
  calls: new Map(),
  requests: new Map(),
  answered: new Set(),
  denials: new Set(),
  askedIds: new Set()
}

// A provider asks once about a call: of several requests the one that was sealed with it counts, or none (law L4).
const issued = (call: Prompt.ToolCallPart, ids: ReadonlyArray<string>): Effect.Effect<Option.Option<string>> =>
  ids.length === 1
    ? Effect.succeedSome(ids[0]!)
    : Effect.findFirst(
      ids,
      (id) => Effect.match(LanguageModel.verifyRequest(call, id), { onSuccess: () => true, onFailure: () => false })
    )

const find = (messages: ReadonlyArray<Prompt.Message>, provider: string): Found | undefined => {
  let found: Found | undefined
  // The latest call of an id: a request asks about it.
  let latest: Map<string, Prompt.ToolCallPart> | undefined
  for (const message of messages) {
    if (message.role !== "assistant" && message.role !== "tool") continue
    for (const part of message.content) {
      if (part.type === "tool-call") {
        if (part.providerExecuted) (latest ??= new Map()).set(part.id, part)
      } else if (part.type === "tool-approval-request") {
        const call = latest?.get(part.toolCallId)
        if (call === undefined || Metadata.readOwn(call)["provider"] !== provider) continue
        found ??= { byCall: new Map(), answered: new Set(), denials: new Set() }
        const ids = found.byCall.get(call)
        if (ids === undefined) found.byCall.set(call, [part.approvalId])
        else if (!ids.includes(part.approvalId)) ids.push(part.approvalId)
      } else if (part.type === "tool-approval-response") {
        found?.answered.add(part.approvalId)
      } else if (part.type === "tool-result" && isDenial(part)) {
        const call = latest?.get(part.id)
        if (call === undefined || Metadata.readOwn(call)["provider"] !== provider) continue
        found ??= { byCall: new Map(), answered: new Set(), denials: new Set() }
        found.denials.add(part)
      }
    }
  }
  return found
}

/** A person's answer, for the provider that asked. */
export const answer = (part: Prompt.ToolApprovalResponsePart, history: History): Answer | undefined =>
  history.calls.has(part.approvalId) ? answerPart(part.approvalId, part.approved, part.reason) : undefined

const answerPart = (approvalId: string, approved: boolean, reason: string | undefined): Answer => ({
  type: "tool-approval-response",
  approvalId,
  approved,
  ...(reason === undefined || reason.length === 0 ? undefined : { reason })
})

/** Whether it is the engine's word that a call of the provider's was denied. */
export const isDenial = (part: Prompt.Part): boolean => deniedApproval(part) !== undefined

const deniedApproval = (part: Prompt.Part): string | undefined => {
  if (part.type !== "tool-result" || !part.providerExecuted || !part.isFailure) return undefined
  const assent: unknown = part.options.assent
  if (!Metadata.isRecord(assent)) return undefined
  const { approvalId } = assent
  return typeof approvalId === "string" ? approvalId : undefined
}

/** The answer that a denial within the turn stands for: the policy's, or a controller's. */
export const inlineAnswer = (part: Prompt.Part, history: History): Answer | undefined => {
  const approvalId = deniedApproval(part)
  if (approvalId === undefined || !history.denials.has(part)) return undefined
  // A message tells it.
  if (history.calls.has(approvalId) && history.answered.has(approvalId)) return undefined
  const { result } = part as Prompt.ToolResultPart
  const reason = Metadata.isRecord(result) && typeof result["reason"] === "string" ? result["reason"] : undefined
  return answerPart(approvalId, false, reason)
}

// OpenAI's provider finds by it under which id what it ran is to come.
const namesRequests: ReadonlySet<string> = new Set(["openai", "azure"])

/** The options of a call, with its request where the provider looks for that. */
export const callOptions = (
  part: Prompt.ToolCallPart,
  history: History
): Provider.SharedV4ProviderOptions | undefined => {
  const options = Metadata.toProvider(part.options)
  const approvalId = history.requests.get(part)
  if (approvalId === undefined || !namesRequests.has(history.provider)) return options
  return { ...options, [history.provider]: { ...options?.[history.provider], approvalRequestId: approvalId } }
}
