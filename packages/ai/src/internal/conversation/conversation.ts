/** The operations of a conversation: what is said and decided, and the turns that follow from it. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import * as ConversationStore from "../../ConversationStore.ts"
import type * as DeferredTool from "../../DeferredTool.ts"
import * as Prompt from "../../Prompt.ts"
import * as Answering from "../answering.ts"
import * as Bounds from "../bounds.ts"
import { KeepsHistory } from "../environment/keepsHistory.ts"
import type * as Model from "../environment/model.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Trust from "../environment/trust.ts"
import * as Bounded from "../history/bounded.ts"
import * as Ending from "../history/ending.ts"
import * as Posted from "../posted.ts"
import { InPassing } from "../seal/passing.ts"
import * as Handlers from "../tool/handlers.ts"
import * as Wrap from "../turn/wrap.ts"
import * as Clearing from "./clearing.ts"
import * as Deciding from "./deciding.ts"
import type * as Conversation from "./model.ts"
import * as Naming from "./naming.ts"
import * as Reading from "./reading.ts"
import * as Routing from "./routing.ts"
import * as States from "./states.ts"
import * as Stopping from "./stopping.ts"
import * as Surroundings from "./surroundings.ts"
import * as ConversationTurn from "./turn.ts"

type AnyTools = Model.AnyTools
type AnyToolkit = Toolkit.WithHandler<AnyTools>
type Outcome = Conversation.Outcome<AnyTools>
type Failure = ConversationStore.ConversationError | ApprovalError.ApprovalError

/** What a turn begins with: something that is said, decided or delivered. False if there is nothing to take a turn for. */
type Beginning = (turn: ConversationTurn.Turn) => Effect.Effect<boolean, Failure>

const defaultSteps = 20

// The accessors as the engine sees them: tools, errors and services are in the type of the conversation.
const generateText = Wrap.generateText as unknown as (
  options: Model.Options
) => Effect.Effect<{ readonly content: ReadonlyArray<Response.AnyPart> }, unknown>
const streamText = Wrap.streamText as unknown as (options: Model.Options) => Stream.Stream<Response.AnyPart, unknown>

export const make = <Tools extends AnyTools, E, R>(
  options: Conversation.Options<Tools, E, R>
): Effect.Effect<
  Conversation.Conversation<Tools>,
  E,
  R | LanguageModel.LanguageModel | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
> =>
  Effect.gen(function*() {
    if (!Predicate.hasProperty(options, "id") || typeof options.id !== "string") {
      return yield* Effect.die(nameless(options))
    }
    if (options.toolkit === undefined && Predicate.hasProperty(options, "tools")) return yield* Effect.die(toolless())
    const toolkit = yield* Handlers.resolve(options.toolkit)
    const scope = { ...(yield* Approval.Scope), conversation: options.id }
    const place: ConversationTurn.Place = {
      store: yield* ConversationStore.ConversationStore,
      key: yield* ConversationStore.keyOf(options.id, scope),
      busyFor: Duration.fromInputUnsafe(options.busyFor ?? "30 seconds"),
      known: undefined
    }
    // The toolkit's own types are in those of the conversation.
    const made = operations({
      ...options,
      place,
      surroundings: Surroundings.make(yield* Effect.context<never>(), scope),
      taken: { outcome: undefined },
      toolkit: toolkit as unknown as AnyToolkit
    })
    return made as unknown as Conversation.Conversation<Tools>
  }) as Effect.Effect<
    Conversation.Conversation<Tools>,
    E,
    // The services are in the context that is captured above, whole.
    R | LanguageModel.LanguageModel | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
  >

// All that have no name would be one conversation.
const nameless = (options: unknown): TypeError =>
  new TypeError(
    "Conversation.make takes { id, toolkit }, where the id is a text that names the conversation; it was given " +
      `${Answering.shown(options)}.`
  )

// Other libraries call it so; nobody reads it here, and the model would have no tools.
const toolless = (): TypeError =>
  new TypeError(
    "Conversation.make takes its tools as `toolkit`, as in { id, toolkit: Toolkit.make(DeleteFile) }; it was given `tools`."
  )

interface Settings extends Omit<Conversation.Options<AnyTools>, "toolkit"> {
  readonly place: ConversationTurn.Place
  readonly surroundings: Surroundings.Surroundings
  readonly taken: Taken
  readonly toolkit: AnyToolkit
}

/** What is known of the turns that are taken here, by whichever model. */
interface Taken {
  outcome: Outcome | undefined
}

