/**
 * What has come of each item of a stream. An item is known by its place in the output: its id may be another in each event,
 * as GitHub Copilot's are, or the same for all.
 */
import type * as Responses from "openai/resources/responses/responses"
import * as Metadata from "../metadata.ts"

/** A text or a reasoning that has begun. */
export interface Said {
  /** The id of its part. */
  readonly id: string
  /** Of a reasoning: whether it is no summary. */
  readonly isRaw: boolean
  /** How much of it is out, in UTF-16 units, and what came last: enough to see what is missing at the end. */
  length: number
  last: string
}

export interface Streamed {
  /** The id it had when it was first heard of. */
  readonly itemId: string
  /** The item as it was added. */
  added: Responses.ResponseOutputItem | undefined
  isDone: boolean
  /** The texts that have begun, by their index. */
  readonly texts: Array<Said | undefined>
  /** What was refused, by the same index. */
  readonly refusals: Array<string | undefined>
  /** How many sources of each text are out already. */
  readonly sources: Array<number>
  /** The reasoning that has begun, by the ids of its parts, in its order. */
  readonly thoughts: Map<string, Said>
  /** The reasoning that is open. */
  thought: string | undefined
  /** The id of a call whose arguments are streamed. */
  call: string | undefined
  /** The arguments or the input so far, and whether they are all. */
  written: string
}

/** What events say of where they belong. */
export interface Place {
  readonly output_index?: number
  readonly item_id?: string
}

export const make = () => {
  const items = new Map<string | number, Streamed>()
  const ids = new Set<string>()

  const at = (place: Place, id: string | undefined): Streamed => {
    const key = typeof place.output_index === "number" ? place.output_index : id ?? place.item_id ?? "item"
    const known = items.get(key)
    if (known !== undefined) return known
    const named = id ?? place.item_id
    // An id that another item has would make one part of two.
    const itemId = named !== undefined && named.length > 0 && !ids.has(named)
      ? named
      : `${named || "item"}#${items.size}`
    ids.add(itemId)
    const item: Streamed = {
      itemId,
      added: undefined,
      isDone: false,
      texts: [],
      refusals: [],
      sources: [],
      thoughts: new Map(),
      thought: undefined,
      call: undefined,
      written: ""
    }
    items.set(key, item)
    return item
  }

  return {
    at,
    all: (): Iterable<Streamed> => items.values(),
    /**
     * For each item of a finished response what has come of it: of several of one type in their order, because places and
     * ids may be others than they were.
     */
    inResponse: (
      output: ReadonlyArray<Responses.ResponseOutputItem>
    ): ReadonlyArray<readonly [Responses.ResponseOutputItem, Streamed]> => {
      const byType = new Map<string, Array<Streamed>>()
      for (const item of items.values()) {
        const type = typeOf(item)
        byType.set(type, [...byType.get(type) ?? [], item])
      }
      return output.map((item, index) => [
        item,
        byType.get(item.type)?.shift() ?? at({ output_index: items.size + index }, idOf(item))
      ])
    }
  }
}

const typeOf = ({ added, texts, thoughts }: Streamed): string =>
  added?.type ?? (thoughts.size > 0 ? "reasoning" : texts.length > 0 ? "message" : "")

export const idOf = (item: Responses.ResponseOutputItem): string | undefined =>
  "id" in item && typeof item.id === "string" && item.id.length > 0 ? item.id : undefined

/** What of a whole text is not out yet: where what is out is its beginning. */
export const missing = (text: string, said: Said): string =>
  text.length > said.length && endsWithLast(text, said) ? text.slice(said.length) : ""

/** Whether a whole text is what is out. The letters before the last are not kept, and not compared. */
export const isWhole = (text: string, said: Said): boolean => text.length === said.length && endsWithLast(text, said)

const endsWithLast = (text: string, { last, length }: Said): boolean =>
  text.slice(length - last.length, length) === last

/** An item that was added and is not done when its response is: with what has come of it since. */
export const unfinished = (
  { added, refusals, texts, written }: Streamed
): Responses.ResponseOutputItem | undefined => {
  if (added === undefined) return undefined
  switch (added.type) {
    case "function_call":
      return { ...added, arguments: added.arguments || written }
    case "custom_tool_call":
      return { ...added, input: added.input || written }
    case "message": {
      if (texts.length > 0 || refusals.length > 0 || !Metadata.isRecord(added)) return added
      return Array.isArray(added.content) && added.content.length > 0 ? added : undefined
    }
  }
  return added
}
