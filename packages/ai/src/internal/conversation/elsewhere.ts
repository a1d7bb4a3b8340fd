/**
 * A turn that another process takes, as the store has it: what it has said comes when it is on record, which is before
 * anything of it runs, by looking again and again.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as Saying from "../held/saying.ts"
import * as ConversationTurn from "../held/turn.ts"
import type { TurnTaken } from "../kept/turns.ts"
import * as Unwritten from "../kept/unwritten.ts"
import * as Changes from "../store/changes.ts"
import * as Ending from "./ending.ts"
import * as Following from "./following.ts"

type Failure = ConversationStore.ConversationError

/** Which turn. */
interface Mark {
  readonly owner: string
  readonly at: number
  /** How many messages there were when it began. */
  readonly from: number
}

/** How often is looked. */
const every = "500 millis"

export const find = (place: ConversationTurn.Place): Effect.Effect<TurnTaken | undefined, Failure> =>
  Effect.gen(function*() {
    for (let looks = 1;; looks++) {
      const { history, turn } = yield* ConversationTurn.read(place)
      // What this process takes itself is known here: there is a mark before it has begun, and where its end is not written.
      if (turn === undefined || turn.owner === place.store.owner || !(yield* place.store.isAlive(turn.owner))) {
        return undefined
      }
      // Where what it says will stand is known when it has begun. An earlier version of this library never says it.
      if (turn.said === undefined && looks < 4) {
        yield* Effect.sleep(every)
        continue
      }
      const mark = { ...turn, from: fromOf(history, turn) }
      return {
        messageId: Following.idAt(history, mark.from),
        parts: partsOf(place, mark),
        outcome: outcomeOf(place, mark)
      }
    }
  })

const fromOf = ({ content }: Prompt.Prompt, { said }: NonNullable<ConversationStore.Kept["turn"]>): number =>
  said === undefined ? content.findLastIndex(({ role }) => role === "user") + 1 : content.length - said

const isTaken = ({ turn }: ConversationStore.Kept, { at, owner }: Mark): boolean =>
  turn?.owner === owner && turn.at === at

/** As it stands: whether that turn is still taken, and what the conversation is by now. Fails where its process has died. */
const look = Effect.fnUntraced(
  function*(place: ConversationTurn.Place, mark: Mark) {
    const kept = yield* ConversationTurn.read(place)
    const isOver = !isTaken(kept, mark)
    if (!isOver && !(yield* place.store.isAlive(mark.owner))) return yield* Following.left
    return { isOver, kept }
  },
  // A store that fails for a moment says nothing of the turn.
  Effect.retry({ schedule: Schedule.spaced(every), times: 4, while: Unwritten.isPassing })
)

const outcomeOf = (place: ConversationTurn.Place, mark: Mark): Effect.Effect<unknown, Failure> =>
  Effect.suspend(() => {
    const changed = watch(place)
    return Effect.flatMap(
      look(place, mark),
      ({ isOver, kept }) =>
        isOver ? Ending.standing(place, kept, undefined) : Effect.andThen(changed(every), outcomeOf(place, mark))
    )
  })

const watch = ({ key, store }: ConversationTurn.Place) => Changes.watch(store.changes, { conversation: key.id })

const partsOf = (
  place: ConversationTurn.Place,
  mark: Mark
): Stream.Stream<Response.AnyPart, Failure> =>
  Stream.fromPull(Effect.sync(() => {
    const fresh = freshIn(new Map())
    let hasEnded = false
    const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Response.AnyPart>, Failure> = Effect.suspend(() => {
      if (hasEnded) return Cause.done()
      const changed = watch(place)
      return Effect.flatMap(look(place, mark), ({ isOver, kept: { history, turn } }) => {
        hasEnded = isOver
        // The next turn may have begun, and said something.
        const to = history.content.length - (isOver ? turn?.said ?? 0 : 0)
        const parts = saidIn(history, mark.from, to).flatMap(fresh)
        if (Arr.isReadonlyArrayNonEmpty(parts)) return Effect.succeed(parts)
        return isOver ? pull : Effect.andThen(changed(every), pull)
      })
    })
    return pull
  }))

/** A part, by a name that it has however what is on record of its step changes until that is over. */
interface Said {
  readonly name: string
  readonly parts: ReadonlyArray<Response.AnyPart>
  /** It may have become longer. */
  readonly text?: Prompt.TextPart | Prompt.ReasoningPart
}

// What is new of it to who has seen so much: the length of each text, and of anything else that it is there.
const freshIn = (seen: Map<string, number>) => ({ name, parts, text }: Said): ReadonlyArray<Response.AnyPart> => {
  const before = seen.get(name) ?? 0
  const length = text?.text.length ?? 1
  if (before >= length) return []
  seen.set(name, length)
  if (text === undefined) return parts
  const { options: metadata, text: all, type } = text
  return Saying.asStreamed(Response.makePart(type, { text: all.slice(before), metadata }), `${name} ${before}`)
}

// Up to what somebody has said in the next turn.
const saidIn = ({ content }: Prompt.Prompt, from: number, to: number): ReadonlyArray<Said> => {
  const said: Array<Said> = []
  for (let position = from; position < to; position++) {
    const message = content[position]!
    if (message.role === "assistant") {
      message.content.forEach((part, index) => said.push(...saidBy(part, position, index)))
    } else if (message.role === "tool" && message.content.every(({ type }) => type === "tool-result")) {
      message.content.forEach((part, index) => said.push(...saidBy(part, position, index)))
    } else {
      break
    }
  }
  return said
}

// Ids of calls may come again in a later step (law L13).
const saidBy = (
  part: Prompt.AssistantMessagePart | Prompt.ToolMessagePart,
  position: number,
  index: number
): ReadonlyArray<Said> => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ name: `${position} ${index}`, parts: [], text: part }]
    case "file": {
      const { data, mediaType, options } = part
      const file = data instanceof Uint8Array ? [Response.makePart("file", { data, mediaType, metadata: options })] : []
      return [{ name: `${position} ${index}`, parts: file }]
    }
    case "tool-call": {
      const { id, name, options, params, providerExecuted } = part
      const call = Response.makePart("tool-call", { id, name, params, providerExecuted, metadata: options })
      return [{ name: `${position} call ${id}`, parts: [call] }]
    }
    case "tool-result": {
      const { id, isFailure, modelOutput, name, options, providerExecuted, result } = part
      const told = Response.makePart("tool-result", {
        id,
        name,
        isFailure,
        result,
        encodedResult: result,
        providerExecuted: providerExecuted === true,
        preliminary: false,
        ...(modelOutput === undefined ? undefined : { modelOutput }),
        metadata: options
      })
      return [{ name: `${position} result ${id}`, parts: [told] }]
    }
    case "tool-approval-request": {
      const { approvalId, options, toolCallId } = part
      const asked = Response.makePart("tool-approval-request", { approvalId, toolCallId, metadata: options })
      // Who was asked in the turn itself is the only one who can answer.
      return Predicate.hasProperty(options.assent, "inline") ? [] : [{ name: `request ${approvalId}`, parts: [asked] }]
    }
    case "tool-approval-response":
      return []
  }
}
