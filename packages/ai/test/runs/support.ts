/**
 * What tests of runs share: one story, told in every way in which a turn is taken, whose reader leaves while something of
 * it runs.
 *
 * A story has a first turn, `begin`, in which the model makes its calls and somebody here approves them, and turns after
 * it, `say`. What the model was told in them is read from the prompts that the provider got.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Fiber, Layer, Ref, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalSeal,
  Chat,
  Conversation,
  ConversationStore,
  LanguageModel,
  Prompt,
  type Response,
  Store,
  SuspensionStore,
  Tool
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { type Story, tell } from "../laws/story.ts"
import * as Laws from "../laws/support.ts"

export { type Hold, idle, makeHold, settles } from "../laws/support.ts"

// =============================================================================
// Ways
// =============================================================================

/**
 * `decide`: the calls were asked in a turn before, and are approved by `decide`. `decide, inline`: the model makes them in
 * the turn that a `decide` takes, and they are approved inline, as in all others.
 */
export const conversationWays = ["send", "stream", "decide, inline", "decide"] as const
export const chatWays = ["Chat.generateText", "Chat.streamText"] as const
/** With a history that the program holds itself. */
export const plainWays = ["generateText", "streamText"] as const

type HeldWay = (typeof chatWays)[number] | (typeof plainWays)[number]

export type Way = (typeof conversationWays)[number] | HeldWay

const isHeld = (way: Way): way is HeldWay => way.endsWith("Text")

export const ways: ReadonlyArray<Way> = [...conversationWays, ...chatWays]

/** In which calls are asked, and answered, in a turn of their own. */
export const askingWays: ReadonlyArray<Way> = ["send", "stream", ...chatWays, ...plainWays]

/** In which the calls are approved inline. */
export const inlineWays = ways.filter((way) => way !== "decide")

/** In which the parts come one by one. */
export const streamWays = ways.filter((way) => way === "stream" || way === "Chat.streamText")

/** Registers one test for each way. */
export const inWays = (
  title: string,
  story: Story<[way: Way]>,
  only: ReadonlyArray<Way> = ways,
  timeout?: number
): void => {
  for (const way of only) it.effect(`${title} [${way}]`, () => tell(story, way), timeout)
}

// =============================================================================
// Tools
// =============================================================================

const gated = { success: Schema.String, needsApproval: true } as const

export const tools = [
  Tool.make("Pay", { parameters: { amount: Schema.Number }, ...gated }),
  Tool.make("Ship", { parameters: { to: Schema.String }, ...gated }),
  Tool.make("Note", gated),
  // A failure of it fails the turn.
  Tool.make("Break", { failure: Schema.String, ...gated }),
  Tool.make("Crash", { success: Schema.String, failure: Schema.String }),
  Tool.make("Deep", { success: Schema.Unknown, needsApproval: true }),
  Tool.make("Look", { parameters: { at: Schema.String }, success: Schema.String })
]

export const pay = ScriptedModel.toolCall({ id: "pay-1", name: "Pay", params: { amount: 5 } })
export const ship = ScriptedModel.toolCall({ id: "ship-1", name: "Ship", params: { to: "Ada" } })
export const look = ScriptedModel.toolCall({ id: "look-1", name: "Look", params: { at: "stock" } })
export const breaks = ScriptedModel.toolCall({ id: "break-1", name: "Break", params: {} })
export const crash = ScriptedModel.toolCall({ id: "crash-1", name: "Crash", params: {} })
export const deep = ScriptedModel.toolCall({ id: "deep-1", name: "Deep", params: {} })
export const note = ScriptedModel.toolCall({ id: "note-2", name: "Note", params: {} })

export type Handler = (params: any, context: any) => Effect.Effect<unknown, unknown>

const handlers: Record<string, Handler> = {
  Pay: ({ amount }) => Effect.succeed(`paid ${amount}`),
  Ship: ({ to }) => Effect.succeed(`shipped to ${to}`),
  Note: () => Effect.succeed("noted"),
  Break: () => Effect.fail("broken"),
  Crash: () => Effect.fail("crashed"),
  Look: ({ at }) => Effect.succeed(`the ${at}`)
}

