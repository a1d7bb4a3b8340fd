/**
 * A turn that is being taken, and what it has said so far. It belongs to the server: whoever reads it may leave, come back
 * and be slow, and the turn does not notice.
 */
import * as Deferred from "effect/Deferred"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Chunk, FinishReason, UiMessage } from "../wire/model.ts"

/** The message that a turn goes on with. */
export interface Beginning {
  readonly messageId: string
  /** What it had said before the turn; `undefined` for a new one. */
  readonly before: UiMessage | undefined
  /** What the user says was said before, and this is the message that answers it. */
  readonly isRepeated?: boolean | undefined
}

export interface Ending {
  readonly error?: string | undefined
  /** Somebody stopped it. */
  readonly isStopped?: boolean | undefined
  readonly finishReason?: FinishReason | undefined
}

export interface Live {
  /** The message of the page that it began with. */
  readonly said: { readonly messageId: string; readonly text: string } | undefined
  /** `undefined` until it has begun. */
  readonly beginning: () => Beginning | undefined
  readonly ending: () => Ending | undefined
  readonly begin: (beginning: Beginning) => void
  readonly add: (chunks: ReadonlyArray<Chunk>) => void
  readonly end: (ending: Ending) => void
  /** What was said from there on; `undefined` if that is not kept any more. */
  readonly from: (index: number) => ReadonlyArray<Chunk> | undefined
  /** Something was said, or it ended. */
  readonly changed: () => Effect.Effect<void>
}

/** Makes one that keeps about as many bytes of what it said last. */
export const make = (said: Live["said"], maxBytes: number): Live => {
  let beginning: Beginning | undefined
  let ending: Ending | undefined
  let chunks: Array<Chunk> = []
  let dropped = 0
  let bytes = 0
  let changed = Deferred.makeUnsafe<void>()

  const change = () => {
    const before = changed
    changed = Deferred.makeUnsafe<void>()
    Deferred.doneUnsafe(before, Exit.void)
  }

  return {
    said,
    beginning: () => beginning,
    ending: () => ending,
    begin: (one) => {
      beginning = one
      change()
    },
    add: (more) => {
      if (more.length === 0) return
      chunks.push(...more)
      for (const chunk of more) bytes += sizeOf(chunk)
      if (bytes > maxBytes) {
        dropped += chunks.length
        chunks = []
        bytes = 0
      }
      change()
    },
    end: (one) => {
      if (ending !== undefined) return
      ending = one
      change()
    },
    from: (index) => index < dropped ? undefined : chunks.slice(index - dropped),
    changed: () => Deferred.await(changed)
  }
}

// Most chunks are deltas, and of these there are many.
const sizeOf = (chunk: Chunk): number =>
  overhead + ("delta" in chunk ? chunk.delta.length : JSON.stringify(chunk).length)

const overhead = 100
