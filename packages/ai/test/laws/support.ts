/**
 * What tests of the laws share: one story told in four ways, a small toolkit whose runs are counted, and histories.
 *
 * A story is told with {@link forEachMode}; inside, {@link ask} makes a history with open requests, {@link takeTurn}
 * takes one turn on any history, and {@link converse} takes many turns on one. Each test gets a journal and a seal of
 * its own. Models are `ScriptedModel`s, so the strict provider reads every prompt.
 */
import { it } from "@effect/vitest"
import { Deferred, type Duration, Effect, type Fiber, Layer, Ref, Schema, Stream } from "effect"
import { type AiError, Chat as UpstreamChat } from "effect/ai"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalError,
  ApprovalJournal,
  ApprovalSeal,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { type Story, tell, type Way, ways } from "./story.ts"

// =============================================================================
// Four ways to tell a story
// =============================================================================

/** `generateText` and `streamText` are ours over an unwrapped service; the others are upstream's `Chat` over ours. */
export const modes = ways

export type Mode = Way

export const key = "a key for tests only, of 32 bytes or more"

/** A journal and a seal of one's own. `grace` is nil, so that a test that holds a run does not wait for it. */
export const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ApprovalError.ApprovalError, R> =>
  Effect.suspend(() =>
    Effect.provide(effect, Layer.merge(ApprovalJournal.layerMemory({ grace: 0 }), ApprovalSeal.layer({ key })))
  )

/** Registers one test per mode, named `name [mode]`, each with a fresh journal and seal. */
export const forEachMode = (name: string, test: Story<[mode: Mode]>, only: ReadonlyArray<Mode> = modes): void => {
  for (const mode of only) it.effect(`${name} [${mode}]`, () => fresh(tell(test, mode)))
}

/** Registers one test with a fresh journal and seal, for what has no turn or whose turns are alike in every mode. */
export const single = (name: string, test: Story): void => it.effect(name, () => fresh(tell(test)))

// =============================================================================
// Tools whose runs are counted
// =============================================================================

export type AnyToolkit = Toolkit.WithHandler<Record<string, Tool.Any>>

export interface Run {
  readonly name: string
  readonly params: unknown
}

export interface Tools {
  readonly toolkit: AnyToolkit
  /** Every start of a handler, in order, with its decoded parameters. */
  readonly runs: ReadonlyArray<Run>
  readonly count: (name: string) => number
}

/** Gated; its success is `{ deleted: true }`. */
export const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.Boolean }),
  needsApproval: true
})

/** Not gated; its success is `"text of <path>"`. */
export const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String })

/** Gated, with parameters and a success that decode to something else: see {@link charged}. */
export const Charge = Tool.make("Charge", {
  parameters: { amount: Schema.FiniteFromString },
  success: Schema.Struct({ at: Schema.DateFromString, total: Schema.BigIntFromString }),
  needsApproval: true
})

/** What `Charge` succeeds with, decoded. */
export const charged = (amount: number) => ({ at: new Date("2026-01-02T03:04:05.000Z"), total: BigInt(amount) })

/** What `Charge` succeeds with, encoded. */
export const chargedEncoded = (amount: number) => ({ at: "2026-01-02T03:04:05.000Z", total: String(amount) })

type AnyHandler = (params: any, context: Toolkit.HandlerContext<any>) => Effect.Effect<unknown, unknown>

const defaultHandlers: Record<string, AnyHandler> = {
  DeleteFile: () => Effect.succeed({ deleted: true }),
  ReadFile: ({ path }) => Effect.succeed(`text of ${path}`),
  Charge: ({ amount }) => Effect.succeed(charged(amount))
}

/**
 * A toolkit that counts. The tools default to `DeleteFile`, `ReadFile` and `Charge`; a tool without a handler here
 * succeeds with `"ran"`.
 */
