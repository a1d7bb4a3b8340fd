/** What somebody reads whose program stops with an error of ours: a few lines, message first, and the line that fixes it. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Option, Schema } from "effect"
import { inspect } from "node:util"
import { AiError, ApprovalError, ApprovalJournal, ApprovalSeal, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Sealing from "../sealing.ts"

const toolkit = Toolkit.make(Tool.make("DeleteFile", { parameters: { path: Schema.String }, needsApproval: true }))

const withoutJournal = LanguageModel.generateText({ prompt: "tidy up", toolkit }).pipe(
  Effect.provideService(ApprovalJournal.ApprovalJournal, ApprovalJournal.ApprovalJournal.defaultValue()),
  Effect.provide(toolkit.toLayer({ DeleteFile: () => Effect.void })),
  Effect.provide(ScriptedModel.layer({ turns: ["done"] })),
  Effect.provide(ApprovalSeal.layer({ key: Sealing.keyA }))
)

/** As Node prints what nobody caught, which asks no object how it wants to be printed. */
const uncaught = (error: unknown) => inspect(error, { customInspect: false })

describe("a key without a journal", () => {
  it("the program stops with a few lines: what is missing first, and the lines that provide it", async () => {
    const error = await Effect.runPromise(Effect.flip(withoutJournal))
    const printed = uncaught(error)
    assert.match(printed, /^AiError: An approval key is configured.*no journal is configured/)
    assert.include(printed, "import { SqlApproval } from \"@assent/sql\"")
    assert.include(printed, "SqlApproval.layer({ filename: \"approvals.db\" })")
    assert.include(printed, "at LanguageModel.generateText")
    assert.include(printed, "[JournalRequired]")
    assert.notInclude(printed, "Invalid request")
    assert.isAtMost(printed.split("\n").length, 12)
  })

  it("a log of it says it twice at most", async () => {
    const error = await Effect.runPromise(Effect.flip(withoutJournal))
    assert.isAtMost(Cause.pretty(Cause.fail(error)).split("\n").length, 20)
  })
})

describe("an error that is printed briefly", () => {
  const reason = new ApprovalError.AlreadyDecided({ approvalId: "id-1", state: "done" })
  const own = ApprovalError.make(reason)
  const travelling = ApprovalError.toAiError(own, "streamText")

  it("has every field where a program reads it", () => {
    assert.deepStrictEqual([travelling._tag, travelling.module, travelling.method], [
      "AiError",
      "LanguageModel",
      "streamText"
    ])
    assert.strictEqual(travelling.cause, travelling.reason)
    assert.strictEqual(travelling.reason._tag, "InvalidRequestError")
    assert.strictEqual((travelling.reason as AiError.InvalidRequestError).description, own.message)
    assert.deepStrictEqual([own._tag, own.reason._tag, own.reason], ["ApprovalError", "AlreadyDecided", reason])
    assert.strictEqual(Option.getOrThrow(ApprovalError.fromAiError(travelling)).reason.message, reason.message)
  })

  it("is written and read like any other", () => {
    const json = Schema.encodeSync(Schema.toCodecJson(AiError.AiError))(travelling)
    const read = Schema.decodeUnknownSync(Schema.toCodecJson(AiError.AiError))(JSON.parse(JSON.stringify(json)))
    assert.deepStrictEqual(Option.getOrThrow(ApprovalError.fromAiError(read)).reason, reason)
    const ownJson = Schema.encodeSync(Schema.toCodecJson(ApprovalError.ApprovalError))(own)
    assert.deepStrictEqual(ownJson, {
      _tag: "ApprovalError",
      reason: { _tag: "AlreadyDecided", approvalId: "id-1", state: "done" }
    })
  })

  it("names its reason, with the fields of it", () => {
    const printed = uncaught(own)
    assert.match(printed, /^ApprovalError: The request is not open any more/)
    assert.match(printed, /reason: \[AlreadyDecided\] \{ approvalId: 'id-1', state: 'done' \}/)
    assert.notInclude(printed, "~effect/")
    assert.notInclude(printed, "_tag")
  })

  it("is caught by its tag", async () => {
    const caught = Effect.catchTag(Effect.fail(travelling), "AiError", ({ reason }) => Effect.succeed(reason._tag))
    assert.strictEqual(await Effect.runPromise(caught), "InvalidRequestError")
  })
})
