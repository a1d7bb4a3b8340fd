/** A prompt as OpenAI's input. Everything OpenAI has already is left out, or named where it keeps it. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "../approvals/approvals.ts"
import * as Content from "../items/content.ts"
import * as Local from "../items/local.ts"
import * as Metadata from "../metadata.ts"
import * as Known from "./known.ts"
import * as Reasoning from "./reasoning.ts"

export interface Options extends Content.Options {
  readonly systemRole: "system" | "developer"
  /** Whether OpenAI keeps the items of earlier responses, so that their ids are enough. */
  readonly references: boolean
  /**
   * Whether a request for approval may be told from the history alone. Only where OpenAI keeps none: what it does not
   * know although it keeps everything, it never asked (law L4).
   */
  readonly rebuildsRequests: boolean
  readonly base: Known.Base
  /** The names of the tools of the request. */
  readonly toolNames: ReadonlySet<string>
}

type Item = Responses.ResponseInputItem

export const make = (
  messages: ReadonlyArray<Prompt.Message>,
  history: Approvals.History,
  options: Options
): Array<Item> => {
  const start = Known.start(messages, options.base)
  const writer = makeWriter(history, options, start, answeredWithin(messages, history))
  for (const asked of history.byCall.values()) {
    if (asked.messageIndex === start - 1 && asked.answer === undefined) {
      writer.items.push(Approvals.withdrawnItem(asked))
    }
  }
  for (let index = 0; index < start; index++) {
    const message = messages[index]!
    if (message.role === "assistant") writer.known(message)
  }
  for (let index = start; index < messages.length; index++) {
    const message = messages[index]!
    switch (message.role) {
      case "system":
        writer.items.push({ role: options.systemRole, content: message.content })
        break
      case "user":
        writer.items.push({
          role: "user",
          content: message.content.map((part, index) => Content.part(part, index, options))
        })
        break
      case "assistant":
        writer.assistant(message, resultsBehind(messages, index))
        break
      case "tool":
        for (const part of message.content) writer.tool(part)
    }
  }
  return writer.items
}

/** The results of the program's own calls that stand behind a message, by their calls' ids. */
const resultsBehind = (
  messages: ReadonlyArray<Prompt.Message>,
  index: number
): ReadonlyMap<string, Prompt.ToolResultPart> => {
  const results = new Map<string, Prompt.ToolResultPart>()
  for (let next = index + 1; messages[next]?.role === "tool"; next++) {
    for (const part of (messages[next] as Prompt.ToolMessage).content) {
      if (part.type === "tool-result" && !part.providerExecuted && !results.has(part.id)) results.set(part.id, part)
    }
  }
  return results
}

/**
 * Requests that OpenAI ran before the history holds an answer: it was given within a turn. One that comes later changes
 * nothing, and told behind what ran it would run it again.
 */
const answeredWithin = (
  messages: ReadonlyArray<Prompt.Message>,
  history: Approvals.History
): ReadonlySet<string> => {
  const late = new Set<string>()
  const ran = [...history.byApproval.values()].filter(({ inline, result }) =>
    !inline && result !== undefined && Metadata.read(result)["itemType"] === "mcp_call"
  )
  if (ran.length === 0) return late
  const places = new Map<Prompt.Part, number>()
  for (const message of messages) {
    if (message.role !== "assistant" && message.role !== "tool") continue
    for (const part of message.content) places.set(part, places.size)
  }
  for (const { answer, approvalId, result } of ran) {
    if (answer !== undefined && places.get(result!)! < places.get(answer)!) late.add(approvalId)
  }
  return late
}

