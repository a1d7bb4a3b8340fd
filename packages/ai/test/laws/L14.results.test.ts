/** L14 what is said of a call: that does not fit, that was cut, that ran before and is told again (law L2). */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema, SchemaGetter } from "effect"
import { Approval, ApprovalController, ApprovalJournal, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const plain = ["generateText", "streamText"] as const

/** Calls of one tool, approved inline. */
const run = (
  mode: Support.Mode,
  tool: Tool.Any,
  handler: () => Effect.Effect<unknown, unknown>,
  params: unknown = {}
) =>
  Effect.gen(function*() {
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", tool.name, params)], [tool], {
      [tool.name]: handler
    })
    const { model } = yield* Support.answering
    const options = {
      model,
      toolkit: tools.toolkit,
      history: asked.history,
      prompt: Support.answers(Approval.approve(asked.requests[0]!))
    }
    return { options, take: Support.takeTurn(mode, options), tools }
  })

describe("L14 what is said of a call", () => {
  const unfit: Record<string, readonly [id: string, name: string, says: string]> = {
    "an id that is too long": ["i".repeat(257), "DeleteFile", "the call's id is empty, too long, or not valid text."],
    "a name that is too long": ["c1", "D".repeat(129), "the tool's name is empty, too long, or not valid text."],
    "parameters that do not fit": ["c1", "Count", "they do not fit the tool's schema."],
    "parameters whose schema dies": ["c1", "Dies", "they do not fit the tool's schema."],
    "parameters without one form": ["c1", "Shifts", "they change when they are written as JSON"]
  }
  const gated = (name: string, parameters: Schema.Struct.Fields) =>
    Tool.make(name, { parameters, success: Schema.String, needsApproval: true }) as Tool.Any
  const tools = [
    Support.DeleteFile,
    gated("D".repeat(129), { path: Schema.String }),
    gated("Count", { path: Schema.Number }),
    gated("Dies", {
      path: Schema.String.pipe(Schema.decode({
        decode: SchemaGetter.transform((): string => {
          throw new Error("boom")
        }),
        encode: SchemaGetter.transform((text: string) => text)
      }))
    }),
    gated("Shifts", {
      path: Schema.String.pipe(Schema.decode({
        decode: SchemaGetter.transform((text: string) => text),
        encode: SchemaGetter.transform((text: string) => `${text}!`)
      }))
    })
  ]
  for (const [what, [id, name, says]] of Object.entries(unfit)) {
    Support.forEachMode(`L14 a call with ${what}: a failed result that says so, and nobody is asked`, function*(mode) {
      const kit = yield* Support.makeTools(tools)
      const turn = yield* Support.ask(mode, {
        toolkit: kit.toolkit,
        calls: [Support.call(id, name, { path: "a" })]
      })
      assert.deepStrictEqual([turn.requests, kit.runs], [[], []])
      assert.include(Support.failureReason(turn.results[0]), says)
    }, plain)
  }

  Support.forEachMode("L14 a denial with a blank reason is one without", function*(mode) {
    const it = yield* run(mode, Support.DeleteFile, () => Effect.void, { path: "a" })
    const { approvalId } = Support.partsOf(it.options.prompt).find((part) => part.type === "tool-approval-response")!
    const turn = yield* Support.takeTurn(mode, {
      ...it.options,
      prompt: Support.answers(Approval.deny({ approvalId }, " \n\t"))
    })
    assert.strictEqual(Support.failureReason(turn.results[0]), "The user denied this call.")
  })

  Support.forEachMode("L14 a call of a response that was cut says why it did not run", function*(mode) {
    const kit = yield* Support.makeTools()
    const turn = yield* Support.ask(mode, {
      toolkit: kit.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" }), ScriptedModel.finish("length")]
    })
    assert.match(
      Support.failureReason(turn.results[0]),
      /interrupted because the response finished with reason "length"/
    )
  }, plain)

  const Any = Tool.dynamic("Any", { parameters: { type: "object" }, needsApproval: true })
  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  for (const [what, value] of Object.entries({ "a cycle": cyclic, "a bigint": { n: 1n } })) {
    Support.forEachMode(
      `L2 L14 a result that is ${what}, now and told again: that it ran, and not to repeat it`,
      function*(mode) {
        const { take, tools } = yield* run(mode, Any, () => Effect.succeed(value))
        for (let i = 0; i < 2; i++) {
          const [part] = (yield* take).results
          assert.deepStrictEqual(part!.encodedResult, {
            type: "execution-interrupted",
            reason: "The call ran, but its result cannot be written as JSON, so it cannot be shown. Do not repeat it" +
              " without checking."
          })
          assert.isTrue(part!.isFailure)
        }
        assert.lengthOf(tools.runs, 1)
      },
      plain
    )
  }

  Support.forEachMode("L2 a result is given as the JSON that is kept of it, now and told again", function*(mode) {
    const { take } = yield* run(mode, Any, () => Effect.succeed({ at: new Date(0), gone: undefined }))
    for (let i = 0; i < 2; i++) {
      assert.deepStrictEqual((yield* take).results[0]!.encodedResult, { at: "1970-01-01T00:00:00.000Z" })
    }
  }, plain)

  Support.forEachMode(
    "L2 L14 a result that is not what its tool says that it gives, told again, is one of a call that ran",
    function*(mode) {
      const tool = Tool.make("Fetch", { success: Schema.String, needsApproval: true })
      const { take, tools } = yield* run(mode, tool, () => Effect.succeed(7))
      yield* Effect.exit(take)
      assert.match(
        Support.failureReason((yield* take).results[0]),
        /^The call ran, but what it gave is not what its tool says that it gives.*Do not repeat it without checking\.$/
      )
      assert.lengthOf(tools.runs, 1)
    },
    plain
  )

  Support.forEachMode("L2 L14 a crash, told again, is not the failure it could have had", function*(mode) {
    const Loose = Tool.make("Loose", { success: Schema.String, failure: Schema.Unknown, needsApproval: true })
    const { take, tools } = yield* run(mode, Loose, () => Effect.die(new Error("a bug")))
    yield* Effect.exit(take)
    const again = yield* take
    assert.include(Support.failureReason(again.results[0]), "The tool crashed before it finished")
    assert.lengthOf(tools.runs, 1)
  }, plain)

  Support.forEachMode(
    "L2 L10 a recorded result that the tool of today cannot read is given as it was recorded",
    function*(mode) {
      const { options, take } = yield* run(mode, Support.DeleteFile, () => Effect.succeed({ deleted: true }), {
        path: "a"
      })
      yield* take
      const now = yield* Support.makeTools([
        Tool.make("DeleteFile", {
          parameters: { path: Schema.String },
          success: Schema.Number,
          needsApproval: true
        }) as Tool.Any
      ])
      const again = yield* Support.takeTurn(mode, { ...options, toolkit: now.toolkit })
      assert.deepStrictEqual(again.results.map((part) => [part.isFailure, part.result]), [[false, { deleted: true }]])
    },
    plain
  )

  Support.forEachMode("L2 L14 a result that is no longer kept: that the call ran", (mode) =>
    Effect.gen(function*() {
      const { take, tools } = yield* run(mode, Support.DeleteFile, () => Effect.succeed({ deleted: true }), {
        path: "a"
      })
      yield* take
      const again = yield* take
      assert.match(
        Support.failureReason(again.results[0]),
        /ran before; its result is no longer kept. Do not repeat it/
      )
      assert.lengthOf(tools.runs, 1)
    }).pipe(Effect.provide(ApprovalJournal.layerMemory({ maxResultBytes: 1, grace: 0 }))), plain)

  Support.forEachMode("L2 L14 a run that was stopped says so when it is told again", function*(mode) {
    const { take } = yield* run(mode, Support.DeleteFile, () => Effect.interrupt, { path: "a" })
    yield* Effect.exit(take)
    assert.match(
      Support.failureReason((yield* take).results[0]),
      /stopped before it finished; what it did is unknown/
    )
  }, plain)

  Support.forEachMode("L4 the model is told what ran, when a person edited a call that gives nothing", function*(mode) {
    const Quiet = Tool.make("Quiet", { parameters: { path: Schema.String }, needsApproval: true })
    const kit = yield* Support.makeTools([Quiet as never], { Quiet: () => Effect.void })
    const turn = yield* Support.ask(mode, {
      toolkit: kit.toolkit,
      calls: [Support.call("c1", "Quiet", { path: "a" })]
    }).pipe(Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive((request) => Approval.approve(request, { params: { path: "b" } }))
    ))
    assert.deepStrictEqual(
      turn.results[0]!.modelOutput?.map((part) => part.type === "text" ? part.text : part.type),
      [`The user changed the parameters before approving. The call ran with: {"path":"b"}`, "null"]
    )
  }, plain)
})
