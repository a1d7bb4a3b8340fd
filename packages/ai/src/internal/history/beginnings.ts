/**
 * How histories begin: with texts and settled exchanges, most of them to their last few messages. What was read of that
 * once is known again by the messages being the same objects, so that a turn costs what is new in its history, and not
 * what is old.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Cut from "./cut.ts"

type Messages = ReadonlyArray<Prompt.Message>

/** What was read of the first messages of a history. */
export interface Beginning {
  /** They are the first `length` of these. */
  readonly messages: Messages
  readonly length: number
  /** Where the settled exchanges are, and what becomes of each message if any is not left as it stands. */
  readonly exchanges: ReadonlyArray<number>
  readonly changes: Uint8Array | undefined
  readonly lastUserIndex: number
  /** How many messages had been found to be cut short. */
  readonly cuts: number
}

// By the last message: the first may be a system message that all conversations share.
const beginnings = new WeakMap<Prompt.Message, Beginning>()

/** What is known of how it begins. */
export const find = (messages: Messages): Beginning | undefined => {
  const end = Math.max(messages.length - maxNews, shortest - 1)
  for (let last = messages.length - 1; last >= end; last--) {
    const known = beginnings.get(messages[last]!)
    if (known?.length === last + 1 && known.cuts === Cut.found() && isSame(known, messages)) return known
  }
  return undefined
}

/** Whether it is worth to remember that more of it was read. */
export const isNews = (known: Beginning | undefined, length: number): boolean =>
  length >= shortest && length - (known?.length ?? 0) >= step

/** Remembers it in the place of what was known. */
export const remember = (known: Beginning | undefined, beginning: Beginning): void => {
  if (known !== undefined) beginnings.delete(lastOf(known))
  beginnings.set(lastOf(beginning), beginning)
}

// What is shorter is read as fast as it is found.
const shortest = 32
const step = 8
const maxNews = 64

const lastOf = ({ length, messages }: Beginning): Prompt.Message => messages[length - 1]!

const isSame = (known: Beginning, messages: Messages): boolean => {
  for (let index = 0; index < known.length; index++) if (known.messages[index] !== messages[index]) return false
  return true
}