const makeWriter = (
  history: Approvals.History,
  options: Options,
  start: number,
  within: ReadonlySet<string>
) => {
  const { references } = options
  const items: Array<Item> = []
  // Items are named once, however many parts were made of them.
  const named = new Set<string>()
  const answered = new Set<Approvals.Asked>()
  const types: Local.Types = new Map()
  const ids = makeCallIds()
  // Calls of ours whose outputs OpenAI has, although they stand after the response that it goes on from.
  const settled = new Set<string>()
  // Results that have their place before what the model said next.
  const placed = new Set<Prompt.ToolResultPart>()

  const name = (id: string): void => {
    if (named.has(id)) return
    named.add(id)
    items.push({ type: "item_reference", id })
  }

  /** An item that OpenAI made: its id where OpenAI keeps it, else the item. Nothing where neither can be told. */
  const whole = (id: string | undefined, item: Item | undefined): void => {
    if (id !== undefined && named.has(id)) return
    if (references && id !== undefined) name(id)
    else if (item !== undefined) {
      if (id !== undefined) named.add(id)
      items.push(item)
    }
  }

  /**
   * Whether OpenAI can be told of the answer. What it asked in the response that it goes on from waits for one; whatever
   * it asked before that has had one. Elsewhere the request comes along, and what was run for it: one without the other
   * would run it again.
   */
  const isTold = (asked: Approvals.Asked): boolean => {
    if (asked.messageIndex < start) return asked.messageIndex === start - 1
    if (references) return true
    return options.rebuildsRequests && Approvals.requestItem(asked) !== undefined &&
      (asked.answer?.approved === false || asked.result === undefined || hostedItem(asked.result) !== undefined)
  }

  const text = (part: Prompt.TextPart, keepsIds: boolean): void => {
    const fields = Metadata.read(part)
    const refusal = Metadata.text(fields, "refusal")
    const said = Metadata.text(fields, "corrected") ?? part.text
    if (said.length === 0 && refusal === undefined) return
    const itemId = keepsIds ? Metadata.text(fields, "itemId") : undefined
    if (itemId === undefined) {
      items.push({ role: "assistant", content: refusal ?? said, ...phaseOf(fields) })
      return
    }
    const content: Responses.ResponseOutputMessage["content"][number] = refusal !== undefined
      ? { type: "refusal", refusal }
      : { type: "output_text", text: said, annotations: annotationsOf(fields) }
    const last = items[items.length - 1]
    if (last !== undefined && last.type === "message" && "id" in last && last.id === itemId && "status" in last) {
      ;(last as Responses.ResponseOutputMessage).content.push(content)
      return
    }
    items.push({
      type: "message",
      role: "assistant",
      id: itemId,
      status: "completed",
      content: [content],
      ...phaseOf(fields)
    })
  }

  return {
    items,
    /** A message that OpenAI has. */
    known(message: Prompt.AssistantMessage): void {
      // Where the turn went on by itself, a message has several responses, and its results stand behind the last. No
      // response is made before the calls of the one before it have their outputs.
      const last = message.content.map(responseOf).findLast((id) => id !== undefined)
      for (const part of message.content) {
        if (part.type !== "tool-call" || part.providerExecuted) continue
        Local.noteType(types, part)
        ids.know(part.id)
        const response = responseOf(part)
        if (response === undefined || response === last) settled.delete(part.id)
        else settled.add(part.id)
      }
    },
    assistant(message: Prompt.AssistantMessage, results: ReadonlyMap<string, Prompt.ToolResultPart>): void {
      const content = inPlace(message.content)
      const groups = Reasoning.groups(content)
      // OpenAI refuses an item that names itself without the reasoning that led to it.
      const keepsIds = references || [...groups].every(([id, group]) => Reasoning.item(id, group) !== undefined)
      // OpenAI refuses reasoning without the item that it led to: where that is left out, so is what led there.
      let leading = items.length
      // Where the turn went on by itself, what the model was told before it said more keeps its place.
      let open: Array<string> = []
      let response: string | undefined
      for (const part of content) {
        const next = responseOf(part)
        if (next !== undefined && response !== undefined && next !== response && open.length > 0) {
          items.length = leading
          for (const id of open) {
            const result = results.get(id)
            if (result === undefined || settled.has(id)) continue
            items.push(Local.outputItem({ ...result, id: ids.ofResult(id) }, types.get(id), options))
            placed.add(result)
          }
          open = []
          leading = items.length
        }
        response = next ?? response
        if (part.type === "tool-call" && !part.providerExecuted) open.push(part.id)
        const before = items.length
        switch (part.type) {
          case "text":
            text(part, keepsIds)
            break
          case "reasoning": {
            const fields = Metadata.read(part)
            const itemId = Metadata.text(fields, "itemId")
            if (!Reasoning.isCarrier(fields)) {
              if (itemId !== undefined) whole(itemId, Reasoning.item(itemId, groups.get(itemId)))
              continue
            }
            if (!ownTypes.has(fields["itemType"])) whole(itemId, rawItem(fields))
            break
          }
          case "tool-call": {
            if (!part.providerExecuted) {
              Local.noteType(types, part)
              settled.delete(part.id)
              items.push(Local.callItem({ ...part, id: ids.ofCall(part.id) }, keepsIds, options.toolNames))
              break
            }
            // A call that OpenAI runs is told with its result; one that it asked about, once somebody has answered.
            const asked = history.byCall.get(part)
            if (asked === undefined) continue
            if (asked.answer === undefined || !isTold(asked)) break
            // One that was asked about again is another request.
            const givenId = Approvals.given(asked.approvalId)
            if (!references && givenId !== asked.approvalId) named.delete(givenId)
            whole(givenId, Approvals.requestItem(asked))
            if (asked.inline) items.push(Approvals.answerItem(asked.answer))
            else if (within.has(asked.approvalId)) {
              items.push({ type: "mcp_approval_response", approval_request_id: givenId, approve: true })
            }
            break
          }
          case "tool-result":
            hostedResult(part)
            break
          default:
            continue
        }
        if (items.length === before) items.length = leading
        leading = items.length
      }
      items.length = leading
    },
    tool(part: Prompt.ToolMessagePart): void {
      if (part.type === "tool-result") {
        if (part.providerExecuted) hostedResult(part)
        else if (!settled.has(part.id) && !placed.has(part)) {
          items.push(Local.outputItem({ ...part, id: ids.ofResult(part.id) }, types.get(part.id), options))
        }
        return
      }
      const asked = history.byApproval.get(part.approvalId)
      if (asked === undefined || answered.has(asked) || within.has(part.approvalId) || !isTold(asked)) return
      answered.add(asked)
      items.push(Approvals.answerItem(asked.answer ?? part))
    }
  }

  function hostedResult(part: Prompt.ToolResultPart): void {
    if (!part.providerExecuted) return
    whole(Metadata.text(Metadata.read(part), "itemId"), hostedItem(part))
  }
}