const operations = (settings: Settings): Conversation.Conversation<AnyTools> => {
  const { place, taken, toolkit } = settings
  const inside = Surroundings.inside(settings.surroundings)
  const limits: ConversationTurn.Limits = {
    steps: settings.limits?.steps ?? defaultSteps,
    tokens: settings.limits?.tokens ?? Number.POSITIVE_INFINITY
  }
  const time = settings.limits?.time

  const requestOf = ({ history }: ConversationTurn.Turn): Model.Options => ({
    prompt: history,
    toolkit,
    concurrency: settings.concurrency
  })

  /** What the engine is to know of this turn's history. */
  const knowingOf = (turn: ConversationTurn.Turn): Context.Context<never> =>
    Context.make(KeepsHistory, !isBegun(turn)).pipe(
      Context.add(InPassing, place.store.inMemory === true),
      Context.add(Trust.Answering, (id) => {
        const by = Object.hasOwn(turn.deciders, id) ? turn.deciders[id] : undefined
        return by?.via === Trust.cancellation.via ? Trust.cancellation : by
      }),
      Context.add(Recorder.Recorder, ConversationTurn.record(place, turn)),
      Context.add(Trust.Refusals, Deciding.refusing(turn)),
      (knowing) =>
        ConversationTurn.isFull(place, turn)
          ? Context.merge(knowing, Surroundings.refusing(settings.surroundings, full))
          : knowing
    )

  const enter = Effect.fnUntraced(function*(beginning: Beginning) {
    const stoppable = yield* Stopping.begin(place)
    const { goesOn, turn } = yield* ConversationTurn.begin(place, (turn) => {
      instruct(turn, settings.instructions)
      return beginning(turn)
    })
    if (goesOn) taken.outcome = undefined
    // One that was cancelled before it could begin has said what it was to say, and does no more.
    if (stoppable.isStopped()) return yield* Stopping.cancelled
    return { turn, goesOn, stoppable }
  })

  const endOf = (turn: ConversationTurn.Turn, next: ConversationTurn.Next) =>
    next === "waits"
      ? waiting(turn)
      : next === "is stopped"
      ? stopped(turn)
      : next === "is done"
      ? completed(turn)
      : undefined

  // Before the first step, and when one is taken: where the turn ends, that is written with its last step.
  const limitedBy = (turn: ConversationTurn.Turn): Outcome | undefined => {
    const limit = ConversationTurn.limitOf(turn, limits)
    return limit === undefined ? undefined : limited(turn, limit)
  }

  const steps = (turn: ConversationTurn.Turn) =>
    Effect.gen(function*() {
      let end = limitedBy(turn)
      while (end === undefined) {
        const { content } = yield* Effect.provideContext(generateText(requestOf(turn)), knowingOf(turn))
        turn.step.push(...content)
        end = endOf(turn, yield* ConversationTurn.takeStep(turn, false)) ?? limitedBy(turn)
        yield* Deciding.settle(turn, content)
        yield* end === undefined ? goOn(turn) : ConversationTurn.finish(place, turn)
      }
      return end
    })

  const goOn = (turn: ConversationTurn.Turn) =>
    Effect.andThen(
      ConversationTurn.save(place, turn),
      Effect.suspend(() => ConversationTurn.isFull(place, turn) ? Effect.fail(full) : Effect.void)
    )

  const take = (beginning: Beginning): Effect.Effect<Outcome | undefined, unknown> =>
    Effect.gen(function*() {
      const { goesOn, stoppable, turn } = yield* enter(beginning)
      if (!goesOn) return turn.open.length === 0 ? undefined : waiting(turn)
      const ended = stoppable.run(steps(turn))
      return taken.outcome = time === undefined
        ? yield* ended
        : Option.getOrElse(yield* Effect.timeoutOption(ended, time), () => limited(turn, "time"))
    }).pipe(Effect.scoped, Effect.updateContext(inside), Effect.withSpan("Conversation.turn"))

  const streamSteps = (turn: ConversationTurn.Turn): Stream.Stream<Response.AnyPart, unknown> =>
    Stream.suspend(() => {
      const said = streamText(requestOf(turn)).pipe(
        Stream.provideContext(knowingOf(turn)),
        Stream.mapArray((chunk) => {
          turn.step.push(...chunk)
          return chunk
        })
      )
      const next = Stream.unwrap(Effect.gen(function*() {
        const end = endOf(turn, yield* ConversationTurn.takeStep(turn, true)) ?? limitedBy(turn)
        taken.outcome = end
        yield* end === undefined ? goOn(turn) : ConversationTurn.finish(place, turn)
        return end === undefined ? streamSteps(turn) : Stream.empty
      }))
      return Stream.concat(said, next)
    })

  const say = (prompt: Prompt.RawInput, { messageId }: Conversation.TurnOptions = {}): Beginning => (turn) =>
    Effect.gen(function*() {
      const said = typeof prompt === "string" ? yield* readText(prompt) : yield* readPrompt(prompt)
      if (yield* Naming.isSaid(turn.history, said, messageId)) return true
      if (typeof said !== "string") {
        ConversationTurn.say(turn, yield* Naming.named(said, messageId))
        turn.isPrefilled = Ending.isPrefilled(said.content)
        return true
      }
      // Nobody knows who writes it, so it answers nothing that is for somebody.
      const open = (yield* Deciding.answerable(turn)).filter(({ approvers }) => Approver.lists(approvers).length === 0)
      const answer = Routing.answerOf(said, open, settings.routeText)
      if (answer === undefined) ConversationTurn.say(turn, yield* Naming.named(Prompt.make(said), messageId))
      else Deciding.answering(turn, [answer], undefined, false, { text: said, messageId })
      return true
    })

  const send = (prompt: Prompt.RawInput, options?: Conversation.TurnOptions) => take(say(prompt, options))

  return {
    id: settings.id,
    send,
    stream: (prompt: Prompt.RawInput, options?: Conversation.TurnOptions) =>
      Stream.unwrap(Effect.map(enter(say(prompt, options)), ({ stoppable, turn }) => {
        taken.outcome = limitedBy(turn)
        const parts = taken.outcome === undefined
          ? stoppable.stream(streamSteps(turn))
          : Stream.empty
        return time === undefined ? parts : Stream.interruptWhen(
          parts,
          Effect.andThen(Effect.sleep(time), Effect.sync(() => (taken.outcome = limited(turn, "time"))))
        )
      })).pipe(Stream.updateContext(inside)),
    outcome: Effect.sync(() => taken.outcome),
    pending: (kind?: string) =>
      Effect.map(
        Effect.flatMap(ConversationTurn.read(place), Deciding.answerable),
        (pending) => pending.filter(({ interaction }) => kind === undefined || interaction === kind)
      ),
    decide: (
      posted: ReadonlyArray<Approval.AnswerInput> | Approval.AnswerInput,
      options?: Conversation.DecideOptions
    ) =>
      Effect.flatMap(Effect.suspend(() => Effect.fromResult(Posted.each(posted))), (read) =>
        read.answers.length === 0
          ? read.refused.length > 0
            ? Effect.fail(read.refused[0]!.error)
            : Effect.flatMap(ConversationTurn.read(place), (kept) => standing(kept, taken.outcome))
          : Effect.map(
            take((turn) => Deciding.decide(turn, toolkit, read, options?.by)),
            (outcome) => outcome ?? nothingToDo
          )),
    resume: <T extends DeferredTool.Any, Name extends keyof T["interactions"] & string>(
      tool: T,
      interaction: Name,
      answer: Parameters<typeof DeferredTool.deliver<T, Name>>[3],
      options?: Conversation.ResumeOptions
    ) => take((turn) => Deciding.resume(turn, tool, interaction, answer, options ?? {})),
    wake: Effect.flatMap(
      ConversationTurn.read(place),
      // What the turn that is being taken begins to wait for may have come already.
      ({ open, turn }) => open.length === 0 && turn === undefined ? Effect.undefined : take(Deciding.hasNews)
    ),
    cancel: Effect.fnUntraced(
      function*(reason?: string) {
        yield* Stopping.stop(place)
        yield* ConversationTurn.begin(
          place,
          (turn) => Effect.as(Stopping.inTime(place, Clearing.cancel(turn, reason)), false)
        )
      },
      Effect.scoped,
      Effect.updateContext(inside)
    ),
    clear: Effect.fnUntraced(
      function*(options: Conversation.ClearOptions = {}) {
        let cleared: ReadonlyArray<Approval.ApprovalRequest> = []
        yield* ConversationTurn.begin(
          place,
          (turn) =>
            Effect.map(Clearing.clear(turn, Deciding.pendingOf(turn), options), (those) => {
              cleared = those
              return false
            })
        )
        return cleared
      },
      Effect.scoped,
      Effect.updateContext(inside)
    ),
    history: Effect.map(ConversationTurn.read(place), ({ history }) => history),
    read: Reading.read(place),
    stateOf: (approvalId: string) => Effect.updateContext(States.stateOf(place, toolkit, approvalId), inside),
    withModel: (model: LanguageModel.LanguageModel) =>
      operations({ ...settings, surroundings: Surroundings.withModel(settings.surroundings, model) })
    // Tools, errors and services are those of the toolkit, which only the caller's types know.
  } as unknown as Conversation.Conversation<AnyTools>
}

