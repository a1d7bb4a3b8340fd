/**
 * What one client reads of a turn. A client cannot take everything: output for a call that its message does not have ends the
 * whole response there, and a card that stays answered makes it post again for ever.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type * as Body from "../wire/body.ts"
import * as Fates from "../wire/fates.ts"
import type { Chunk } from "../wire/model.ts"
import * as Replay from "../wire/replay.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Conversation } from "./conversation.ts"
import type { Beginning, Live } from "./live.ts"
import * as Turn from "./turn.ts"

export interface Reader {
  readonly conversation: Conversation
  readonly heartbeat: Duration.Duration
  /** Who has posted, and goes on with a message of theirs; `undefined` for a client that comes back. */
  readonly post: Body.Post | undefined
}

/** Everything that a client reads, to its end. It never fails. */
export const stream = (live: Live, reader: Reader): Stream.Stream<Chunk> =>
  Stream.fromPull(Effect.sync(() => {
    const state = make(reader)
    let index = 0
    let phase: "begins" | "follows" | "ends" = "begins"

    const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Chunk>> = Effect.suspend(() => {
      if (phase === "ends") return Cause.done()
      const beginning = live.beginning()
      const ending = live.ending()
      if (phase === "begins" && (beginning !== undefined || ending !== undefined)) {
        phase = "follows"
        return some(state.begin(beginning))
      }
      if (phase === "follows") {
        const chunks = live.from(index)
        if (chunks === undefined) {
          phase = "ends"
          return some([{ type: "error", errorText: Sentences.tooFarBehind }])
        }
        index += chunks.length
        const fitting = chunks.flatMap(state.fit)
        if (Arr.isReadonlyArrayNonEmpty(fitting)) return Effect.succeed(fitting)
        if (chunks.length > 0) return pull
        if (ending !== undefined) {
          phase = "ends"
          return Effect.flatMap(state.settle, (settled) => some([...settled, last(ending)]))
        }
      }
      return Effect.flatMap(
        Effect.timeoutOption(live.changed(), reader.heartbeat),
        (changed) => Option.isSome(changed) ? pull : Effect.flatMap(Clock.currentTimeMillis, beat)
      )
    })
    return pull
  }))

const some = (chunks: ReadonlyArray<Chunk>): Pull.Pull<Arr.NonEmptyReadonlyArray<Chunk>> =>
  Arr.isReadonlyArrayNonEmpty(chunks) ? Effect.succeed(chunks) : Effect.die("a reader pulls something")

const beat = (at: number) => some([{ type: "data-heartbeat", data: { at }, transient: true }])

const last = ({ error, finishReason, isStopped }: NonNullable<ReturnType<Live["ending"]>>): Chunk =>
  isStopped === true
    ? { type: "abort", reason: Sentences.stopped }
    : error === undefined
    ? { type: "finish", ...(finishReason === undefined ? undefined : { finishReason }) }
    : { type: "error", errorText: error }

interface State {
  readonly begin: (beginning: Beginning | undefined) => ReadonlyArray<Chunk>
  /** What of a chunk this client can take. */
  readonly fit: (chunk: Chunk) => ReadonlyArray<Chunk>
  /** Settles, or opens again, what is still answered in its message. */
  readonly settle: Effect.Effect<ReadonlyArray<Chunk>>
}

const make = ({ conversation, post }: Reader): State => {
  /** The ids that the client's message has for the calls of this turn, by those that the turn has. */
  const known = new Map<string, string>()
  const introduced = new Set<string>()
  const taken = new Set(post?.target?.toolCallIds)
  /** The requests that the cards of its message show, and those of them that were answered, with the ids of their calls. */
  const shown = new Map<string, string>()
  const answered = new Map<string, string>()

  const click = (approvalId: string, toolCallId: string) => {
    answered.set(approvalId, toolCallId)
    shown.set(approvalId, toolCallId)
  }

  const settled = (toolCallId: string) => {
    for (const [approvalId, id] of answered) {
      if (id === toolCallId) answered.delete(approvalId)
    }
  }

  // A message of a page may hold more than the one that the turn goes on with, and then another call may have this id.
  const introduce = (given: string): string => {
    if (introduced.has(given)) return known.get(given)!
    const toolCallId = unused(given, taken)
    introduced.add(given)
    taken.add(toolCallId)
    known.set(given, toolCallId)
    return toolCallId
  }

  const fit: State["fit"] = (chunk) => {
    switch (chunk.type) {
      case "tool-input-start":
      case "tool-input-available":
        return [{ ...chunk, toolCallId: introduce(chunk.toolCallId) }]
      case "tool-input-delta":
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
      case "tool-approval-request": {
        const toolCallId = known.get(chunk.toolCallId)
        if (toolCallId === undefined) return []
        if (isSettling(chunk)) settled(toolCallId)
        if (chunk.type === "tool-approval-request") shown.set(chunk.approvalId, toolCallId)
        return [{ ...chunk, toolCallId }]
      }
      case "tool-approval-response": {
        const toolCallId = shown.get(chunk.approvalId)
        if (toolCallId === undefined) return []
        answered.set(chunk.approvalId, toolCallId)
        return [chunk]
      }
      case "data-approval": {
        const toolCallId = known.get(chunk.data.toolCallId)
        return [
          toolCallId === undefined
            ? { ...chunk, transient: true }
            : { ...chunk, ...Fates.part({ ...chunk.data, toolCallId }) }
        ]
      }
      default:
        return [chunk]
    }
  }

  return {
    fit,
    begin: (beginning) => {
      if (post?.target !== undefined) {
        const { clicked, messageId, toolCallIds } = post.target
        // Calls of another message may have the same ids.
        if (messageId === beginning?.messageId) { for (const id of toolCallIds) known.set(id, id) }
        for (const { approvalId, toolCallId } of clicked) click(approvalId, toolCallId)
        return [{ type: "start" }]
      }
      const { before, isRepeated, messageId } = beginning ?? never
      const isNew = post !== undefined && !post.isRegenerating && isRepeated !== true
      return [
        {
          type: "start",
          ...(messageId === undefined
            ? undefined
            : { messageId: isNew ? unused(messageId, post.messageIds) : messageId })
        },
        ...(isNew || before === undefined ? [] : Replay.message(before).flatMap(fit))
      ]
    },
    settle: Effect.gen(function*(): Effect.fn.Return<ReadonlyArray<Chunk>, unknown> {
      if (answered.size === 0) return []
      const { cards } = yield* Turn.read(conversation)
      return Array.from(answered).flatMap(([approvalId, toolCallId]): ReadonlyArray<Chunk> => {
        const card = cards.get(approvalId)
        return card === undefined
          ? [{ type: "tool-output-error", toolCallId, errorText: Sentences.unknown }]
          : Replay.settling(card, { approvalId, toolCallId })
      })
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.succeed<ReadonlyArray<Chunk>>([{ type: "error", errorText: Sentences.ofCause(cause) }])
      )
    )
  }
}

const never = { before: undefined, isRepeated: undefined, messageId: undefined }

/** Whether no card of that call is answered after it. */
const isSettling = (chunk: Chunk): boolean =>
  chunk.type === "tool-approval-request" || chunk.type === "tool-output-error" || chunk.type === "tool-output-denied" ||
  (chunk.type === "tool-output-available" && chunk.preliminary !== true)

// What comes under an id that is there already would take its place.
const unused = (given: string, taken: ReadonlySet<string>): string => {
  for (let count = 1;; count++) {
    const id = count === 1 ? given : `${given}~${count}`
    if (!taken.has(id)) return id
  }
}
