/**
 * One turn of a conversation: it is held and taken over from the store, every step is written before the next begins, and
 * what it adds is never lost, however it ends.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as ConversationStore from "../../ConversationStore.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import * as Within from "../agent/within.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Rows from "../kept/rows.ts"
import * as Unwritten from "../kept/unwritten.ts"
import * as Asked from "./asked.ts"
import type { Limits, Place, Turn } from "./model.ts"
import * as Saying from "./saying.ts"
import * as Step from "./step.ts"

export type { Limits, Place, Turn } from "./model.ts"

const nothing: ConversationStore.Kept = { history: Prompt.empty, open: [], answered: [], deciders: {} }

export const read = (place: Place): Effect.Effect<ConversationStore.Kept, ConversationStore.ConversationError> =>
  Effect.map(find(place), (found) => found?.kept ?? nothing)

const find = (place: Place) =>
  Effect.suspend(() => Effect.map(place.store.read(place.key, place.known), (found) => place.known = found))

export const busy = new ConversationStore.ConversationError({
  reason: "Busy",
  description: "Another turn of this conversation is being taken, and did not end in time. Nothing was done; try again."
})

const conflict = new ConversationStore.ConversationError({
  reason: "Conflict",
  description:
    "Another process went on with this conversation, or removed it, while this one, which seemed dead, was in a turn. What this" +
    " turn added is not in the history; read `history` and `pending` again. What ran under an approval does not run again."
})

const agents = new ConversationStore.ConversationError({
  reason: "Conflict",
  description: "This is an agent's conversation: what it asks is decided in the outermost one. Nothing was done."
})

/**
 * Begins a turn with what is said, decided or delivered in it; false if there is nothing to take a turn for. That is written
 * together with that the turn is taken. It ends with the scope: what it added is written, and others may go on.
 */
export const begin = Effect.fnUntraced(function*<E, R>(
  place: Place,
  beginning: (turn: Turn) => Effect.Effect<boolean, E, R>
): Effect.fn.Return<
  { readonly turn: Turn; readonly goesOn: boolean },
  E | ConversationStore.ConversationError,
  R | Scope.Scope
> {
  const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(place.busyFor)
  yield* inTime(until, place.store.hold(place.key))
  while (true) {
    const turn = yield* inTime(until, takeOver(place))
    const begun = Effect.flatMap(
      beginning(turn),
      (goesOn) => {
        turn.from = turn.history.content.length
        turn.hasBegun = true
        const written = !goesOn ? keep(place, turn) : turn.standing === "entered" ? save(place, turn) : turn.enter
        return Effect.as(written, { turn, goesOn })
      }
    )
    // What another process wrote since it was read may change what this beginning means.
    const result = yield* Effect.catchIf(begun, () => turn.standing === "overtaken", () => Effect.undefined)
    if (result !== undefined) return result
  }
})

const inTime = <A, E, R>(until: number, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.timeoutOrElse(effect, { duration: until - now, orElse: () => Effect.fail(busy) })
  )

/** Fails where it is an agent's: what goes on in it belongs to the outermost one. */
export const checkOutermost = (place: Place): Effect.Effect<void, ConversationStore.ConversationError> =>
  place.within === undefined && Within.mayBeAgents(place.key.name) ? Effect.asVoid(outermost(place)) : Effect.void

const outermost = (
  place: Place
): Effect.Effect<ConversationStore.Found | undefined, ConversationStore.ConversationError> =>
  Effect.flatMap(
    find(place),
    (found) => place.within === undefined && found?.isAgent === true ? agents : Effect.succeed(found)
  )

// Nobody else is in a turn with it, or whoever was is dead.
const takeOver = Effect.fnUntraced(function*(
  place: Place
): Effect.fn.Return<Turn, ConversationStore.ConversationError, Scope.Scope> {
  while (true) {
    const base = yield* outermost(place)
    const other = base?.kept.turn
    if (other === undefined || !(yield* place.store.isAlive(other.owner))) return yield* makeTurn(place, base)
    yield* Effect.sleep("200 millis")
  }
})

const makeTurn = Effect.fnUntraced(function*(
  place: Place,
  base: ConversationStore.Found | undefined
): Effect.fn.Return<Turn, never, Scope.Scope> {
  const suspensions = yield* SuspensionStore.SuspensionStore
  const scope = yield* Effect.scope
  const { answered, deciders, history, open } = base?.kept ?? nothing
  const turn: Turn = {
    base,
    standing: "begun",
    // Once it is written that we are in a turn, nothing comes between: whoever is interrupted here leaves it again.
    enter: Effect.suspend(() =>
      turn.standing === "entered" ? Effect.void : Effect.uninterruptible(Effect.gen(function*() {
        const at = place.store.turns.beginAt(yield* Clock.currentTimeMillis)
        yield* write(place, turn, { owner: place.store.owner, at }, { begins: !turn.isEnding })
        yield* Scope.addFinalizer(scope, leave(place, turn))
      }))
    ),
    isEnding: false,
    from: history.content.length,
    hasBegun: false,
    beside: undefined,
    history,
    open,
    nested: [],
    answered,
    deciders,
    decided: answered.length === 0
      ? undefined
      : { ids: answered, before: undefined, refusals: [], isAmongOthers: false },
    refused: [],
    content: [],
    steps: 0,
    tokens: 0,
    isPrefilled: false,
    step: [],
    hidden: [],
    until: Number.POSITIVE_INFINITY,
    record: undefined,
    written: [],
    suspensions,
    saying: Saying.make(),
    isBrief: false,
    isAgent: place.within !== undefined
  }
  return turn
})