// =============================================================================
// How a turn ends
// =============================================================================

const ended = ({ content, refused, steps, tokens }: ConversationTurn.Turn) => ({
  text: ConversationTurn.textOf(content),
  content: content as ReadonlyArray<Model.Part>, // the parts of whole responses, or of streams
  steps,
  tokens,
  refused
})

const completed = (turn: ConversationTurn.Turn): Outcome => ({ _tag: "Completed", ...ended(turn) })

const stopped = (turn: ConversationTurn.Turn): Outcome => ({ _tag: "Stopped", ...ended(turn) })

const waiting = (turn: ConversationTurn.Turn): Outcome => ({
  _tag: "Waiting",
  ...ended(turn),
  requests: Deciding.pendingOf(turn)
})

const limited = (turn: ConversationTurn.Turn, limit: "steps" | "tokens" | "time"): Outcome => ({
  _tag: "Limited",
  ...ended(turn),
  limit
})

/** For what was to be done where nothing was. */
const nothingToDo = { _tag: "Completed", text: "", content: [], steps: 0, tokens: 0, refused: [] } as const

/** How the conversation stands, where nobody says anything; `last` is how the last turn of this process ended. */
const standing = (kept: ConversationStore.Kept, last: Outcome | undefined): Effect.Effect<Outcome> =>
  Effect.map(Deciding.answerable(kept), (requests): Outcome => {
    const said = { ...nothingToDo, text: ConversationTurn.lastText(kept.history) }
    return Deciding.pendingOf(kept).length > 0
      ? { ...(last?._tag === "Waiting" ? last : said), _tag: "Waiting", requests, refused: [] }
      : last === undefined || last._tag === "Waiting"
      ? said
      : { ...last, refused: [] }
  })

