/** The programs of the two libraries on Effect, which differ in nothing but whose functions they call. */
import { ApprovalJournal, ApprovalSeal, LanguageModel, Prompt, type Response } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Provider from "../../packages/bench/src/provider.ts"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import * as Work from "../work.ts"

// =============================================================================
// What both have
// =============================================================================

/** Both tools are the same, but for the person who is asked about the first. */
export const file = {
  description: "Deletes a file",
  parameters: Schema.Struct({ path: Schema.String, force: Schema.Boolean }),
  success: Schema.Struct({ deleted: Schema.Boolean })
}

const deleteFile = (params: Parameters<typeof Work.deleteFile>[0]) => Effect.sync(() => Work.deleteFile(params))

export const handlers = { DeleteFile: deleteFile, DeleteDraft: deleteFile }

const story = Provider.text(Work.words)
const done = Provider.text([Work.finalText])

/** It reads the parameters' text each time, as a provider does, and looks whether it is told of what it has to be told of. */
export const model = (calls: number) =>
  Provider.makeModel((messages) => {
    const last = messages.at(-1)!
    if (last.role === "user") {
      const [part] = last.content
      const said = part?.type === "text" ? part.text : undefined
      if (said === Work.storyQuestion) return story
      return Provider.calls(Array.from({ length: calls }, (_, index) => ({
        id: `call-${index}`,
        name: said === Work.draftQuestion ? "DeleteDraft" : "DeleteFile",
        params: JSON.parse(Work.paramsOf(index))
      })))
    }
    let results = 0
    if (typeof last.content !== "string") {
      for (const part of last.content) if (part.type === "tool-result") results++
    }
    Work.expect("results that the model is told of", results, calls)
    return done
  })

// =============================================================================
// What differs
// =============================================================================

interface Turn {
  readonly content: ReadonlyArray<Response.AnyPart>
  readonly text: string
}

export interface Way<R> {
  readonly library: string
  readonly version: string
  readonly handlers: Layer.Layer<R>
  readonly generate: (prompt: Prompt.RawInput) => Effect.Effect<Turn, unknown, R | LanguageModel.LanguageModel>
  readonly stream: (
    prompt: Prompt.RawInput
  ) => Stream.Stream<Response.AnyPart, unknown, R | LanguageModel.LanguageModel>
}