/** A handler whose first run waits; a second one, which must not be, does not. */
export const heldOnce = (hold: Laws.Hold, give: (params: any) => unknown): Handler => {
  let runs = 0
  return (params) => Effect.map(runs++ === 0 ? hold.wait : Effect.void, () => give(params))
}

/** Lets so many seconds pass, one by one, until something is so; says whether it is. */
export const within = Effect.fnUntraced(function*(seconds: number, isSo: () => boolean) {
  for (let second = 0; second < seconds; second++) {
    yield* Laws.idle
    if (isSo()) return true
    yield* TestClock.adjust("1 second")
  }
  yield* Laws.idle
  return isSo()
})

/** Whether a fiber comes to its end within so many seconds. */
export const endsWithin = (fiber: Fiber.Fiber<unknown, unknown>, seconds: number) =>
  within(seconds, () => fiber.pollUnsafe() !== undefined)

// =============================================================================
// Worlds
// =============================================================================

export type Parts = ReadonlyArray<Response.AnyPart>
export type Turn = Effect.Effect<Parts, unknown>

export interface Options {
  /** What the model says: in `begin`, and in the turns after it. */
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  readonly handlers?: Record<string, Handler> | undefined
  /** Who is asked inline; approves by default. */
  readonly controller?: ApprovalController.Service | undefined
  readonly store?: Store.Store | undefined
  /** Of a Conversation. */
  readonly id?: string | undefined
  readonly limits?: Conversation.Options<any>["limits"]
  readonly busyFor?: Conversation.Options<any>["busyFor"]
  readonly concurrency?: number | undefined
  /** Which key seals what is asked. */
  readonly key?: string | undefined
  /** Where what tools wait for is kept, instead of `store`. */
  readonly waitingIn?: Store.Store | undefined
  /** What a chat, or a program, goes on from. */
  readonly history?: Prompt.Prompt | undefined
  /** Tools beside those of all worlds. */
  readonly more?: ReadonlyArray<Tool.Any> | undefined
  readonly approval?: LanguageModel.ApprovalOptions | undefined
  /** What the provider asks about itself. */
  readonly strict?: ScriptedModel.Options["strict"]
  /** When it is done the reader of the first turn's stream closes it. */
  readonly closing?: Effect.Effect<void> | undefined
  /** What all of it is done in, as with the clock of one process. */
  readonly within?: (<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) | undefined
}

export interface World {
  readonly begin: Turn
  readonly say: (prompt: Prompt.RawInput) => Turn
  /** As `say`, part by part, for the ways that stream. */
  readonly stream: (prompt: Prompt.RawInput) => Stream.Stream<Response.AnyPart, unknown>
  /** As `say`, for a value, in a Chat. */
  readonly object: (prompt: Prompt.RawInput, schema: Schema.Top) => Effect.Effect<unknown, unknown>
  /** The history, as it is kept. */
  readonly history: Effect.Effect<Prompt.Prompt>
  readonly script: ScriptedModel.ScriptedModel
  /** How often a handler began. */
  readonly count: (tool: string) => number
  readonly store: Store.Store
  /** Undefined in a Chat. */
  readonly conversation: Conversation.Conversation<any> | undefined
  /** Puts the services of this process around an effect, and nobody who answers. */
  readonly serving: <A, E>(effect: Effect.Effect<A, E, any>) => Effect.Effect<A, E>
  readonly journal: ApprovalJournal.Service
  /** Another object of the same conversation in this process. */
  readonly another: Effect.Effect<Conversation.Conversation<any>>
}

export const approves = ApprovalController.interactive(() => true)
/** Somebody who is asked and never answers. */
export const silent = (asked: Effect.Effect<unknown>) =>
  ApprovalController.interactive(() => Effect.andThen(asked, Effect.never))

const key = "the key of the tests of runs, of 32 bytes"

