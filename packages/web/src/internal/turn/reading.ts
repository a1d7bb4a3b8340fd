/**
 * What one client reads of a turn. A client cannot take everything: output for a call that its message does not have ends the
 * whole response there, and a card that stays answered makes it post again for ever.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Body from "../wire/body.ts"
import * as Chunks from "../wire/chunks.ts"
import * as Fates from "../wire/fates.ts"
import * as Messages from "../wire/messages.ts"
import type { Chunk } from "../wire/model.ts"
import * as Replay from "../wire/replay.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Conversation, Turn } from "./conversation.ts"
import * as Stopped from "./stopped.ts"
import * as Taking from "./taking.ts"
import type * as Turns from "./turns.ts"

export interface Reader {
  readonly conversation: Conversation
  readonly heartbeat: Duration.Duration
  /** Who has posted, and goes on with a message of theirs; `undefined` for a client that comes back. */
  readonly post: Body.Post | undefined
  /** Waits until what is being stopped has ended. */
  readonly stopped?: Effect.Effect<void> | undefined
}

type Some = ReadonlyArray<Chunk>

/** Everything that a client reads, to its end. It never fails: where no turn could be taken, a sentence says why. */
export const stream = (taking: Turns.Taking, reader: Reader): Stream.Stream<Chunk> => {
  const state = make(reader)
  const read = Stream.unwrap(Effect.match(taking, {
    onFailure: (error) => Stream.concat(Stream.make(state.begin(undefined)), ending(state, error)),
    onSuccess: (taken) => Stream.concat(Stream.make(state.begin(taken)), following(state, taken))
  }))
  const beats = Stream.fromEffectRepeat(
    Effect.map(
      Effect.andThen(Effect.sleep(reader.heartbeat), Clock.currentTimeMillis),
      (at): Some => [{ type: "data-heartbeat", data: { at }, transient: true }]
    )
  )
  return Stream.flattenIterable(Stream.merge(read, beats, { haltStrategy: "left" }))
}

const following = (state: State, { calls, cards, told, turn }: Taking.Taken): Stream.Stream<Some> => {
  // Why an answer did not count stands beside the card, until it is known what becomes of the call.
  const tell = (told: Taking.Taken["told"]): Some =>
    told.flatMap(([approvalId, reason]) => {
      const card = cards.get(approvalId)
      return card === undefined ? [] : state.fit(Fates.part(Messages.fateOf(card, approvalId, reason)))
    })
  if (turn === undefined) return Stream.suspend(() => ending(state, undefined, tell(told)))
  const translator = Chunks.make(calls.copy())
  const fit = (chunks: Some): Some => chunks.flatMap(state.fit)
  let failure: string | undefined
  let isStopped = false
  return turn.parts.pipe(
    Stream.mapArray((parts) => [fit(parts.flatMap(translator.next))] as const),
    Stream.catchCause((cause) => {
      failure = Sentences.ofCause(cause)
      isStopped = Stopped.isStop(cause)
      return Stream.empty
    }),
    Stream.concat(Stream.unwrap(Effect.map(refusedIn(turn), (refused) =>
      ending(
        state,
        failure ?? translator.error(),
        [...fit(translator.end()), ...tell([...told, ...refused])],
        translator.finishReason(),
        isStopped
      ))))
  )
}

const refusedIn = ({ outcome }: Turn): Effect.Effect<Taking.Taken["told"]> =>
  Effect.match(outcome, {
    onFailure: () => [],
    onSuccess: ({ refused }) =>
      refused.map(({ approvalId, error }) => [approvalId, Sentences.ofApproval(error)] as const)
  })

// In one piece: a client that posts twice has two responses, and what the one has settled the other would write over.
const ending = (
  state: State,
  error: string | undefined,
  before: Some = [],
  finishReason?: ReturnType<Chunks.Translator["finishReason"]>,
  isStopped = false
): Stream.Stream<Some> =>
  Stream.fromEffect(Effect.map(state.settle(error !== undefined, isStopped), (settled): Some => [
    ...before,
    ...settled,
    error !== undefined
      ? { type: "error", errorText: error }
      : { type: "finish", ...(finishReason === undefined ? undefined : { finishReason }) }
  ]))

