/**
 * One conversation, held in each of the four ways a program can hold it: with `generateText` and `streamText`, keeping
 * the history itself, and with upstream's `Chat`, which keeps it in its own order.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Ref, Schema, type Scope, Stream } from "effect"
import {
  Approval,
  ApprovalError,
  ApprovalJournal,
  ApprovalSeal,
  Chat,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel, StrictProvider } from "../../src/testing/index.ts"
import { type Story, tell, type Way, ways } from "./story.ts"

// =============================================================================
// Ways
// =============================================================================

export { type Way, ways }

/** A journal and a seal of their own for each test. */
export const fresh = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, unknown, Scope.Scope> =>
  Effect.provide(
    effect,
    Layer.mergeAll(ApprovalJournal.layerMemory(), ApprovalSeal.layer({ key: "the key of the law tests, 32 bytes" }))
  )

export const everyWay = (title: string, story: Story<[way: Way]>): void => {
  for (const way of ways) it.effect(`${title} [${way}]`, () => fresh(tell(story, way)))
}

// =============================================================================
// Conversations
// =============================================================================

// The tests speak of many toolkits at once; their types are the business of `*.test-d.ts`.
export type AnyToolkit = Toolkit.WithHandler<any>

export interface SendOptions {
  /** Another toolkit than the conversation's, for this turn; `"none"` for no toolkit at all. */
  readonly toolkit?: AnyToolkit | Effect.Effect<AnyToolkit, unknown> | "none" | undefined
  readonly concurrency?: number | undefined
  /** Sees each part of a stream as it comes. */
  readonly onPart?: ((part: Response.AnyPart) => Effect.Effect<void>) | undefined
}

export interface Turn {
  readonly parts: ReadonlyArray<Response.AnyPart>
  /** The types of the parts; a text is "text" however it came, and preliminary results are left out. */
  readonly shape: string
  readonly requests: ReturnType<typeof Response.approvalRequests>
  readonly results: ReadonlyArray<Response.ToolResultPart<string, unknown, unknown>>
  readonly text: string
  readonly finishReason: string | undefined
}

export interface Conversation {
  readonly script: ScriptedModel.ScriptedModel
  readonly model: LanguageModel.LanguageModel
  readonly send: (prompt: Prompt.RawInput, options?: SendOptions) => Effect.Effect<Turn, unknown>
  readonly history: Effect.Effect<Prompt.Prompt>
  readonly setHistory: (history: Prompt.Prompt) => Effect.Effect<void>
  readonly calls: Effect.Effect<number>
  /** The prompt the provider received last, checked to be well-formed. */
  readonly lastPrompt: Effect.Effect<Prompt.Prompt>
}

export interface StartOptions {
  readonly way: Way
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  /** An effect is carried out anew before each turn: `toolkit: yield* files`. */
  readonly toolkit?: AnyToolkit | Effect.Effect<AnyToolkit, unknown> | undefined
  readonly approval?: LanguageModel.ApprovalOptions | undefined
  readonly history?: Prompt.RawInput | undefined
  readonly script?: Omit<ScriptedModel.Options, "turns"> | undefined
  /** Who turns responses into messages where the program keeps the history itself. */
  readonly write?: ((parts: ReadonlyArray<Response.AnyPart>) => Prompt.Prompt) | undefined
  /** Makes the service from the script; by default approvals are put around the script's (foreign) service. */
  readonly make?: ((script: ScriptedModel.ScriptedModel) => Effect.Effect<LanguageModel.LanguageModel>) | undefined
}