const full = new ConversationStore.ConversationError({
  reason: "Full",
  description:
    "The conversation has as many bytes as it may have (`maxBytes`). What the turn did is in the history, and the" +
    " model was not called again. What waits can still be denied, cancelled and cleared; to go on, begin another one."
})

// =============================================================================
// What is said
// =============================================================================

const instruct = (turn: ConversationTurn.Turn, instructions: string | undefined): void => {
  if (instructions === undefined || turn.history.content.length > 0) return
  ConversationTurn.say(
    turn,
    Prompt.fromMessages([Prompt.makeMessage("system", { content: instructions })])
  )
}

const readText = (text: string): Effect.Effect<string, ApprovalError.ApprovalError> =>
  text.trim() === ""
    ? Effect.fail(invalidPrompt(saysNothing))
    : Bounds.check(text, Bounds.prompt) !== undefined
    ? Effect.fail(invalidPrompt(isTooMuch))
    : Effect.succeed(text)

const readPrompt = (prompt: Prompt.RawInput): Effect.Effect<Prompt.Prompt, ApprovalError.ApprovalError> =>
  Effect.flatMap(
    Effect.try({
      try: () => {
        const said = Prompt.make(prompt)
        if (!Bounded.isWithin(said)) return outOfBounds
        return {
          said,
          answers: said.content.some(isAnswering),
          isEmpty: said.content.some(isEmpty),
          isKeepable: Result.isSuccess(encodePrompt(said))
        }
      },
      catch: () => invalidPrompt("a message or one of its parts does not have the form of one.")
    }),
    ({ answers, isEmpty, isKeepable, said }) =>
      said === undefined
        ? Effect.fail(invalidPrompt(isTooMuch))
        : answers
        ? Effect.fail(invalidPrompt("it holds an answer to a request: answers are given with `decide` or `resume`."))
        : isEmpty
        ? Effect.fail(invalidPrompt(saysNothing))
        : !isKeepable
        ? Effect.fail(invalidPrompt("a message or one of its parts cannot be written as JSON, so it cannot be kept."))
        : Effect.succeed(said)
  )

const isTooMuch = "a message or one of its parts is nested deeper than 512 levels or larger than 32 MiB."

const outOfBounds = { said: undefined, answers: false, isEmpty: false, isKeepable: false }

const encodePrompt = Schema.encodeUnknownResult(Schema.toCodecJson(Prompt.Prompt))

const isAnswering = (message: Prompt.Message): boolean =>
  message.role === "tool" && message.content.some(({ type }) => type === "tool-approval-response")

// What no provider takes must not come into a history: it would be refused for ever.
const isEmpty = ({ content }: Prompt.Message): boolean =>
  typeof content === "string"
    ? content.trim() === ""
    : content.length === 0 || content.some((part) => part.type === "text" && part.text.trim() === "")

const saysNothing = "a message or one of its texts is empty. To go on without saying anything, send `[]`."

// The model goes on from what it has said itself: in an earlier step, or as somebody has begun it.
const isBegun = ({ isPrefilled, steps }: ConversationTurn.Turn): boolean => isPrefilled || steps > 0

const invalidPrompt = (description: string) => ApprovalError.make(new ApprovalError.InvalidPrompt({ description }))
