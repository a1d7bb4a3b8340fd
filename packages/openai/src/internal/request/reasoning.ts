/** Reasoning goes back to OpenAI as the one item that its summaries came from. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Responses from "openai/resources/responses/responses"
import * as Metadata from "../metadata.ts"

interface Group {
  readonly summary: Array<Responses.ResponseReasoningItem.Summary>
  readonly content: Array<Responses.ResponseReasoningItem.Content>
  encryptedContent: string | undefined
}

/** The reasoning of a message by item id; parts without one are of another provider. */
export const groups = (content: ReadonlyArray<Prompt.AssistantMessagePart>): ReadonlyMap<string, Group> => {
  const groups = new Map<string, Group>()
  for (const part of content) {
    if (part.type !== "reasoning") continue
    const fields = Metadata.read(part)
    const itemId = Metadata.text(fields, "itemId")
    if (itemId === undefined || isCarrier(fields)) continue
    let group = groups.get(itemId)
    if (group === undefined) groups.set(itemId, group = { summary: [], content: [], encryptedContent: undefined })
    // It comes with the last part; what an earlier one has, if any, is older.
    group.encryptedContent = Metadata.text(fields, "encryptedContent") ?? group.encryptedContent
    if (part.text.length === 0) continue
    if (fields["raw"] === true) group.content.push({ type: "reasoning_text", text: part.text })
    else group.summary.push({ type: "summary_text", text: part.text })
  }
  return groups
}

/** The whole item; `undefined` where OpenAI could not read it without having kept it. */
export const item = (id: string, group: Group | undefined): Responses.ResponseReasoningItem | undefined => {
  if (group === undefined || (group.encryptedContent === undefined && group.content.length === 0)) return undefined
  return {
    type: "reasoning",
    id,
    summary: group.summary,
    ...(group.content.length === 0 ? undefined : { content: group.content }),
    ...(group.encryptedContent === undefined ? undefined : { encrypted_content: group.encryptedContent })
  }
}

/** A part that stands for an item of another type. */
export const isCarrier = (fields: Metadata.Fields): boolean =>
  typeof fields["itemType"] === "string" && fields["itemType"] !== "reasoning"
