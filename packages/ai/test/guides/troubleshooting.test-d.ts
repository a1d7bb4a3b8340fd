/** What docs/troubleshooting.md says that does not compile, does not. */
import * as Ai from "@assent/ai"
import { LanguageModel, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Effect, Schema } from "effect"
import { Tool as Upstream } from "effect/ai"
import { describe, it } from "vitest"

const DeleteFile = Tool.make("DeleteFile", { parameters: { path: Schema.String }, success: Schema.String })
const toolkit = Toolkit.make(DeleteFile)
const program = LanguageModel.generateText({ prompt: "go", toolkit })

describe("docs/troubleshooting.md", () => {
  it("what is missing", () => {
    // @ts-expect-error no handlers
    Effect.runPromise(Effect.provide(program, ScriptedModel.layer({ turns: [] })))
    // @ts-expect-error no model
    Effect.runPromise(Effect.provide(program, toolkit.toLayer({ DeleteFile: () => Effect.succeed("deleted") })))
  })

  it("what is named or typed otherwise", () => {
    // @ts-expect-error not its name
    toolkit.toLayer({ deleteFile: () => Effect.succeed("deleted") })
    // @ts-expect-error no effect
    toolkit.toLayer({ DeleteFile: () => "deleted" })
    // @ts-expect-error a promise
    toolkit.toLayer({ DeleteFile: () => Promise.resolve("deleted") })
    // @ts-expect-error an error that the tool does not name
    toolkit.toLayer({ DeleteFile: () => Effect.fail("disk full") })
    const Named = Tool.make("DeleteFile", { success: Schema.String, failure: Schema.String })
    Toolkit.make(Named).toLayer({ DeleteFile: () => Effect.fail("disk full") })
    // @ts-expect-error plain fields
    Upstream.make("Read", { parameters: { path: Schema.String } })
    // @ts-expect-error misspelt
    Tool.make("Read", { needApproval: true })
    // @ts-expect-error a text
    Tool.make("Read", { needsApproval: () => "yes" })
    // @ts-expect-error it is in a module
    void Reflect.get(Ai, "generateText" satisfies keyof typeof Ai)
  })
})
