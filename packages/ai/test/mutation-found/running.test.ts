/**
 * How calls run, and what is said of their results: mutants of `internal/turn.ts`, `execution.ts`, `prepare.ts` and
 * `results.ts`.
 */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Schema, SchemaGetter, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalJournal, ApprovalPolicy, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"

const plain = ["generateText", "streamText"] as const

const approveAll = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)

/** Calls of one tool, approved inline. */
const run = (
  mode: Support.Mode,
  tool: Tool.Any,
  handler: () => Effect.Effect<unknown, unknown>,
  params: unknown = {}
) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools([tool], { [tool.name]: handler })
    const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", tool.name, params)] })
    const { model } = yield* Support.answering
    const options = {
      model,
      toolkit: tools.toolkit,
      history: asked.history,
      prompt: Support.answers(Approval.approve(asked.requests[0]!))
    }
    return { options, take: Support.takeTurn(mode, options), tools }
  })

describe("L8 how many at a time", () => {
  const limits: Record<
    string,
    readonly [concurrency: number | "unbounded" | undefined, atOnce: readonly [number, number]]
  > = {
    "as many as is said": [2, [2, 2]],
    "one": [1, [1, 1]],
    "at least one": [0, [1, 1]],
    "no part of a call": [2.9, [2, 2]],
    "all": ["unbounded", [12, 12]],
    // As upstream for calls that need nobody.
    "eight approved ones unless it is said": [undefined, [8, 12]]
  }
  for (const [title, [concurrency, atOnce]] of Object.entries(limits)) {
    for (const [index, name] of ["DeleteFile", "ReadFile"].entries()) {
      Support.forEachMode(`L8 ${title}: ${name}`, (mode) =>
        Effect.gen(function*() {
          let running = 0
          const go = yield* Deferred.make<void>()
          const handler = () =>
            Effect.suspend(() => {
              running++
              return Effect.as(Deferred.await(go), { deleted: true })
            })
          const tools = yield* Support.makeTools(undefined, {
            DeleteFile: handler,
            ReadFile: () => Effect.as(handler(), "read")
          })
          const turn = yield* Support.ask(mode, {
            toolkit: tools.toolkit,
            calls: Array.from({ length: 12 }, (_, i) => Support.call(`c${i}`, name, { path: `${i}` })),
            ...(concurrency === undefined ? undefined : { concurrency })
          }).pipe(approveAll, Effect.forkChild)
          // However long sealing takes on this machine, and then as many as will ever run.
          for (let round = 0; round < 1_000 && running < atOnce[index]!; round++) yield* Support.idle
          yield* Support.idle
          assert.strictEqual(running, atOnce[index])
          yield* Deferred.succeed(go, undefined)
          assert.lengthOf((yield* Fiber.join(turn)).results, 12)
        }), plain)
    }
  }

  Support.forEachMode("L1 policies that hang are waited for side by side", (mode) =>
    Effect.gen(function*() {
      const tools = yield* Support.makeTools()
      const asked = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: ["a", "b", "c"].map((path) => Support.call(path, "DeleteFile", { path }))
      })
      const { model } = yield* Support.answering
      const turn = yield* Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: asked.history,
        prompt: Support.answers(...asked.requests.map((request) => Approval.approve(request)))
      }).pipe(
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => Effect.never)),
        Effect.forkChild
      )
      yield* Support.idle
      yield* TestClock.adjust("30 seconds")
      yield* Support.idle
      assert.isTrue(yield* Support.settles(turn))
      assert.lengthOf((yield* Fiber.join(turn)).requests, 3)
    }))
})

describe("L8 failures", () => {
  Support.forEachMode(
    "L8 a turn fails with the failure of any of its calls, not of the first alone",
    (mode) =>
      Effect.gen(function*() {
        const Fails = Tool.make("Fails", { success: Schema.String, failure: Schema.String })
        const tools = yield* Support.makeTools([Support.DeleteFile, Support.ReadFile, Fails as never], {
          Fails: () => Effect.fail("broken")
        })
        const failure = yield* Effect.flip(Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "ReadFile", { path: "a" }), Support.call("c2", "Fails", {})]
        }))
        assert.strictEqual(failure as unknown, "broken")
      })
  )

  Support.forEachMode(
    "L8 L15 a call of a tool that is not there fails, with a bounded name",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "x".repeat(10_000), {})]
        })
        assert.include(Support.failureReason(asked.results[0]), `"${"x".repeat(128)}"`)
      }),
    plain
  )

  Support.forEachMode(
    "L8 L14 a handler that gives no result at all is a defect that says so",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const toolkit = { ...tools.toolkit, handle: () => Effect.succeed(Stream.empty) } as Support.AnyToolkit
        const exit = yield* Effect.exit(
          Support.ask(mode, { toolkit, calls: [Support.call("c1", "ReadFile", { path: "a" })] })
        )
        assert.isTrue(Exit.hasDies(exit))
        assert.match(String(exit), /"ReadFile" did not produce a final result/)
      }),
    plain
  )
})