interface State {
  readonly begin: (taken: Taking.Taken | undefined) => Some
  /** What of a chunk this client can take. */
  readonly fit: (chunk: Chunk) => ReadonlyArray<Chunk>
  /** Settles, or opens again, what is still answered in its message; where a turn was cut, what is open there as well. */
  readonly settle: (isCut: boolean, isStopped: boolean) => Effect.Effect<ReadonlyArray<Chunk>>
}

const make = ({ conversation, post, stopped = Effect.void }: Reader): State => {
  /** The ids that the client's message has for the calls of this turn, by those that the turn has. */
  const known = new Map<string, string>()
  const introduced = new Set<string>()
  const taken = new Set(post?.target?.toolCallIds)
  /** The requests that the cards of its message show, and those of them that were answered, with the ids of their calls. */
  const shown = new Map<string, string>()
  const answered = new Map<string, string>()
  const open = new Map<string, string>()

  const click = (approvalId: string, toolCallId: string) => {
    answered.set(approvalId, toolCallId)
    shown.set(approvalId, toolCallId)
  }

  const settled = (toolCallId: string) => {
    for (const cards of [answered, open]) {
      for (const [approvalId, id] of cards) {
        if (id === toolCallId) cards.delete(approvalId)
      }
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
        if (chunk.type === "tool-approval-request") {
          shown.set(chunk.approvalId, toolCallId)
          open.set(chunk.approvalId, toolCallId)
        }
        return [{ ...chunk, toolCallId }]
      }
      case "tool-approval-response": {
        const toolCallId = shown.get(chunk.approvalId)
        if (toolCallId === undefined) return []
        answered.set(chunk.approvalId, toolCallId)
        open.delete(chunk.approvalId)
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
    begin: (taking) => {
      if (post?.target !== undefined) {
        const { clicked, messageId, steps, toolCallIds } = post.target
        // Calls of another message may have the same ids.
        if (messageId === taking?.calledIn) { for (const id of toolCallIds) known.set(id, id) }
        for (const { approvalId, toolCallId } of clicked) click(approvalId, toolCallId)
        // Whoever answers too late has not read what was said since.
        const missed = steps > 0 && messageId === taking?.messageId && taking.before !== undefined
          ? Replay.behind(taking.before, steps)
          : []
        return [{ type: "start" }, ...missed.flatMap(fit)]
      }
      const { before, isAnew, messageId } = taking ?? nothing
      // A text may have answered what the message before has asked: then nothing of that is sent again.
      const isNew = post !== undefined && (isAnew || before === undefined)
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
    settle: (isCut, isStopped) =>
      Effect.gen(function*(): Effect.fn.Return<ReadonlyArray<Chunk>, unknown> {
        const left = isCut ? open : none
        if (answered.size === 0 && left.size === 0) return []
        if (isCut) yield* stopped
        if (isStopped) yield* Stopped.untilTakenBack(conversation, (approvalId) => left.has(approvalId))
        const { messages: { cards } } = yield* Taking.read(conversation)
        const ofAgents = new Map<string, Messages.Card | undefined>()
        for (const [approvalId, toolCallId] of answered) {
          const state = cards.has(approvalId) ? undefined : yield* conversation.stateOf(approvalId)
          if (state !== undefined) ofAgents.set(approvalId, Messages.ofAgent(approvalId, toolCallId, state))
        }
        const settling = Array.from(answered).flatMap(([approvalId, toolCallId]): ReadonlyArray<Chunk> => {
          const card = cards.get(approvalId) ?? ofAgents.get(approvalId)
          // It goes on still.
          if (card === undefined && ofAgents.has(approvalId)) return []
          return card === undefined
            ? [{ type: "tool-output-error", toolCallId, errorText: Sentences.unknown }]
            : Replay.settling(card, { approvalId, toolCallId })
        })
        const ended = Array.from(left).flatMap(([approvalId, toolCallId]): ReadonlyArray<Chunk> => {
          const card = cards.get(approvalId)
          return card === undefined || !Messages.isSettled(card)
            ? []
            : Replay.settling(card, { approvalId, toolCallId })
        })
        return [...settling, ...ended]
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.succeed<ReadonlyArray<Chunk>>([{ type: "error", errorText: Sentences.ofCause(cause) }])
        )
      )
  }
}

const none: ReadonlyMap<string, string> = new Map()

const nothing = { before: undefined, isAnew: false, messageId: undefined }

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