// Not interruptible: who is told nothing cannot tell what was written, and could not write down the end either.
const write = (
  place: Place,
  turn: Turn,
  mark: ConversationStore.Kept["turn"],
  options?: ConversationStore.WriteOptions,
  { history, open }: Pick<Turn, "history" | "open"> = turn
): Effect.Effect<void, ConversationStore.ConversationError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const { answered, base, deciders, from, hasBegun, standing } = turn
    const said = hasBegun ? Math.max(0, history.content.length - from) : undefined
    if (standing === "lost") return yield* conflict
    const found = yield* place.store.write(
      place.key,
      base,
      { history, open, answered, deciders, ...(mark === undefined ? undefined : { turn: { ...mark, said } }) },
      options
    )
    if (found === undefined) {
      turn.standing = standing === "begun" ? "overtaken" : "lost"
      return yield* conflict
    }
    turn.base = place.known = found
    turn.standing = mark === undefined ? "left" : "entered"
  }))

// What was said where no turn is taken for it.
const keep = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> => {
  const { answered, deciders, history, open } = turn.base?.kept ?? nothing
  const isSame = history === turn.history && open === turn.open && answered === turn.answered &&
    deciders === turn.deciders
  return turn.standing === "entered" || isSame ? Effect.void : write(place, turn, undefined)
}

/** Writes what the turn is by now; the conversation stays ours. */
export const save = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> =>
  write(place, turn, turn.base?.kept.turn)

/**
 * Keeps what a step says before anything of it runs: whoever goes on after this turn is told of it, however it ends. Who reads
 * a step that is no stream hears of it then.
 */
export const record = (place: Place, turn: Turn, isStream: boolean): Recorder.Recorder =>
  turn.record = Recorder.make(
    (parts) =>
      Effect.suspend(() => {
        const messages = Step.messagesOf(turn, parts.filter(Asked.isOwn))
        const history = messages.length === 0 ? turn.history : Rows.grow(turn.history, messages)
        const kept = { history, open: Step.unsettled(turn.open, parts) }
        return Effect.map(write(place, turn, turn.base?.kept.turn, undefined, kept), () => {
          turn.written = messages
        })
      }),
    isStream ? undefined : (parts) => Saying.hear(turn.saying, parts)
  )

export const finish = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> =>
  write(place, turn, undefined)

// A turn whose end cannot be written now keeps trying for a while; a store that fails for ever keeps no process alive.
const leave = (place: Place, turn: Turn): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (turn.standing === "left") return
    if (turn.step.length > 0 || Step.isKept(turn)) yield* Step.takeCutStep(turn)
    const ended = Effect.catchIf(finish(place, turn), isTooMuch, () => {
      // What cannot be kept is given up, so that the conversation can go on from what it was; not where that cannot be
      // written either, as on a full disk.
      const { answered, deciders, history, open } = turn
      const { turn: _, ...before } = turn.base?.kept ?? nothing
      Object.assign(turn, before)
      return Effect.tapError(
        finish(place, turn),
        () => Effect.sync(() => Object.assign(turn, { answered, deciders, history, open }))
      )
    })
    yield* ended.pipe(
      Effect.retry({ times: 3, while: Unwritten.isPassing }),
      Effect.catch((error) =>
        Effect.andThen(
          Effect.logError(`Assent could not write down the end of a turn of a conversation: ${error.message}`),
          Unwritten.isPassing(error) ? place.store.keepTrying(place.key, ended) : Effect.void
        )
      )
    )
  })

const isTooMuch = ({ reason }: ConversationStore.ConversationError): boolean =>
  reason === "Unwritable" || reason === "Full"

/** The history as the engine reads it: what was said beside answers comes behind what these have led to. */
export const promptOf = ({ beside, history }: Turn): Prompt.Prompt => {
  if (beside?.behind === undefined) return history
  const { behind, from, to } = beside
  const { content } = history
  return Prompt.fromMessages([
    ...content.slice(0, from),
    ...content.slice(to, behind),
    ...content.slice(from, to),
    ...content.slice(behind)
  ])
}

export const say = (turn: Turn, { content }: Prompt.Prompt): void => {
  if (content.length > 0) turn.history = Rows.grow(turn.history, content)
}

export const limitOf = ({ steps, tokens }: Turn, limits: Limits): "steps" | "tokens" | undefined =>
  steps >= limits.steps ? "steps" : tokens >= limits.tokens ? "tokens" : undefined

export const isFull = ({ store }: Place, { base }: Turn): boolean => base !== undefined && base.bytes > store.maxBytes