describe("L9 L13 ids", () => {
  Support.forEachMode(
    "L9 L13 a call of the provider's keeps its id, also beside a call of ours that has it",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const search = ScriptedModel.toolCall({
          id: "c1",
          name: "Search",
          params: { query: "a" },
          providerExecuted: true
        })
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "ReadFile", { path: "a" }), search]
        })
        const ids = turn.parts.flatMap((part) => part.type === "tool-call" ? [[part.name, part.id]] : [])
        assert.deepStrictEqual(ids, [["ReadFile", "c1"], ["Search", "c1"]])
      }),
    plain
  )

  Support.forEachMode(
    "L13 the result of a call that was left without one is marked as one of an earlier message",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const { model } = yield* Support.answering
        const turn = yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: Support.written([Support.callPart("c1", "ReadFile", { path: "a" })])
        })
        assert.deepStrictEqual(turn.results.map((part) => part.metadata), [{ assent: { earlier: true } }])
        assert.include(Support.failureReason(turn.results[0]), "left in the conversation without a result")
      })
  )

  Support.forEachMode(
    "L2 a preliminary result of an approved call names its approval, as the last one does",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const preliminary = { result: { deleted: false }, encodedResult: { deleted: false }, isFailure: false }
        const final = { result: { deleted: true }, encodedResult: { deleted: true }, isFailure: false }
        const toolkit = {
          ...tools.toolkit,
          handle: () =>
            Effect.succeed(Stream.make({ ...preliminary, preliminary: true }, { ...final, preliminary: false }))
        } as unknown as Support.AnyToolkit
        const asked = yield* Support.ask(mode, { toolkit, calls: [Support.call("c1", "DeleteFile", { path: "a" })] })
        const { model } = yield* Support.answering
        const turn = yield* Support.takeTurn(mode, {
          model,
          toolkit,
          history: asked.history,
          prompt: Support.answers(Approval.approve(asked.requests[0]!))
        })
        const { approvalId } = asked.requests[0]!
        assert.deepStrictEqual(
          turn.parts.flatMap((part) => part.type === "tool-result" ? [[part.preliminary, part.metadata]] : []),
          [[true, { assent: { approvalId } }], [false, { assent: { approvalId } }]]
        )
      }),
    ["streamText", "Chat.streamText"]
  )
})

