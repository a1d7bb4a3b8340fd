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
  /** The ids that it has had where it was added and done; another item may have had them too. */
  readonly ids: Set<string>
  /** Its place in the output; where that is not told, in the order in which it was heard of. */
  place: number
  /** The item as it was added, and as it was done. */
  added: Responses.ResponseOutputItem | undefined
  done: Responses.ResponseOutputItem | undefined
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
    const index = typeof place.output_index === "number" ? place.output_index : undefined
    const named = id ?? (place.item_id === "" ? undefined : place.item_id)
    const key = index ?? named ?? "item"
    const known = items.get(key)
    if (known !== undefined) {
      // Those of its deltas may be as many as these.
      if (id !== undefined) known.ids.add(id)
      return known
    }
    // An id that another item has would make one part of two.
    const itemId = named !== undefined && !ids.has(named) ? named : `${named ?? "item"}#${items.size}`
    ids.add(itemId)
    const item: Streamed = {
      itemId,
      ids: new Set(named === undefined ? [] : [named]),
      place: index ?? items.size,
      added: undefined,
      done: undefined,
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
    /** For each item of a finished response what has come of it, which has its place there from now on. */
    inResponse: (
      output: ReadonlyArray<Responses.ResponseOutputItem>
    ): ReadonlyArray<readonly [Responses.ResponseOutputItem, Streamed]> => {
      const left = new Set(items.values())
      const found = new Map<Responses.ResponseOutputItem, Streamed>()
      const match = (isOf: (of: Streamed, item: Responses.ResponseOutputItem, index: number) => boolean): void =>
        output.forEach((item, index) => {
          if (found.has(item)) return
          for (const of of left) {
            if (!isOf(of, item, index)) continue
            found.set(item, of)
            left.delete(of)
            return
          }
        })
      match((of, item) => isOfType(of, item) && hasIdOf(of, item))
      // The places of a response may be others than those of its events, where it leaves something out.
      const inPlace = output.every((item, index) => {
        const of = items.get(index)
        return of === undefined || isOfType(of, item)
      })
      if (inPlace) match((of, item, index) => of.place === index && isOfType(of, item))
      match((of, item) => typeOf(of) === item.type)
      return output.map((item, index) => {
        const of = found.get(item) ?? at({ output_index: -1 - index }, idOf(item))
        of.place = index
        return [item, of]
      })
    },
    /** The id of the first item that something has been said of, and that has its place behind this one. */
    behind: (item: Streamed): string | undefined => {
      let first: Streamed | undefined
      for (const of of items.values()) {
        if (of.place <= item.place || (first !== undefined && of.place >= first.place)) continue
        if (of.done !== undefined || of.texts.length > 0 || of.thoughts.size > 0) first = of
      }
      return first === undefined ? undefined : (first.done === undefined ? undefined : idOf(first.done)) ?? first.itemId
    }
  }
}

/** An empty text where nothing that has come says it. */
const typeOf = ({ added, done, texts, thoughts }: Streamed): string =>
  done?.type ?? added?.type ?? (thoughts.size > 0 ? "reasoning" : texts.length > 0 ? "message" : "")

const isOfType = (of: Streamed, item: Responses.ResponseOutputItem): boolean => {
  const type = typeOf(of)
  return type === "" || type === item.type
}

const hasIdOf = (of: Streamed, item: Responses.ResponseOutputItem): boolean => {
  const known = of.done ?? of.added
  // Ids of calls are the program's, and stay as they are.
  if (known !== undefined && "call_id" in known && "call_id" in item) return known.call_id === item.call_id
  const id = idOf(item)
  return id !== undefined && of.ids.has(id)
}

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