export const start = Effect.fnUntraced(function*(options: StartOptions): Effect.fn.Return<Conversation> {
  const script = yield* ScriptedModel.make({ ...options.script, turns: options.turns })
  const underChat = options.way.startsWith("Chat.")
  const model = options.make !== undefined
    ? yield* options.make(script)
    // Our own functions put approvals around a bare service themselves; upstream's Chat needs it done.
    : underChat || options.approval !== undefined
    ? LanguageModel.withApproval(script.model, options.approval)
    : script.model
  const chat = yield* Chat.fromPrompt(options.history ?? [])
  const write = options.write ?? Prompt.fromResponseParts

  const take = (
    prompt: Prompt.RawInput,
    sendOptions: SendOptions | undefined
  ): Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown> => {
    const toolkit = sendOptions?.toolkit === "none" ? undefined : sendOptions?.toolkit ?? options.toolkit
    return Effect.isEffect(toolkit)
      ? Effect.flatMap(toolkit, (toolkit) => takeWith(toolkit, prompt, sendOptions))
      : takeWith(toolkit, prompt, sendOptions)
  }
  const takeWith = (
    toolkit: AnyToolkit | undefined,
    prompt: Prompt.RawInput,
    sendOptions: SendOptions | undefined
  ): Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown> => {
    const concurrency = sendOptions?.concurrency
    const onPart = sendOptions?.onPart ?? (() => Effect.void)
    const request = {
      prompt,
      ...(toolkit === undefined ? undefined : { toolkit }),
      ...(concurrency === undefined ? undefined : { concurrency })
    } as { readonly prompt: Prompt.RawInput; readonly toolkit: AnyToolkit }
    switch (options.way) {
      case "generateText":
        return Effect.map(LanguageModel.generateText(request), (response) => response.content).pipe(provideModel)
      case "streamText":
        return LanguageModel.streamText(request).pipe(Stream.tap(onPart), Stream.runCollect, provideModel)
      case "Chat.generateText":
        return Effect.map(chat.generateText(request), (response) => response.content).pipe(provideModel)
      case "Chat.streamText":
        return chat.streamText(request).pipe(Stream.tap(onPart), Stream.runCollect, provideModel)
    }
  }
  const provideModel = <A>(effect: Effect.Effect<A, unknown, any>): Effect.Effect<A, unknown> =>
    Effect.provideService(effect, LanguageModel.LanguageModel, model) as Effect.Effect<A, unknown>

  const send: Conversation["send"] = Effect.fnUntraced(function*(prompt, sendOptions) {
    if (underChat) return toTurn(yield* take(prompt, sendOptions))
    const whole = Prompt.concat(yield* Ref.get(chat.history), prompt)
    const parts = yield* take(whole, sendOptions)
    yield* Ref.set(chat.history, Prompt.concat(whole, write(parts)))
    return toTurn(parts)
  })

  return {
    script,
    model,
    send,
    history: Ref.get(chat.history),
    setHistory: (history) => Ref.set(chat.history, history),
    calls: script.calls,
    lastPrompt: Effect.map(script.requests, (requests) => {
      const last = requests.at(-1)
      assert.isDefined(last, "the model was never called")
      return last.prompt
    })
  }
})

export const toTurn = (parts: ReadonlyArray<Response.AnyPart>): Turn => {
  const shape: Array<string> = []
  let text = ""
  for (const part of parts) {
    if (part.type === "text" || part.type === "text-start") shape.push("text")
    if (part.type === "text") text += part.text
    if (part.type === "text-delta") text += part.delta
    if (part.type.startsWith("text") || part.type.startsWith("tool-params")) continue
    if (part.type === "tool-result" && part.preliminary === true) continue
    shape.push(part.type.replace("tool-approval-", "").replace("tool-", ""))
  }
  return {
    parts,
    shape: shape.join(" "),
    requests: Response.approvalRequests(parts),
    results: parts.filter((part) => part.type === "tool-result" && part.preliminary !== true) as Turn["results"],
    text,
    finishReason: parts.findLast((part) => part.type === "finish")?.reason
  }
}

// =============================================================================
// Tools
// =============================================================================

export const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file",
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.String }),
  needsApproval: true
})

export const ReadFile = Tool.make("ReadFile", {
  description: "Reads a file",
  parameters: { path: Schema.String },
  success: Schema.String
})

export const FileTools = Toolkit.make(DeleteFile, ReadFile)

/** `DeleteFile`, which is asked, and `ReadFile`, which is not; `runs` are the paths in the order they ran. */
export const fileTools = Effect.gen(function*() {
  const runs: Array<string> = []
  const toolkit = yield* withHandlers(FileTools, {
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path })),
    ReadFile: ({ path }) => Effect.sync(() => (runs.push(`read ${path}`), `content of ${path}`))
  })
  return { toolkit, runs }
})

export const withHandlers = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  handlers: Toolkit.HandlersFrom<Tools>
): Effect.Effect<Toolkit.WithHandler<Tools>> => Effect.provide(toolkit, toolkit.toLayer(handlers))