/** A conversation, or a chat, whose first turn is about to be taken. Of a Conversation there may be several of one store. */
export const make = Effect.fnUntraced(function*(way: Way, options: Options) {
  const store = options.store ?? (yield* Store.makeMemory())
  const { within = (effect) => effect } = options
  const turns = way === "decide, inline" ? [[{ ...note, id: "note-1" }], ...options.turns] : options.turns
  const script = yield* ScriptedModel.make({ turns, afterLastTurn: "Done.", strict: options.strict })
  const { count, toolkit } = yield* Laws.makeTools([...tools, ...(options.more ?? [])], {
    ...handlers,
    ...options.handlers
  })
  const journal = yield* within(ApprovalJournal.make({ store, grace: 0 }))
  const conversations = yield* within(ConversationStore.make({ store }))
  const model = options.approval === undefined
    ? script.model
    : LanguageModel.withApproval(script.model, options.approval)
  const sealed = yield* Effect.orDie(Layer.build(ApprovalSeal.layer({ key: options.key ?? key })))
  const serving = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    within(effect).pipe(
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(ConversationStore.ConversationStore, conversations),
      Effect.provideService(
        SuspensionStore.SuspensionStore,
        SuspensionStore.make({ store: options.waitingIn ?? store })
      ),
      Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
      Effect.provideContext(sealed)
    )
  const inline = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, ApprovalController.ApprovalController, options.controller ?? approves)
  /** In a context of its own: whoever reads it has none of these services. */
  const streamed = <E, R>(stream: Stream.Stream<Response.AnyPart, E, R>) =>
    Stream.unwrap(serving(inline(Effect.map(Effect.context<R>(), (context) => Stream.provideContext(stream, context)))))
  const read = <E, R>(stream: Stream.Stream<Response.AnyPart, E, R>, closing?: Effect.Effect<void>) =>
    Effect.map(
      Stream.runCollect(closing === undefined ? stream : Stream.interruptWhen(stream, closing)),
      (parts): Parts => Array.from(parts)
    )
  const world: Pick<World, "script" | "store" | "journal" | "count" | "serving"> = {
    script,
    store,
    journal,
    count,
    serving: (effect) => serving(effect) as Effect.Effect<any, any>
  }

  if (isHeld(way)) {
    const { concurrency } = options
    const { generated, history, object, streamed: stream } = way.startsWith("Chat.")
      ? ofChat(yield* Chat.fromPrompt(options.history ?? []))
      : ofProgram(options.history)
    const streams = (prompt: Prompt.RawInput) => streamed(stream({ prompt, toolkit, concurrency }))
    const say = (prompt: Prompt.RawInput, closing?: Effect.Effect<void>): Turn =>
      way.endsWith("generateText")
        ? serving(inline(generated({ prompt, toolkit, concurrency })))
        : read(streams(prompt), closing)
    const made: World = {
      ...world,
      begin: say("Pay the bill.", options.closing),
      say,
      stream: streams,
      object: (prompt, schema) => serving(inline(object({ prompt, toolkit, schema }))),
      history,
      conversation: undefined,
      another: Effect.die(new Error("It has no id."))
    }
    return made
  }

  const { busyFor, concurrency, id = "c1", limits } = options
  const another = serving(
    Conversation.make({ id, toolkit, limits, busyFor, concurrency }) as Effect.Effect<Conversation.Conversation<any>>
  )
  const conversation = yield* another
  const ended = <E>(turn: Effect.Effect<Conversation.Outcome<any>, E>): Turn =>
    serving(inline(Effect.map(turn, ({ content }): Parts => content)))
  const stream = (prompt: Prompt.RawInput) => streamed(conversation.stream(prompt))
  const say = (prompt: Prompt.RawInput, closing?: Effect.Effect<void>): Turn =>
    way === "stream" ? read(stream(prompt), closing) : ended(conversation.send(prompt))
  const approveAll = Effect.suspend(() => conversation.decide(asked.map((request) => Approval.approve(request))))
  let asked: ReadonlyArray<Approval.ApprovalRequest> = []
  if (way === "decide" || way === "decide, inline") {
    const first = yield* serving(conversation.send(way === "decide" ? "Pay the bill." : "Take a note."))
    assert.strictEqual(first._tag, "Waiting")
    asked = first._tag === "Waiting" ? first.requests : []
  }
  const made: World = {
    ...world,
    begin: way === "decide" || way === "decide, inline"
      ? ended(approveAll)
      : say("Pay the bill.", options.closing),
    say,
    stream,
    object: () => Effect.die(new Error("A conversation has no values.")),
    history: Effect.orDie(conversation.history),
    conversation,
    another
  }
  return made
})