export const makeTools = (
  tools: ReadonlyArray<Tool.Any> = [DeleteFile, ReadFile, Charge],
  handlers: Record<string, AnyHandler> = {}
): Effect.Effect<Tools> =>
  Effect.gen(function*() {
    const runs: Array<Run> = []
    const kit = Toolkit.make(...(tools as ReadonlyArray<typeof ReadFile>))
    const counting = tools.map(({ name }): readonly [string, AnyHandler] => {
      const handler = own(handlers, name) ?? own(defaultHandlers, name) ?? (() => Effect.succeed("ran"))
      return [name, (params, context) =>
        Effect.suspend(() => {
          runs.push({ name, params })
          return handler(params, context)
        })]
    })
    const toolkit = yield* Effect.provide(kit, kit.toLayer(Object.fromEntries(counting) as never))
    return {
      toolkit: toolkit as unknown as AnyToolkit,
      runs,
      count: (name) => runs.filter((run) => run.name === name).length
    }
  })

const own = <A>(record: Record<string, A>, name: string): A | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** A call of a tool, as a model writes it. */
export const call = (id: string, name: string, params: unknown) => ScriptedModel.toolCall({ id, name, params })

export interface Hold {
  /** Done once somebody waits in {@link Hold.wait}. */
  readonly entered: Effect.Effect<void>
  readonly release: Effect.Effect<void>
  /** Waits until released; for a handler, a gate or a callback. */
  readonly wait: Effect.Effect<void>
}

export const makeHold: Effect.Effect<Hold> = Effect.gen(function*() {
  const entered = yield* Deferred.make<void>()
  const released = yield* Deferred.make<void>()
  return {
    entered: Deferred.await(entered),
    release: Effect.asVoid(Deferred.succeed(released, undefined)),
    wait: Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(released))
  }
})

/** Lets every fiber go as far as it can without the clock; nothing of the engine waits for another thread. */
export const idle: Effect.Effect<void> = Effect.promise(async () => {
  for (let i = 0; i < 16; i++) await new Promise((resolve) => setImmediate(resolve))
})

/** Moves the clock step by step until a fiber is done; says whether it ever was. */
export const advance = (
  fiber: Fiber.Fiber<unknown, unknown>,
  step: Duration.Input,
  steps = 60
): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    for (let i = 0; i < steps; i++) {
      yield* idle
      if (fiber.pollUnsafe() !== undefined) return true
      yield* TestClock.adjust(step)
    }
    return fiber.pollUnsafe() !== undefined
  })

/** Whether a fiber comes to its end with the clock left alone; for one that does not, this takes a moment. */
export const settles = (fiber: Fiber.Fiber<unknown, unknown>): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    for (let i = 0; i < 5000 && fiber.pollUnsafe() === undefined; i++) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    return fiber.pollUnsafe() !== undefined
  })

// =============================================================================
// Turns
// =============================================================================

export interface CallOptions {
  readonly disableToolCallResolution?: boolean
  readonly concurrency?: number | "unbounded"
  readonly toolChoice?: "none" | "required"
}

export interface ConversationOptions extends CallOptions {
  /** The provider's own service: it is wrapped here. */
  readonly model: LanguageModel.LanguageModel
  readonly toolkit?: AnyToolkit | undefined
  readonly history?: Prompt.RawInput | undefined
  /** Given to `LanguageModel.withApproval`; without, the plain modes let our functions find the service unwrapped. */
  readonly approval?: LanguageModel.ApprovalOptions | undefined
}

export type ToolResult = Response.ToolResultPart<string, unknown, unknown>

export interface Turn {
  readonly parts: ReadonlyArray<Response.AnyPart>
  /** The history after the turn. */
  readonly history: Prompt.Prompt
  readonly text: string
  /** Results, without the preliminary ones. */
  readonly results: ReadonlyArray<ToolResult>
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
  readonly waiting: boolean
  readonly finish: Response.FinishReason | undefined
}

export interface Conversation {
  /** Takes one turn; `prompt` defaults to nothing new, as a poll. */
  readonly take: (prompt?: Prompt.RawInput, options?: CallOptions) => Effect.Effect<Turn, AiError.AiError>
  readonly history: Effect.Effect<Prompt.Prompt>
}

/**
 * A conversation in one of the modes. The plain modes add a turn to the history only when it succeeds, with our
 * `Prompt.fromResponseParts`; `Chat` does as upstream does.
 */
