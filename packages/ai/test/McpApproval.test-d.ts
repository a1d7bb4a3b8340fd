import { type Duration, Effect, pipe, Schema, Stream } from "effect"
import type { AiError } from "effect/ai"
import { describe, expectTypeOf, it } from "vitest"
import {
  Chat,
  LanguageModel,
  McpApproval,
  type McpClient,
  type McpClientError,
  Response,
  Tool,
  Toolkit
} from "../src/index.ts"

declare const client: McpClient.McpClient

const files = McpApproval.guard(client, { name: "files", trust: ["files"], timeout: "1 minute" })

type GuardFailure = McpClientError.McpClientError | McpApproval.McpGuardError

const Note = Tool.make("Note", { parameters: { text: Schema.String }, success: Schema.Number })

declare const notes: Effect.Effect<
  Toolkit.WithHandler<{ readonly Note: typeof Note }>,
  never,
  Tool.HandlersFor<{ readonly Note: typeof Note }>
>

describe("McpApproval.guard", () => {
  it("needs nothing, and fails as a client or as a name does", () => {
    expectTypeOf(files).toEqualTypeOf<Effect.Effect<Toolkit.WithHandler<McpApproval.Tools>, GuardFailure>>()
    expectTypeOf(McpApproval.guard(client)).toEqualTypeOf(files)
    expectTypeOf<McpApproval.GuardOptions["timeout"]>().toEqualTypeOf<Duration.Input | undefined>()
    // @ts-expect-error: names are texts
    McpApproval.guard(client, { trust: [true] })
    // @ts-expect-error: no such option
    McpApproval.guard(client, { trusted: ["files"] })
  })

  it("is listed for each turn, and its errors are the program's", () => {
    const turn = Effect.gen(function*() {
      return yield* LanguageModel.generateText({ prompt: "hi", toolkit: yield* files })
    })
    expectTypeOf<Effect.Error<typeof turn>>().toEqualTypeOf<AiError.AiError | GuardFailure>()
    expectTypeOf<Effect.Services<typeof turn>>().toEqualTypeOf<LanguageModel.LanguageModel>()
    const stream = Stream.unwrap(Effect.map(files, (toolkit) => LanguageModel.streamText({ prompt: "hi", toolkit })))
    expectTypeOf<Stream.Error<typeof stream>>().toEqualTypeOf<AiError.AiError | GuardFailure>()
    expectTypeOf<Stream.Services<typeof stream>>().toEqualTypeOf<LanguageModel.LanguageModel>()
    const chat = Effect.gen(function*() {
      return yield* (yield* Chat.empty).generateText({ prompt: "hi", toolkit: yield* Toolkit.join(files, notes) })
    })
    expectTypeOf<Effect.Error<typeof chat>>().toEqualTypeOf<AiError.AiError | GuardFailure | Toolkit.ToolNameClash>()
  })

  it("cannot be given to a turn itself: upstream's turns take no toolkit that may fail", () => {
    // @ts-expect-error: write `toolkit: yield* files`
    LanguageModel.generateText({ prompt: "hi", toolkit: files })
  })

  it("has results of text, and failures with a reason", () => {
    Effect.gen(function*() {
      const response = yield* LanguageModel.generateText({ prompt: "hi", toolkit: yield* files })
      expectTypeOf(response.toolCalls[0]!.name).toEqualTypeOf<string>()
      expectTypeOf(response.toolCalls[0]!.params).toEqualTypeOf<unknown>()
      for (const part of response.toolResults) {
        if (part.isFailure) expectTypeOf<McpApproval.Failure>().toExtend<typeof part.result>()
        else expectTypeOf(part.result).toEqualTypeOf<string>()
      }
      expectTypeOf(Response.isWaiting(response)).toEqualTypeOf<boolean>()
    })
    expectTypeOf<McpApproval.Failure["type"]>().toEqualTypeOf<"execution-interrupted" | "tool-failed">()
  })

  it("has tools whose parameters are an object", () => {
    Effect.flatMap(files, (toolkit) => {
      expectTypeOf(toolkit.handle<string>).parameter(1).toEqualTypeOf<{ readonly [name: string]: unknown }>()
      // @ts-expect-error: no object
      return toolkit.handle("files__read", "a.txt")
    })
  })

  it("can be guarded and given a policy", () => {
    expectTypeOf(Toolkit.guard(files)).toEqualTypeOf(files)
    expectTypeOf(Toolkit.withPolicy(files, () => undefined)).toEqualTypeOf(files)
  })
})

describe("Toolkit.join", () => {
  it("has the tools, the errors and the services of both", () => {
    const two = Toolkit.join(files, McpApproval.guard(client, { name: "web" }))
    expectTypeOf(two).toEqualTypeOf<
      Effect.Effect<Toolkit.WithHandler<McpApproval.Tools>, GuardFailure | Toolkit.ToolNameClash>
    >()
    const mixed = pipe(files, Toolkit.join(notes))
    expectTypeOf(mixed).toEqualTypeOf<
      Effect.Effect<
        Toolkit.WithHandler<Record<string, McpApproval.McpTool | typeof Note>>,
        GuardFailure | Toolkit.ToolNameClash,
        Tool.HandlersFor<{ readonly Note: typeof Note }>
      >
    >()
  })

  it("of tools that are known keeps what is known of each", () => {
    const Count = Tool.make("Count", { success: Schema.Number })
    const counts = {} as Toolkit.WithHandler<{ readonly Count: typeof Count }>
    const both = Toolkit.join(notes, counts)
    expectTypeOf<Effect.Success<typeof both>["tools"]>().toEqualTypeOf<
      { readonly Note: typeof Note; readonly Count: typeof Count }
    >()
    Effect.flatMap(both, (toolkit) => {
      expectTypeOf(toolkit.handle<"Note">).parameter(1).toEqualTypeOf<{ readonly text: string }>()
      // @ts-expect-error: no such tool
      return toolkit.handle("Nope", {})
    })
  })

  it("of one that needs nothing and one that is there already needs nothing", () => {
    const plain = {} as Toolkit.WithHandler<{ readonly Note: typeof Note }>
    expectTypeOf(Toolkit.join(plain, plain)).toEqualTypeOf<
      Effect.Effect<Toolkit.WithHandler<{ readonly Note: typeof Note }>, Toolkit.ToolNameClash>
    >()
  })
})