// What holds a history that is no Conversation's. The tools are any tools, and so are what they need: nothing.
interface Call {
  readonly prompt: Prompt.RawInput
  readonly toolkit: Laws.AnyToolkit
  readonly concurrency?: number | undefined
}

interface Held {
  readonly generated: (call: Call) => Turn
  readonly streamed: (call: Call) => Stream.Stream<Response.AnyPart, unknown>
  readonly object: (call: Call & { readonly schema: Schema.Top }) => Effect.Effect<unknown, unknown>
  readonly history: Effect.Effect<Prompt.Prompt>
}

const ofChat = (chat: Chat.Chat): Held => ({
  generated: (options) => Effect.map(chat.generateText(options), ({ content }) => content) as never,
  streamed: (options) => chat.streamText(options) as never,
  object: (options) => chat.generateObject(options as never) as never,
  history: Ref.get(chat.history)
})

const ofProgram = (begun: Prompt.Prompt = Prompt.empty): Held => {
  let history = begun
  const said = (prompt: Prompt.RawInput) => (history = Prompt.concat(history, prompt))
  const answered = (parts: Parts) => (history = Prompt.concat(history, Prompt.fromResponseParts(parts)))
  return {
    generated: ({ prompt, ...rest }) =>
      Effect.map(
        Effect.suspend(() => LanguageModel.generateText({ prompt: said(prompt), ...rest })),
        ({ content }) => (answered(content), content)
      ) as never,
    streamed: ({ prompt, ...rest }) => {
      const parts: Array<Response.AnyPart> = []
      return Stream.suspend(() => LanguageModel.streamText({ prompt: said(prompt), ...rest })).pipe(
        Stream.tap((part) => Effect.sync(() => parts.push(part))),
        Stream.ensuring(Effect.sync(() => answered(parts)))
      ) as never
    },
    object: () => Effect.die(new Error("The program would hold it.")),
    history: Effect.sync(() => history)
  }
}

// =============================================================================
// What was told
// =============================================================================

/** A model that pays when it is not told that it has. */
export const paysUnlessTold: ScriptedModel.Turn = ({ prompt }) =>
  Laws.partsOf(prompt).some((part) => part.type === "tool-call" && part.name === "Pay") ? "Done." : [pay]

/** The prompt that the provider got last. */
export const sent = (world: World): Effect.Effect<Prompt.Prompt> =>
  Effect.map(world.script.requests, (requests) => requests.at(-1)!.prompt)

/** What the provider was told last of a call: it must stand there once, with one result. */
export const toldOf = Effect.fnUntraced(function*(world: World, id: string) {
  const parts = Laws.partsOf(yield* sent(world))
  const calls = parts.filter((part) => part.type === "tool-call" && part.id === id)
  const results = parts.filter((part) => part.type === "tool-result").filter((part) => part.id === id)
  assert.deepStrictEqual([calls.length, results.length], [1, 1], `the provider gets "${id}" and its result, once each`)
  return results[0]!
})

/** The provider was told last that the call ran, with the result that is recorded. */
export const assertToldResult = Effect.fnUntraced(function*(world: World, id: string, result: unknown) {
  const told = yield* toldOf(world, id)
  assert.deepStrictEqual([told.isFailure, told.result], [false, result], id)
})

/** The provider was told last that nobody knows what the call did. */
export const assertToldUnknown = Effect.fnUntraced(function*(world: World, id: string) {
  const reason = Laws.failureReason(yield* toldOf(world, id))
  assert.match(reason, /unknown/i, id)
  assert.match(reason, /\bCheck\b/, id)
  return reason
})

/** The provider was told last that the call did not run. */
export const assertToldNothingRan = Effect.fnUntraced(function*(world: World, id: string) {
  const reason = Laws.failureReason(yield* toldOf(world, id))
  assert.match(reason, /nothing ran|has not run|did not run/i, id)
  return reason
})
