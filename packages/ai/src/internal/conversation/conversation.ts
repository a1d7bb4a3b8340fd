/** The operations of a conversation: what is said and decided, and the turns that follow from it. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import * as ConversationStore from "../../ConversationStore.ts"
import type * as DeferredTool from "../../DeferredTool.ts"
import * as Within from "../agent/within.ts"
import * as Answering from "../answering.ts"
import * as Bounds from "../bounds.ts"
import type * as Model from "../environment/model.ts"
import * as Listed from "../held/listed.ts"
import * as Stopping from "../held/stopping.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Bounded from "../history/bounded.ts"
import * as HistoryEnding from "../history/ending.ts"
import * as Posted from "../posted.ts"
import * as Clearing from "./clearing.ts"
import * as Deciding from "./deciding.ts"
import * as Elsewhere from "./elsewhere.ts"
import * as Ending from "./ending.ts"
import * as Giving from "./giving.ts"
import type * as Conversation from "./model.ts"
import * as Naming from "./naming.ts"
import * as Reading from "./reading.ts"
import * as States from "./states.ts"
import * as Surroundings from "./surroundings.ts"
import * as Taking from "./taking.ts"
import * as Tools from "./tools.ts"

type AnyTools = Model.AnyTools

const defaultSteps = 20

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
    return operations(yield* settingsOf(options, undefined)).made as unknown as Conversation.Conversation<Tools>
  }) as Effect.Effect<
    Conversation.Conversation<Tools>,
    E,
    // The services are in the context that is captured above, whole.
    R | LanguageModel.LanguageModel | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
  >

const settingsOf = Effect.fnUntraced(function*<Tools extends AnyTools, E, R>(
  options: Conversation.Options<Tools, E, R>,
  within: Within.Within | undefined
) {
  const tools = yield* Tools.make(options.toolkit)
  const scope = { ...(yield* Approval.Scope), conversation: options.id }
  const key = yield* ConversationStore.keyOf(options.id, scope)
  const place: ConversationTurn.Place = {
    store: yield* ConversationStore.ConversationStore,
    key: within === undefined ? key : { ...key, within },
    within,
    busyFor: Duration.fromInputUnsafe(options.busyFor ?? "30 seconds"),
    known: undefined
  }
  return {
    ...options,
    place,
    surroundings: Surroundings.make(yield* Effect.context<never>(), scope),
    taken: { outcome: undefined },
    tools
  }
})

/**
 * Goes on with the conversation of an agent, which begins with what is said to it: with what was decided since, or has come, or
 * from where it was cut. How it stands, where there is nothing to go on with.
 */
export const goOn = Effect.fnUntraced(function*<Tools extends AnyTools, E, R>(
  { tell, ...options }: Conversation.Options<Tools, E, R> & { readonly tell?: Settings["tell"] },
  within: Within.Within,
  prompt: Prompt.RawInput
) {
  const left = yield* Within.Left
  const settings = yield* settingsOf({ ...options, limits: yield* limitsIn(left, options.limits) }, within)
  const outcome = yield* operations({ ...settings, tell }).goOn(prompt)
  left?.spend(outcome.tokens)
  return outcome
}, (effect, _, within) => Effect.provideService(effect, Within.Within, within))

// Never more than the turn around has left.
const limitsIn = Effect.fnUntraced(function*(
  left: Within.Left | undefined,
  limits: Conversation.Options<AnyTools>["limits"]
) {
  if (left === undefined) return limits
  const now = yield* Clock.currentTimeMillis
  const { steps = defaultSteps, time, tokens = Number.POSITIVE_INFINITY } = limits ?? {}
  const until = Math.min(
    left.until - now,
    time === undefined ? Number.POSITIVE_INFINITY : Duration.toMillis(Duration.fromInputUnsafe(time))
  )
  return {
    steps: Math.min(steps, left.steps()),
    tokens: Math.min(tokens, left.tokens()),
    ...(until === Number.POSITIVE_INFINITY ? undefined : { time: Math.max(0, until) })
  }
})

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
  readonly taken: Taking.Taken
  readonly tools: Tools.Tools
  readonly tell?: Taking.Settings["tell"]
}