export const converse = (mode: Mode, options: ConversationOptions): Effect.Effect<Conversation> =>
  Effect.gen(function*() {
    const { approval, history: initial, model, ...rest } = options
    const chat = yield* UpstreamChat.fromPrompt(initial ?? Prompt.empty)
    const underChat = mode.startsWith("Chat.")
    const service = underChat || approval !== undefined ? LanguageModel.withApproval(model, approval) : model
    const take: Conversation["take"] = (prompt = [], options) =>
      Effect.gen(function*() {
        const request = {
          ...rest,
          ...options,
          prompt: underChat ? prompt : Prompt.concat(yield* Ref.get(chat.history), Prompt.make(prompt))
        }
        const parts = yield* Effect.provideService(call(request), LanguageModel.LanguageModel, service)
        if (!underChat) {
          yield* Ref.set(chat.history, Prompt.concat(request.prompt as Prompt.Prompt, Prompt.fromResponseParts(parts)))
        }
        return makeTurn(parts, yield* Ref.get(chat.history))
      })
    const call = (
      request: any
    ): Effect.Effect<ReadonlyArray<Response.AnyPart>, AiError.AiError, LanguageModel.LanguageModel> => {
      switch (mode) {
        case "generateText":
          return Effect.map(LanguageModel.generateText(request), (response) => response.content) as never
        case "streamText":
          return Stream.runCollect(LanguageModel.streamText(request)) as never
        case "Chat.generateText":
          return Effect.map(chat.generateText(request), (response) => response.content) as never
        case "Chat.streamText":
          return Stream.runCollect(chat.streamText(request)) as never
      }
    }
    return { take, history: Ref.get(chat.history) }
  })

/** Takes one turn on a history, in a conversation of its own. */
export const takeTurn = (
  mode: Mode,
  options: ConversationOptions & { readonly prompt?: Prompt.RawInput | undefined }
): Effect.Effect<Turn, AiError.AiError> => {
  const { prompt, ...rest } = options
  return Effect.flatMap(converse(mode, rest), (conversation) => conversation.take(prompt))
}

/** Takes a first turn in which the model makes these calls: a history, mostly with open requests. */
export const ask = (
  mode: Mode,
  options: Omit<ConversationOptions, "model"> & {
    readonly calls: ReadonlyArray<ScriptedModel.TurnPart>
    readonly prompt?: Prompt.RawInput | undefined
  }
): Effect.Effect<Turn, AiError.AiError> => {
  const { calls, ...rest } = options
  return Effect.flatMap(
    ScriptedModel.make({ turns: [calls] }),
    ({ model }) => takeTurn(mode, { prompt: "Go on.", ...rest, model })
  )
}

/** What was asked in a turn, and who takes the next. */
export interface Asked {
  readonly asked: Pick<Turn, "history" | "requests">
  readonly model: LanguageModel.LanguageModel
  readonly tools: Pick<Tools, "toolkit">
}

/** Takes the turn after one in which something was asked. */
export const reply = (mode: Mode, { asked, model, tools }: Asked, prompt: Prompt.RawInput) =>
  takeTurn(mode, { model, toolkit: tools.toolkit, history: asked.history, prompt })

/** Takes the turn in which all that was asked is approved. */
export const approve = (mode: Mode, story: Asked) =>
  reply(mode, story, answers(...story.asked.requests.map((request) => Approval.approve(request))))

/** Tools, made as {@link makeTools} makes them, and a first turn in which the model makes these calls of them. */
export const asking = Effect.fnUntraced(function*(
  mode: Mode,
  calls: ReadonlyArray<ScriptedModel.TurnPart>,
  ...made: Parameters<typeof makeTools>
) {
  const tools = yield* makeTools(...made)
  return { asked: yield* ask(mode, { toolkit: tools.toolkit, calls }), tools }
})

/** A model that answers `"done"` however often it is called. */
export const answering: Effect.Effect<ScriptedModel.ScriptedModel> = ScriptedModel.make({
  turns: [],
  afterLastTurn: "done"
})

const makeTurn = (parts: ReadonlyArray<Response.AnyPart>, history: Prompt.Prompt): Turn => ({
  parts,
  history,
  text: parts.map((part) => part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "").join(""),
  results: parts.filter((part) => part.type === "tool-result").filter((part) => !part.preliminary),
  requests: Response.approvalRequests(parts),
  waiting: Response.isWaiting(parts),
  finish: parts.findLast((part) => part.type === "finish")?.reason
})