/** Its programs; ours seals what it asks and writes down what became of it, and upstream has neither. */
export const programs = <R>({ generate, handlers, library, stream, version }: Way<R>) => {
  const makeRuntime = (calls: number) =>
    ManagedRuntime.make(Layer.mergeAll(
      handlers,
      ApprovalSeal.layer({ key: Work.key }),
      ApprovalJournal.layerMemory(),
      Layer.effect(LanguageModel.LanguageModel, model(calls))
    ))

  const contestant = (
    calls: number,
    prepare: (
      operations: number
    ) => Effect.Effect<
      { readonly runs: number; readonly all: Effect.Effect<unknown, unknown, R | LanguageModel.LanguageModel> },
      unknown,
      R | LanguageModel.LanguageModel
    >
  ): Contestant => {
    const runtime = makeRuntime(calls)
    return {
      library,
      version,
      prepare: async (operations) => {
        const { all, runs } = await runtime.runPromise(prepare(operations))
        return () => Work.expectRuns(runs, calls, () => runtime.runPromise(all))
      },
      close: () => runtime.dispose()
    }
  }

  /** The same each time, without anything made ready. */
  const again = (calls: number, runs: number, one: Effect.Effect<void, unknown, R | LanguageModel.LanguageModel>) =>
    contestant(
      calls,
      (operations) =>
        Effect.succeed({ runs: runs * operations, all: Effect.replicateEffect(one, operations, { discard: true }) })
    )

  const ask = generate(Work.question)

  const resumes = (calls: number, approved: boolean, before: () => ReadonlyArray<Prompt.Message>): Contestant =>
    contestant(calls, (operations) =>
      Effect.map(
        Effect.replicateEffect(
          Effect.map(ask, (turn) => Prompt.fromMessages([...before(), ...answered(turn, approved)])),
          operations
        ),
        (prompts) => ({
          runs: approved ? operations : 0,
          all: Effect.forEach(
            prompts,
            (prompt) => Effect.map(generate(prompt), ({ text }) => Work.expect("text", text, Work.finalText)),
            { discard: true }
          )
        })
      ))

  const holds = (): Holder => {
    const runtime = makeRuntime(1)
    const held = Effect.map(ask, (turn) => [user(Work.question), ...Prompt.fromResponseParts(turn.content).content])
    return { library, version, ask: () => runtime.runPromise(held) }
  }

  return {
    /** The program holds the messages. */
    holds,
    asks: (calls: number) =>
      again(calls, 0, Effect.map(ask, (turn) => Work.expect("requests", requestsOf(turn).length, calls))),
    approves: (calls: number) => resumes(calls, true, () => []),
    denies: (calls: number) => resumes(calls, false, () => []),
    /** One call that is approved, at the end of so many messages, which were just read. */
    approvesBehind: (messages: number) => resumes(1, true, () => history(messages)),
    /** One call of a tool that asks nobody, beside one that does. */
    runs: () =>
      again(
        1,
        1,
        Effect.map(generate(Work.draftQuestion), ({ content }) =>
          Work.expect("results", content.filter(({ type }) => type === "tool-result").length, 1))
      ),
    /** A stream of text beside a tool that would ask. */
    streams: () =>
      again(
        1,
        0,
        Effect.suspend(() => {
          let read = 0
          return Effect.map(
            Stream.runForEachArray(stream(Work.storyQuestion), (parts) =>
              Effect.sync(() => {
                for (const part of parts) if (part.type === "text-delta") read++
              })),
            () => Work.expect("deltas", read, Work.words.length)
          )
        })
      )
  }
}

// =============================================================================
// Prompts
// =============================================================================

const requestsOf = ({ content }: Turn) => content.flatMap((part) => part.type === "tool-approval-request" ? [part] : [])

const user = (text: string): Prompt.Message => Prompt.userMessage({ content: [Prompt.textPart({ text })] })

const response = (approvalId: string, approved: boolean): Prompt.ToolApprovalResponsePart =>
  Prompt.toolApprovalResponsePart({ approvalId, approved, ...(approved ? {} : { reason: Work.denialReason }) })

const answered = (turn: Turn, approved: boolean): ReadonlyArray<Prompt.Message> => [
  user(Work.question),
  ...Prompt.fromResponseParts(turn.content).content,
  Prompt.toolMessage({ content: requestsOf(turn).map(({ approvalId }) => response(approvalId, approved)) })
]

/** One message in four is an answer of a person, with what came of it. */
const history = (messages: number): ReadonlyArray<Prompt.Message> =>
  Array.from({ length: messages / 4 }, (_, index) => {
    const id = `settled-${index}`
    // As long as ours, and of one piece in memory, as what was read is.
    const approvalId: string = JSON.parse(JSON.stringify(`${index}.`.padEnd(180, "x")))
    return [
      user(`Delete file ${index}.`),
      Prompt.assistantMessage({
        content: [
          Prompt.toolCallPart({
            id,
            name: "DeleteFile",
            params: { path: `/tmp/${index}`, force: true },
            providerExecuted: false
          }),
          Prompt.toolApprovalRequestPart({ approvalId, toolCallId: id })
        ]
      }),
      Prompt.toolMessage({
        content: [
          response(approvalId, true),
          Prompt.toolResultPart({
            id,
            name: "DeleteFile",
            isFailure: false,
            result: { deleted: true },
            providerExecuted: false,
            options: { assent: { approvalId } }
          })
        ]
      }),
      Prompt.assistantMessage({ content: [Prompt.textPart({ text: `File ${index} is gone.` })] })
    ]
  }).flat()