/** OpenAI gives each call an id of its own, and takes none twice; others use theirs again. */
const makeCallIds = () => {
  const used = new Set<string>()
  const latest = new Map<string, string>()
  const know = (id: string, written = id): string => {
    used.add(written)
    latest.set(id, written)
    return written
  }
  return {
    /** OpenAI has the call. */
    know,
    ofCall: (id: string): string => {
      let written = id
      for (let count = 2; used.has(written); count++) written = `${id}_${count}`
      return know(id, written)
    },
    /** The id of the latest call of an id. */
    ofResult: (id: string): string => latest.get(id) ?? id
  }
}

/** The parts of a message as their items stood in the response: in a stream, some may come after what they stand before. */
const inPlace = (
  content: ReadonlyArray<Prompt.AssistantMessagePart>
): ReadonlyArray<Prompt.AssistantMessagePart> => {
  const moves = new Map<string, string>()
  for (const part of content) {
    const fields = Metadata.read(part)
    const id = Metadata.text(fields, "itemId")
    const before = Metadata.text(fields, "before")
    if (id !== undefined && before !== undefined && id !== before) moves.set(id, before)
  }
  let ordered = content
  // Moving one may leave behind what stands before it: once more for each, at most.
  for (let rounds = moves.size, moved = true; moved && rounds > 0; rounds--) {
    moved = false
    for (const [id, before] of moves) {
      const place = ordered.findIndex((part) => itemOf(part) === before)
      if (place < 0 || ordered.findIndex((part) => itemOf(part) === id) < place) continue
      ordered = [
        ...ordered.slice(0, place),
        ...ordered.filter((part) => itemOf(part) === id),
        ...ordered.slice(place).filter((part) => itemOf(part) !== id)
      ]
      moved = true
    }
  }
  return ordered
}

const itemOf = (part: Prompt.AssistantMessagePart): string | undefined => Metadata.text(Metadata.read(part), "itemId")

const responseOf = (part: Prompt.AssistantMessagePart): string | undefined =>
  Metadata.text(Metadata.read(part), "responseId")

// What only a part of its own may say, or a request: nobody is answered, and nothing allowed, out of metadata (law L4).
const ownTypes: ReadonlySet<unknown> = new Set([
  "additional_tools",
  "configuration_update",
  "function_call",
  "function_call_output",
  "item_reference",
  "mcp_approval_request",
  "mcp_approval_response",
  "message",
  "reasoning"
])

// What OpenAI wrote is sent back as it came; that it is an item is OpenAI's to say.
const rawItem = (fields: Metadata.Fields): Item | undefined => {
  const { item } = fields
  if (!Metadata.isRecord(item) || typeof item["type"] !== "string" || ownTypes.has(item["type"])) return undefined
  return item as unknown as Item
}

const hostedItem = (part: Prompt.ToolResultPart): Item | undefined => {
  const item = rawItem(Metadata.read(part))
  // An image stands in the result alone, because it is large.
  return item?.type === "image_generation_call" && Metadata.isRecord(part.result)
    ? { ...item, result: typeof part.result["result"] === "string" ? part.result["result"] : null }
    : item
}

const annotationsOf = (fields: Metadata.Fields): Responses.ResponseOutputText["annotations"] => {
  const { annotations } = fields
  return Array.isArray(annotations) ? annotations : []
}

const phaseOf = (fields: Metadata.Fields) => {
  const { phase } = fields
  return phase === "commentary" || phase === "final_answer" ? { phase } as const : undefined
}