/** The prompt that answers requests. */
export const answers = (...list: ReadonlyArray<Approval.ApprovalAnswer>): Prompt.Prompt =>
  Prompt.approvalResponses(list)

/** The results the model was last sent, by the id of their call. */
export const sentResults = (
  script: ScriptedModel.ScriptedModel
): Effect.Effect<ReadonlyArray<Prompt.ToolResultPart>> =>
  Effect.map(
    script.requests,
    (requests) => partsOf(requests.at(-1)?.prompt ?? Prompt.empty).filter((part) => part.type === "tool-result")
  )

/** The reason an effect failed with, read through `ApprovalError.fromAiError`; dies when it is not an approval error. */
export const reasonOf = <A>(
  effect: Effect.Effect<A, AiError.AiError>
): Effect.Effect<ApprovalError.ApprovalErrorReason, A> =>
  Effect.flatMap(Effect.flip(effect), (error) => {
    const found = ApprovalError.fromAiError(error)
    return found._tag === "Some" ? Effect.succeed(found.value.reason) : Effect.die(error)
  })

/** Says whether a result reads as one that failed, with its reason. */
export const failureReason = (result: ToolResult | Prompt.ToolResultPart | undefined): string => {
  if (result === undefined) throw new Error("there is no result")
  const value = "encodedResult" in result ? result.encodedResult : result.result
  if (!result.isFailure) throw new Error(`the result is a success: ${JSON.stringify(value)}`)
  const reason = typeof value === "object" && value !== null && "reason" in value ? value.reason : value
  if (typeof reason !== "string" || reason === "") throw new Error(`no reason in ${JSON.stringify(value)}`)
  return reason
}

// =============================================================================
// Histories
// =============================================================================

export const partsOf = (prompt: Prompt.Prompt): ReadonlyArray<Prompt.Part> =>
  prompt.content.flatMap((message): ReadonlyArray<Prompt.Part> => message.role === "system" ? [] : message.content)

/** A history as a page or a database gives it back: through JSON. */
export const throughJson = (history: Prompt.Prompt): Prompt.Prompt =>
  Schema.decodeUnknownSync(Prompt.Prompt)(JSON.parse(JSON.stringify(Schema.encodeSync(Prompt.Prompt)(history))))

/** Rewrites the parts of a history: give back the part, another one, several, or none at all. */
export const rewrite = (
  history: Prompt.Prompt,
  change: (part: Prompt.Part) => Prompt.Part | ReadonlyArray<Prompt.Part> | undefined
): Prompt.Prompt =>
  Prompt.fromMessages(history.content.flatMap((message): ReadonlyArray<Prompt.Message> => {
    if (message.role === "system") return [message]
    const content = (message.content as ReadonlyArray<Prompt.Part>).flatMap((part) => change(part) ?? [])
    return content.length === 0 ? [] : [Prompt.makeMessage(message.role, { ...message, content } as never)]
  }))

/** A history by hand: one user message, one assistant message with `parts`, one tool message with `toolParts`. */
export const written = (
  parts: ReadonlyArray<Prompt.AssistantMessagePart>,
  toolParts: ReadonlyArray<Prompt.ToolMessagePart> = []
): Prompt.Prompt =>
  Prompt.fromMessages([
    Prompt.userMessage({ content: [Prompt.textPart({ text: "Go on." })] }),
    ...(parts.length === 0 ? [] : [Prompt.assistantMessage({ content: parts })]),
    ...(toolParts.length === 0 ? [] : [Prompt.toolMessage({ content: toolParts })])
  ])

export const callPart = (id: string, name: string, params: unknown): Prompt.ToolCallPart =>
  Prompt.toolCallPart({ id, name, params, providerExecuted: false })

export const requestPart = (approvalId: string, toolCallId: string): Prompt.ToolApprovalRequestPart =>
  Prompt.toolApprovalRequestPart({ approvalId, toolCallId })

export const answerPart = (approvalId: string, approved: boolean, reason?: string): Prompt.ToolApprovalResponsePart =>
  Prompt.toolApprovalResponsePart({ approvalId, approved, ...(reason === undefined ? undefined : { reason }) })