interface Operations {
  readonly made: Conversation.Conversation<AnyTools>
  readonly goOn: (prompt: Prompt.RawInput) => Effect.Effect<Conversation.Outcome<AnyTools>, unknown>
}

const operations = (settings: Settings): Operations => {
  const { place, taken, tools } = settings
  const inside = Surroundings.inside(settings.surroundings)
  const { start, stream, take } = Taking.make({
    place,
    taken,
    tools,
    surroundings: settings.surroundings,
    tell: settings.tell,
    limits: {
      steps: settings.limits?.steps ?? defaultSteps,
      tokens: settings.limits?.tokens ?? Number.POSITIVE_INFINITY,
      time: settings.limits?.time
    },
    concurrency: settings.concurrency,
    prepare: (turn) => instruct(turn, settings.instructions)
  })

  const say = (prompt: Prompt.RawInput, { messageId }: Conversation.TurnOptions = {}): Taking.Beginning => (turn) =>
    Effect.gen(function*() {
      const said = typeof prompt === "string" ? yield* readText(prompt) : yield* readPrompt(prompt)
      if (yield* Naming.isSaid(turn.history, said, messageId)) return true
      if (typeof said !== "string") {
        // Nothing has begun that could go on, and a model that is told nothing has nothing to answer.
        if (said.content.length === 0 && turn.history.content.length === 0) return false
        ConversationTurn.say(turn, yield* Naming.named(said, messageId))
        turn.isPrefilled = HistoryEnding.isPrefilled(said.content)
        return true
      }
      // Nobody knows who writes it, so it answers nothing that is for somebody.
      const own = yield* Deciding.answerable(turn)
      const nested = turn.open.some(Reading.isOfAgents) ? yield* Listed.nested(place) : []
      const open = [...own, ...nested].filter(({ approvers }) => Approver.lists(approvers).length === 0)
      const answer = Giving.answerOf(said, open, settings.routeText)
      if (answer !== undefined && nested.some(({ approvalId }) => approvalId === answer.approvalId)) {
        const { kept } = yield* Giving.route(place, tools.known(), { answers: [answer], refused: [] }, undefined)
        if (kept.length > 0) return true
      }
      if (answer === undefined) ConversationTurn.say(turn, yield* Naming.named(Prompt.make(said), messageId))
      else Deciding.answering(turn, [answer], undefined, false, { text: said, messageId })
      return true
    })

  /** What is decided in a turn, and then what is said in it. */
  const beginning =
    (prompt: Prompt.RawInput, options: Conversation.TurnOptions, read: Giving.Routed | undefined): Taking.Beginning =>
    (turn) =>
      Effect.gen(function*() {
        const isSilent = saysNothing(prompt)
        const given = yield* Giving.takeGiven(place, turn, tools.known())
        const hasAnswers = read !== undefined && read.answers.length + read.refused.length > 0
        if (read === undefined || (read.kept.length === 0 && !hasAnswers)) return yield* say(prompt, options)(turn)
        if (isSilent) {
          const isBeside = given || read.kept.length > 0
          const goesOn = hasAnswers && (yield* Deciding.decide(turn, tools.known(), read, options.by, isBeside))
          // What was kept may have been taken: then it is said what is open still.
          return given || goesOn || (read.kept.length > 0 && turn.open.length > 0)
        }
        if (hasAnswers) yield* Deciding.decide(turn, tools.known(), read, options.by, true)
        const { answered, history: { content: { length: from } } } = turn
        yield* say(prompt, options)(turn)
        const to = turn.history.content.length
        // A text that answers a question is nothing that the model is told.
        if (to > from && turn.answered === answered) turn.beside = { from, to, behind: undefined }
        return true
      })

  /** Nothing is decided where what is said with it cannot be; what can be kept before the turn is taken is kept. */
  const routed = (
    prompt: Prompt.RawInput,
    { answers, by }: Conversation.TurnOptions
  ): Effect.Effect<Giving.Routed | undefined, unknown> =>
    answers === undefined ? Effect.undefined : Effect.gen(function*() {
      const isSilent = saysNothing(prompt)
      const read = isSilent ? yield* Effect.fromResult(Posted.each(answers)) : Posted.readable(answers)
      if (!isSilent) yield* typeof prompt === "string" ? readText(prompt) : readPrompt(prompt)
      return yield* Giving.route(place, tools.known(), read, by)
    }).pipe(Effect.updateContext(inside))

  const given = (prompt: Prompt.RawInput, options: Conversation.TurnOptions) =>
    Effect.flatMap(
      listed(prompt),
      (prompt) => Effect.map(routed(prompt, options), (read) => ({ prompt, read }))
    )

  const standing = Effect.flatMap(
    ConversationTurn.read(place),
    (kept) => Ending.standing(place, kept, taken.outcome)
  )

  const send = (prompt: Prompt.RawInput, options: Conversation.TurnOptions = {}) =>
    Effect.flatMap(given(prompt, options), ({ prompt, read }) => {
      const turn = take(beginning(prompt, options, read))
      const { answers = [], kept = [], refused = [] } = read ?? {}
      if (kept.length === 0) return Effect.map(turn, (outcome) => outcome ?? Ending.nothingToDo)
      return turn.pipe(
        Effect.flatMap((outcome) => outcome === undefined ? standing : Effect.succeed(outcome)),
        // It is kept, and the turn that is taken goes on with it.
        Effect.catchIf((error) => error === ConversationTurn.busy && saysNothing(prompt), () => standing),
        Effect.tap((outcome) => {
          const ids = [...kept, ...answers, ...refused].map((one) => typeof one === "string" ? one : one.approvalId)
          const isNobodys = saysNothing(prompt) &&
            ids.every((id) =>
              outcome.refused.some(({ approvalId, error }) =>
                approvalId === id && error.reason._tag === "NotAnApprover"
              )
            )
          return isNobodys ? outcome.refused[0]!.error : Effect.void
        })
      )
    })

  const goOn = (prompt: Prompt.RawInput) =>
    Effect.flatMap(
      take(Effect.fnUntraced(function*(turn) {
        const { base, history: { content } } = turn
        if (content.every(({ role }) => role === "system")) return yield* say(prompt)(turn)
        if (yield* Giving.takeGiven(place, turn, tools.known())) return true
        // Whoever took a turn of it is dead, or left.
        if (base?.kept.turn !== undefined) return true
        return turn.open.length === 0 ? !Ending.isOver(turn.history) : yield* Deciding.hasNews(turn)
      })),
      (outcome) =>
        outcome !== undefined
          ? Effect.succeed(outcome)
          : Effect.flatMap(ConversationTurn.read(place), (kept) => Ending.standing(place, kept, undefined))
    )

  const made = {
    id: settings.id,
    send,
    stream: (prompt: Prompt.RawInput, options: Conversation.TurnOptions = {}) =>
      Stream.unwrap(
        Effect.map(given(prompt, options), ({ prompt, read }) => stream(beginning(prompt, options, read)))
      ),
    start: (prompt: Prompt.RawInput, options: Conversation.TurnOptions = {}) =>
      Effect.flatMap(given(prompt, options), ({ prompt, read }) => start(beginning(prompt, options, read))),
    turn: Effect.suspend(() => {
      const here = place.store.turns.of(place.key.id)
      return here === undefined ? Elsewhere.find(place) : Effect.succeed(here)
    }),
    outcome: Effect.sync(() => taken.outcome),
    pending: (kind?: string) =>
      Effect.map(
        Effect.flatMap(ConversationTurn.read(place), (kept) => Reading.pendingIn(place, kept)),
        (pending) => pending.filter(({ interaction }) => kind === undefined || interaction === kind)
      ),
    decide: (
      posted: ReadonlyArray<Approval.AnswerInput> | Approval.AnswerInput,
      options?: Conversation.DecideOptions
    ) =>
      Array.isArray(posted) && posted.length === 0
        ? standing
        : Effect.andThen(readableIn(posted), send([], { ...options, answers: posted })),
    resume: <T extends DeferredTool.Any, Name extends keyof T["interactions"] & string>(
      tool: T,
      interaction: Name,
      answer: Parameters<typeof DeferredTool.deliver<T, Name>>[3],
      options?: Conversation.ResumeOptions
    ) => take((turn) => Deciding.resume(turn, tool, interaction, answer, options ?? {})),
    wake: Effect.flatMap(
      ConversationTurn.read(place),
      // What the turn that is being taken begins to wait for may have come already.
      ({ open, turn }) =>
        open.length === 0 && turn === undefined ? Effect.undefined : take((turn) =>
          Effect.flatMap(
            Giving.takeGiven(place, turn, tools.known()),
            (given) => given ? Effect.succeed(true) : Deciding.hasNews(turn)
          )
        )
    ),
    cancel: Effect.fnUntraced(
      function*(reason?: string) {
        yield* Stopping.stop(place)
        const ours = yield* Stopping.keepStopping(place)
        yield* ConversationTurn.begin(
          place,
          (turn) => Effect.as(Effect.andThen(ours, Stopping.inTime(place, Clearing.cancel(turn, reason))), false)
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
            Effect.map(Clearing.clear(place, turn, Deciding.pendingOf(turn), options), (those) => {
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
    stateOf: (approvalId: string) => Effect.updateContext(States.stateOf(place, tools.known(), approvalId), inside),
    withModel: (model: LanguageModel.LanguageModel) =>
      operations({ ...settings, surroundings: Surroundings.withModel(settings.surroundings, model) }).made
    // Tools, errors and services are those of the toolkit, which only the caller's types know.
  } as unknown as Conversation.Conversation<AnyTools>
  return { made, goOn }
}

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
    ? Effect.fail(invalidPrompt(isNothing))
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
      catch: () => invalidPrompt(isFormless)
    }),
    ({ answers, isEmpty, isKeepable, said }) =>
      said === undefined
        ? Effect.fail(invalidPrompt(isTooMuch))
        : answers
        ? Effect.fail(invalidPrompt("it holds an answer to a request: answers are given with `decide` or `resume`."))
        : isEmpty
        ? Effect.fail(invalidPrompt(isNothing))
        : !isKeepable
        ? Effect.fail(invalidPrompt("a message or one of its parts cannot be written as JSON, so it cannot be kept."))
        : Effect.succeed(said)
  )

// What can be read once is read once, however often its turn is begun.
const listed = (prompt: Prompt.RawInput): Effect.Effect<Prompt.RawInput, ApprovalError.ApprovalError> =>
  typeof prompt === "string" || Array.isArray(prompt) || Prompt.isPrompt(prompt) || !Predicate.isIterable(prompt)
    ? Effect.succeed(prompt)
    : Effect.try({ try: () => Array.from(prompt), catch: () => invalidPrompt(isFormless) })

const saysNothing = (prompt: Prompt.RawInput): boolean =>
  Array.isArray(prompt) ? prompt.length === 0 : Prompt.isPrompt(prompt) && prompt.content.length === 0

// What cannot be read waits for no turn.
const readableIn = (posted: unknown): Effect.Effect<void, ApprovalError.ApprovalError> =>
  Effect.suspend(() =>
    Effect.flatMap(
      Effect.fromResult(Posted.each(posted)),
      ({ answers, refused: [first] }) =>
        answers.length > 0 || first === undefined ? Effect.void : Effect.fail(first.error)
    )
  )

const isFormless = "a message or one of its parts does not have the form of one."

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

const isNothing = "a message or one of its texts is empty. To go on without saying anything, send `[]`."

const invalidPrompt = (description: string) => ApprovalError.make(new ApprovalError.InvalidPrompt({ description }))
