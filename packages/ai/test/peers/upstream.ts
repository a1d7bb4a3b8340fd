/**
 * The same conversations as in `laws/conversation.ts`, held with upstream's own functions and nothing of ours between:
 * what the middle column of the README's table is measured with.
 */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Ref, Schema, type Scope, Stream } from "effect"
import { Chat, LanguageModel, Prompt, Tool, Toolkit } from "effect/ai"
import { Approval, Prompt as OurPrompt } from "../../src/index.ts"
import { ScriptedModel, StrictProvider } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"

/**
 * States what upstream does wrong, as it was measured. When a later effect does something else, right or wrong, the
 * test fails and says that the table in the README is out of date.
 */
export const wrong = <A>(
  title: string,
  measured: NoInfer<A>,
  observe: (way: C.Way) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, A, never>,
  only: ReadonlyArray<C.Way> = C.ways
): void => {
  for (const way of only) {
    it.effect(`upstream: ${title} [${way}]`, () =>
      Effect.gen(function*() {
        const told = `fixed: update the table (${title})`
        const exit = yield* Effect.exit(Effect.gen(() => observe(way)))
        if (Exit.isFailure(exit)) return assert.fail(`${told}: ${Cause.pretty(exit.cause)}`)
        assert.deepStrictEqual(exit.value, measured, told)
      }))
  }
}

export const DeleteFile = Tool.make("DeleteFile", {
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.Struct({ deleted: Schema.String }),
  needsApproval: true
})

export const ReadFile = Tool.make("ReadFile", {
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.String
})

/** `DeleteFile`, which is asked, and `ReadFile`, which is not; `runs` are the paths in the order they ran. */
export const fileTools = Effect.gen(function*() {
  const runs: Array<string> = []
  const toolkit = yield* C.withHandlers(Toolkit.make(DeleteFile, ReadFile), {
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path })),
    ReadFile: ({ path }) => Effect.sync(() => (runs.push(`read ${path}`), `content of ${path}`))
  })
  return { toolkit, runs }
})

const Work = Tool.make("Work", {
  parameters: Schema.Struct({ name: Schema.String }),
  success: Schema.String,
  failure: Schema.String,
  needsApproval: true
})

/** `Work` with a handler, which is asked and is told the id of its call; a failure of it fails the turn. */
export const workTools = (handler: Toolkit.HandlersFrom<{ readonly Work: typeof Work }>["Work"]) =>
  C.withHandlers(Toolkit.make(Work), { Work: handler })

export const work = (id: string) => ScriptedModel.toolCall({ id, name: "Work", params: { name: id } })

export interface TalkOptions {
  readonly way: C.Way
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  readonly toolkit: C.AnyToolkit
  readonly script?: Omit<ScriptedModel.Options, "turns"> | undefined
}

export interface SendOptions {
  readonly toolkit?: C.AnyToolkit | "none" | undefined
  readonly onPart?: C.SendOptions["onPart"]
  readonly disableToolCallResolution?: true
}

/**
 * A conversation with upstream's functions over a bare model, which is not strict: what it is sent is measured. A
 * program that keeps the history itself adds a turn when it has succeeded.
 */
export const talk = Effect.fnUntraced(function*(options: TalkOptions) {
  const script = yield* ScriptedModel.make({
    strict: false,
    afterLastTurn: "over",
    ...options.script,
    turns: options.turns
  })
  const chat = yield* Chat.empty
  const underChat = options.way.startsWith("Chat.")
  const send = Effect.fnUntraced(function*(prompt: Prompt.RawInput, sendOptions: SendOptions = {}) {
    const { onPart = () => Effect.void, toolkit = options.toolkit, ...rest } = sendOptions
    const whole = underChat ? prompt : Prompt.concat(yield* Ref.get(chat.history), prompt)
    // The tests speak of many toolkits at once; their types are the business of `*.test-d.ts`.
    const request = { ...rest, prompt: whole, ...(toolkit === "none" ? undefined : { toolkit }) } as any
    const generate = underChat ? chat.generateText : LanguageModel.generateText
    const stream = underChat ? chat.streamText : LanguageModel.streamText
    const turn: Effect.Effect<ReadonlyArray<any>, unknown, LanguageModel.LanguageModel> =
      options.way.endsWith("generateText")
        ? Effect.map(generate(request) as Effect.Effect<any, unknown, any>, (response) => response.content)
        : Stream.runCollect(Stream.tap(stream(request) as Stream.Stream<any, unknown, any>, onPart))
    const parts = yield* Effect.provideService(turn, LanguageModel.LanguageModel, script.model)
    if (!underChat) yield* Ref.set(chat.history, Prompt.concat(Prompt.make(whole), Prompt.fromResponseParts(parts)))
    return C.toTurn(parts)
  })
  return {
    script,
    send,
    history: Ref.get(chat.history),
    setHistory: (history: Prompt.Prompt) => Ref.set(chat.history, history),
    /** What a strict provider says about the last prompt. */
    refusals: Effect.map(
      script.requests,
      (requests) => [...new Set(StrictProvider.check(requests.at(-1)!.prompt).map(({ rule }) => rule))].toSorted()
    ),
    outline: Effect.map(script.requests, (requests) => C.outline(requests.at(-1)!.prompt))
  }
})

/** A conversation that has asked about these calls; `answer` approves them all. */
export const asked = Effect.fnUntraced(function*(
  way: C.Way,
  calls: ReadonlyArray<ScriptedModel.TurnPart>,
  options: { readonly turns?: ReadonlyArray<ScriptedModel.Turn>; readonly toolkit?: C.AnyToolkit } = {}
) {
  const files = yield* fileTools
  const toolkit = options.toolkit ?? files.toolkit
  const chat = yield* talk({ way, toolkit, turns: [calls, ...options.turns ?? []] })
  const { requests } = yield* chat.send("go on")
  return { ...chat, answer: yes(...requests), asking: yield* chat.history, requests, runs: files.runs, toolkit }
})

interface Named {
  readonly approvalId: string
}

export const yes = (...requests: ReadonlyArray<Named>) =>
  OurPrompt.approvalResponses(requests.map((request) => Approval.approve(request)))

export const no = (...requests: ReadonlyArray<Named>) =>
  OurPrompt.approvalResponses(requests.map((request) => Approval.deny(request, "keep it")))

/** How an effect ended: "Success", "Failure" or "Die". */
export const ending = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isSuccess(exit) ? "Success" : Cause.hasDies(exit.cause) ? "Die" : "Failure"
  )