export const deleteCall = (id: string, path: string) =>
  ScriptedModel.toolCall({ id, name: "DeleteFile", params: { path } })

export const readCall = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "ReadFile", params: { path } })

/** The answers with which everything that was asked is approved. */
export const approveAll = ({ requests }: Pick<Turn, "requests">): Prompt.Prompt =>
  Prompt.approvalResponses(requests.map((request) => Approval.approve(request)))

// =============================================================================
// Assertions
// =============================================================================

/** What the provider is told, in short: `user:hi`, `assistant:[call c1]`, `tool:[result c1]`. */
export const outline = (prompt: Prompt.Prompt): ReadonlyArray<string> =>
  prompt.content.map((message) => {
    if (typeof message.content === "string") return `${message.role}:${message.content}`
    const parts = message.content.map((part) => {
      switch (part.type) {
        case "text":
          return part.text
        case "tool-call":
          return `call ${part.id}`
        case "tool-result":
          return part.isFailure ? `failure ${part.id}` : `result ${part.id}`
        case "tool-approval-request":
          return `request ${part.approvalId}`
        case "tool-approval-response":
          return `${part.approved ? "approve" : "deny"} ${part.approvalId}`
        default:
          return part.type
      }
    })
    return `${message.role}:[${parts.join(", ")}]`
  })

export const resultsOf = (prompt: Prompt.Prompt): ReadonlyArray<Prompt.ToolResultPart> =>
  prompt.content.flatMap((message) =>
    typeof message.content === "string" ? [] : message.content.filter((part) => part.type === "tool-result")
  )

export const assertWellFormed = (prompt: Prompt.Prompt, options?: StrictProvider.Options): void =>
  assert.deepStrictEqual(StrictProvider.check(prompt, options), [])

/** What the provider received last is well-formed, and in short this. */
export const assertSent = Effect.fnUntraced(function*(chat: Conversation, expected: ReadonlyArray<string>) {
  const prompt = yield* chat.lastPrompt
  assertWellFormed(prompt)
  assert.deepStrictEqual(outline(prompt), expected)
  return prompt
})

/** What a note says to the model of a result that came late. */
export interface Late {
  readonly tool: string
  readonly toolCallId: string
  readonly isFailure: boolean
  readonly result?: unknown
  readonly output?: unknown
  /** Of what ended without a result of its tool. */
  readonly outcome?: "denied" | "interrupted"
  readonly reason?: string
}

/** The note of a late result, word by word. */
export const lateNote = (late: Late): string =>
  `<late-tool-result>\nThis is not from the user. A tool call made earlier in this conversation has ended${
    late.outcome === undefined ? "; this is what the tool gave" : " without a result of its tool; this is why"
  }, as data.\n${JSON.stringify(late).replaceAll("<", "\\u003c")}\n</late-tool-result>`

/** The late results that a prompt tells of, in its order. */
export const lateIn = (prompt: Prompt.Prompt): ReadonlyArray<Late> =>
  prompt.content.flatMap((message) =>
    message.role !== "user" ? [] : message.content.flatMap((part) => {
      const lines = part.type === "text" ? part.text.split("\n") : []
      return lines[0] === "<late-tool-result>" ? [JSON.parse(lines[2]!) as Late] : []
    })
  )

/** The reason of a failed result; fails the test when there is none (law L14). */
export const reasonOf = (part: { readonly isFailure: boolean; readonly result: unknown }): string => {
  assert.isTrue(part.isFailure, `not a failure: ${JSON.stringify(part.result)}`)
  const { reason } = part.result as { readonly reason?: unknown }
  assert.isString(reason, `a failed result without a reason: ${JSON.stringify(part.result)}`)
  assert.notStrictEqual(reason, "", "an empty reason")
  return reason as string
}

/** The reason of the approval error that travels in an error of `LanguageModel`. */
export const approvalErrorOf = (error: unknown): ApprovalError.ApprovalErrorReason => {
  const found = ApprovalError.fromAiError(error)
  assert.isTrue(Option.isSome(found), `not an approval error: ${String(error)}`)
  return Option.getOrThrow(found).reason
}

export const pendingOf = (history: Prompt.Prompt) => LanguageModel.collectToolApprovals(history.content).pending