describe("L14 what is said of a call", () => {
  const unfit: Record<string, readonly [id: string, name: string, says: string]> = {
    "an id that is too long": ["i".repeat(257), "DeleteFile", "the call's id is empty, too long, or not valid text."],
    "a name that is too long": ["c1", "D".repeat(129), "the tool's name is empty, too long, or not valid text."],
    "parameters that do not fit": ["c1", "Count", "they do not fit the tool's schema."],
    "parameters without one form": ["c1", "Shifts", "they do not have one form that stays the same"]
  }
  const gated = (name: string, parameters: Schema.Struct.Fields) =>
    Tool.make(name, { parameters, success: Schema.String, needsApproval: true }) as Tool.Any
  const tools = [
    Support.DeleteFile,
    gated("D".repeat(129), { path: Schema.String }),
    gated("Count", { path: Schema.Number }),
    gated("Shifts", {
      path: Schema.String.pipe(Schema.decode({
        decode: SchemaGetter.transform((text: string) => text),
        encode: SchemaGetter.transform((text: string) => `${text}!`)
      }))
    })
  ]
  for (const [what, [id, name, says]] of Object.entries(unfit)) {
    Support.forEachMode(
      `L14 a call with ${what}: a failed result that says so, and nobody is asked`,
      (mode) =>
        Effect.gen(function*() {
          const kit = yield* Support.makeTools(tools)
          const turn = yield* Support.ask(mode, {
            toolkit: kit.toolkit,
            calls: [Support.call(id, name, { path: "a" })]
          })
          assert.deepStrictEqual([turn.requests, kit.runs], [[], []])
          assert.include(Support.failureReason(turn.results[0]), says)
        }),
      plain
    )
  }

  Support.forEachMode("L14 a denial with a blank reason is one without", (mode) =>
    Effect.gen(function*() {
      const it = yield* run(mode, Support.DeleteFile, () => Effect.void, { path: "a" })
      const { approvalId } = Support.partsOf(it.options.prompt).find((part) => part.type === "tool-approval-response")!
      const turn = yield* Support.takeTurn(mode, {
        ...it.options,
        prompt: Support.answers(Approval.deny({ approvalId }, " \n\t"))
      })
      assert.strictEqual(Support.failureReason(turn.results[0]), "The user denied this call.")
    }))

  Support.forEachMode(
    "L14 a call of a response that was cut says why it did not run",
    (mode) =>
      Effect.gen(function*() {
        const kit = yield* Support.makeTools()
        const turn = yield* Support.ask(mode, {
          toolkit: kit.toolkit,
          calls: [Support.call("c1", "DeleteFile", { path: "a" }), ScriptedModel.finish("length")]
        })
        assert.match(
          Support.failureReason(turn.results[0]),
          /interrupted because the response finished with reason "length"/
        )
      }),
    plain
  )

  const Any = Tool.dynamic("Any", { parameters: { type: "object" }, needsApproval: true })
  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  for (const [what, value] of Object.entries({ "a cycle": cyclic, "a bigint": { n: 1n } })) {
    Support.forEachMode(
      `L2 L14 a result that is ${what}, now and told again: that it ran, and not to repeat it`,
      (mode) =>
        Effect.gen(function*() {
          const { take, tools } = yield* run(mode, Any, () => Effect.succeed(value))
          for (let i = 0; i < 2; i++) {
            const [part] = (yield* take).results
            assert.deepStrictEqual(part!.encodedResult, {
              type: "execution-interrupted",
              reason:
                "The call ran, but its result cannot be written as JSON, so it cannot be shown. Do not repeat it" +
                " without checking."
            })
            assert.isTrue(part!.isFailure)
          }
          assert.lengthOf(tools.runs, 1)
        }),
      plain
    )
  }

  Support.forEachMode(
    "L2 a result is given as the JSON that is kept of it, now and told again",
    (mode) =>
      Effect.gen(function*() {
        const { take } = yield* run(mode, Any, () => Effect.succeed({ at: new Date(0), gone: undefined }))
        for (let i = 0; i < 2; i++) {
          assert.deepStrictEqual((yield* take).results[0]!.encodedResult, { at: "1970-01-01T00:00:00.000Z" })
        }
      }),
    plain
  )

  Support.forEachMode(
    "L2 L14 a crash, told again, is not the failure it could have had",
    (mode) =>
      Effect.gen(function*() {
        const Loose = Tool.make("Loose", { success: Schema.String, failure: Schema.Unknown, needsApproval: true })
        const { take, tools } = yield* run(mode, Loose, () => Effect.die(new Error("a bug")))
        yield* Effect.exit(take)
        const again = yield* take
        assert.include(Support.failureReason(again.results[0]), "The tool crashed before it finished")
        assert.lengthOf(tools.runs, 1)
      }),
    plain
  )

  Support.forEachMode(
    "L2 L10 a recorded result that the tool of today cannot read is given as it was recorded",
    (mode) =>
      Effect.gen(function*() {
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
      }),
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

  Support.forEachMode("L2 L14 a run that was stopped says so when it is told again", (mode) =>
    Effect.gen(function*() {
      const { take } = yield* run(mode, Support.DeleteFile, () => Effect.interrupt, { path: "a" })
      yield* Effect.exit(take)
      assert.match(
        Support.failureReason((yield* take).results[0]),
        /stopped before it finished; what it did is unknown/
      )
    }), plain)

  Support.forEachMode(
    "L4 the model is told what ran, when a person edited a call that gives nothing",
    (mode) =>
      Effect.gen(function*() {
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
      }),
    plain
  )
})
