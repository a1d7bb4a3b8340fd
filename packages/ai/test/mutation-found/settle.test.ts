/**
 * Calls of the history, in the corners that mutants of `internal/settle.ts` and `internal/decision.ts` showed nobody
 * looked into.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema, SchemaTransformation } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, Prompt, Tool } from "../../src/index.ts"
import * as Support from "../laws/support.ts"
import { logged } from "./logs.ts"

const ask = (mode: Support.Mode, tools: Support.Tools, ...paths: ReadonlyArray<string>) =>
  Support.ask(mode, {
    toolkit: tools.toolkit,
    calls: paths.map((path, index) => Support.call(`c${index + 1}`, "DeleteFile", { path }))
  })

const begin = (mode: Support.Mode, handlers?: Parameters<typeof Support.makeTools>[1]) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools(undefined, handlers)
    const asked = yield* ask(mode, tools, "a")
    const script = yield* Support.answering
    const options = { model: script.model, toolkit: tools.toolkit, history: asked.history }
    return { asked, options, request: asked.requests[0]!, script, tools }
  })

const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

describe("what a request says", () => {
  Support.forEachMode(
    "L5 a request and its repetition are questions of approval, and say who runs the call",
    (mode) =>
      Effect.gen(function*() {
        const { asked, options, request } = yield* begin(mode)
        assert.deepStrictEqual([request.interaction, request.providerExecuted], ["approval", false])
        const poll = yield* Support.takeTurn(mode, options)
        assert.deepStrictEqual(poll.requests, asked.requests)
      })
  )

  Support.forEachMode(
    "L9 the provider's own request, repeated, still says that the provider runs the call",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const { model } = yield* Support.answering
        const call = Prompt.toolCallPart({
          id: "mcp_1",
          name: "Search",
          params: { query: "a" },
          providerExecuted: true
        })
        const history = Support.written([call, Support.requestPart("mcpr_1", "mcp_1")])
        const poll = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history })
        assert.deepStrictEqual(
          poll.requests.map(({ approvalId, providerExecuted, toolName }) => [approvalId, toolName, providerExecuted]),
          [["mcpr_1", "Search", true]]
        )
      })
  )
})

describe("L9 the provider's own requests", () => {
  const call = Prompt.toolCallPart({ id: "mcp_1", name: "Search", params: { query: "a" }, providerExecuted: true })
  const result = Prompt.toolResultPart({
    id: "mcp_1",
    name: "Search",
    result: "found",
    isFailure: false,
    providerExecuted: true
  })

  Support.forEachMode(
    "L9 a request whose call the provider has run meanwhile is not open",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const { model } = yield* Support.answering
        const history = Support.written([call, Support.requestPart("mcpr_1", "mcp_1"), result])
        const turn = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history })
        assert.deepStrictEqual([turn.requests, turn.text], [[], "done"])
      })
  )

  Support.forEachMode(
    "L9 a request with an id of ours is not shown as the provider's",
    (mode) =>
      Effect.gen(function*() {
        const { asked, options, request } = yield* begin(mode)
        const history = Support.rewrite(asked.history, (part) =>
          part.type === "tool-call"
            ? call
            : part.type === "tool-approval-request"
            ? Support.requestPart(request.approvalId, "mcp_1")
            : part)
        const turn = yield* Support.takeTurn(mode, { ...options, history })
        assert.deepStrictEqual(turn.requests, [])
      })
  )

  Support.forEachMode(
    "L6 L9 under hold the provider's request stays open after a new message, else it is over",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const history = Support.written([call, Support.requestPart("mcpr_1", "mcp_1")])
        for (const onNewMessage of ["hold", "supersede"] as const) {
          const script = yield* Support.answering
          const turn = yield* Support.takeTurn(mode, {
            model: script.model,
            toolkit: tools.toolkit,
            history,
            prompt: "And now?",
            approval: { onNewMessage }
          })
          const open = turn.requests.map((request) => request.approvalId)
          assert.deepStrictEqual([open, yield* script.calls], onNewMessage === "hold" ? [["mcpr_1"], 0] : [[], 1])
        }
      })
  )
})

describe("a call that was decided, told again where it cannot run", () => {
  const ways = {
    "without a toolkit": { toolkit: undefined },
    "by a caller who resolves calls": { disableToolCallResolution: true }
  }
  for (const [how, over] of Object.entries(ways)) {
    Support.forEachMode(`L2 the recorded result of a call that ran is given ${how}`, (mode) =>
      Effect.gen(function*() {
        const { options, request, script, tools } = yield* begin(mode)
        const prompt = Support.answers(Approval.approve(request))
        const first = yield* Support.takeTurn(mode, { ...options, prompt })
        const again = yield* Support.takeTurn(mode, { ...options, ...over, prompt })
        assert.deepStrictEqual(again.results.map((part) => [part.id, part.isFailure, part.encodedResult]), [
          ["c1", false, { deleted: true }]
        ])
        assert.deepStrictEqual(
          [again.requests, again.text, tools.runs.length, yield* script.calls],
          [[], first.text, 1, 2]
        )
      }))

    Support.forEachMode(
      `L2 a call that still runs is waited for, and nobody is asked about it again, ${how}`,
      (mode) =>
        Effect.gen(function*() {
          const hold = yield* Support.makeHold
          const { options, request, script, tools } = yield* begin(mode, {
            DeleteFile: () => Effect.as(hold.wait, { deleted: true })
          })
          const prompt = Support.answers(Approval.approve(request))
          const running = yield* Effect.forkChild(Support.takeTurn(mode, { ...options, prompt }))
          yield* hold.entered
          const meanwhile = yield* Effect.forkChild(Support.takeTurn(mode, { ...options, ...over, prompt }))
          for (let i = 0; i < 50; i++) yield* Effect.yieldNow
          assert.deepStrictEqual([meanwhile.pollUnsafe(), yield* script.calls], [undefined, 0])
          yield* hold.release
          for (const turn of [yield* Fiber.join(running), yield* Fiber.join(meanwhile)]) {
            assert.deepStrictEqual(turn.results.map(({ encodedResult }) => encodedResult), [{ deleted: true }])
            assert.deepStrictEqual([turn.requests, turn.text], [[], "done"])
          }
          assert.strictEqual(tools.runs.length, 1)
        })
    )
  }

  Support.forEachMode(
    "L10 a request that nobody answered stays open on a turn without a toolkit",
    (mode) =>
      Effect.gen(function*() {
        const { asked, options, request, script } = yield* begin(mode)
        const [poll, lines] = yield* logged(Support.takeTurn(mode, { ...options, toolkit: undefined }))
        assert.deepStrictEqual([poll.requests, poll.results, lines], [asked.requests, [], []])
        assert.strictEqual(yield* script.calls, 0)
        const [answered, warnings] = yield* logged(
          Support.takeTurn(mode, { ...options, toolkit: undefined, prompt: Support.answers(Approval.approve(request)) })
        )
        assert.include(Support.failureReason(answered.results[0]), "No toolkit was given on this turn")
        assert.deepStrictEqual(warnings.map(({ level }) => level), ["Warn"])
        assert.match(warnings[0]!.text, /approval of "DeleteFile" .* without a toolkit.*Give the turn .* the toolkit/)
      })
  )
})

describe("reasons", () => {
  for (const onInvalid of ["result", "fail"] as const) {
    Support.forEachMode(
      `L14 a denial needs no proof: it is a denial also of a request that is not ours, ${onInvalid}`,
      (mode) =>
        Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const { model } = yield* Support.answering
          const turn = yield* Support.takeTurn(mode, {
            model,
            toolkit: tools.toolkit,
            history: Support.written([
              Support.callPart("c1", "DeleteFile", { path: "a" }),
              Support.requestPart("x", "c1")
            ]),
            prompt: Support.answers(Approval.deny({ approvalId: "x" }, "keep it")),
            approval: { onInvalid }
          })
          assert.deepStrictEqual(turn.results.map((part) => part.encodedResult), [
            { type: "execution-denied", reason: "keep it" }
          ])
          assert.strictEqual(turn.text, "done")
        })
    )
  }

  Support.forEachMode(
    "L11 a request that is held says why, and that nothing is lost",
    (mode) =>
      Effect.gen(function*() {
        const { options, request } = yield* begin(mode)
        const turn = yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
          .pipe(
            withPolicy(() => Effect.fail("offline"))
          )
        assert.match(turn.requests[0]!.reason ?? "", /policy failed.*did not run yet.*Nothing is lost.*try again/)
      })
  )

  Support.forEachMode(
    "L4 a request that was answered with edited parameters says why it is still open",
    (mode) =>
      Effect.gen(function*() {
        const { options, request } = yield* begin(mode)
        const prompt = Support.answers(Approval.approve(request, { params: { path: "b" } }))
        const asked: Array<string> = []
        const turn = yield* Support.takeTurn(mode, { ...options, prompt }).pipe(
          Effect.provideService(
            ApprovalController.ApprovalController,
            ApprovalController.interactive(({ approvalId }) => asked.push(approvalId) > 0)
          )
        )
        assert.match(turn.requests[0]!.reason ?? "", /only from a trusted channel.*did not run.*as it was proposed/)
        assert.deepStrictEqual(asked, [], "whoever answered is answered, and nobody else is asked")
      })
  )

  const deploys = {
    "was removed": { parameters: undefined, says: /"DeleteFile" is no longer available: it was removed or renamed/ },
    "takes others": { parameters: { file: Schema.String }, says: /no longer fit the schema of "DeleteFile"/ },
    "reads them differently": {
      // The same JSON Schema, and another value behind it.
      parameters: {
        path: Schema.String.pipe(Schema.decodeTo(Schema.String, SchemaTransformation.toUpperCase()))
      },
      says: /The parameters of "DeleteFile" are not what they were when the person was asked/
    }
  }
  for (const [how, { parameters, says }] of Object.entries(deploys)) {
    Support.forEachMode(
      `L10 a tool that ${how} since: a failed result that says just this`,
      (mode) =>
        Effect.gen(function*() {
          const { options, request } = yield* begin(mode)
          const tool = parameters === undefined
            ? Support.ReadFile
            : Tool.make("DeleteFile", { parameters, success: Schema.String, needsApproval: true })
          const tools = yield* Support.makeTools([tool as typeof Support.ReadFile])
          const turn = yield* Support.takeTurn(mode, {
            ...options,
            toolkit: tools.toolkit,
            prompt: Support.answers(Approval.approve(request))
          })
          assert.match(Support.failureReason(turn.results[0]), says)
          assert.deepStrictEqual([tools.runs, turn.text], [[], "done"])
        })
    )
  }

  Support.forEachMode(
    "L4 an approved call whose parameters are no JSON: a failed result that says so",
    (mode) =>
      Effect.gen(function*() {
        const { asked, options, request, tools } = yield* begin(mode)
        const turn = yield* Support.takeTurn(mode, {
          ...options,
          history: Support.rewrite(
            asked.history,
            (part) => part.type === "tool-call" ? { ...part, params: { path: "\ud800" } } : part
          ),
          prompt: Support.answers(Approval.approve(request))
        })
        assert.match(Support.failureReason(turn.results[0]), /parameters of "DeleteFile" cannot be used.*surrogate/)
        assert.deepStrictEqual(tools.runs, [])
      })
  )
})

describe("what was not made by our constructors", () => {
  for (const [what, options] of [["no options", undefined], ["null for a mark", { assent: null }]] as const) {
    Support.forEachMode(`L7 an answer written by hand with ${what} is an answer`, (mode) =>
      Effect.gen(function*() {
        const { options: turn, request, tools } = yield* begin(mode)
        const part = { type: "tool-approval-response", approvalId: request.approvalId, approved: true, options }
        yield* Support.takeTurn(mode, {
          ...turn,
          history: Prompt.concat(
            turn.history,
            Prompt.fromMessages([{ ...Prompt.toolMessage({ content: [] }), content: [part as never] }])
          )
        })
        assert.strictEqual(tools.runs.length, 1)
      }), ["generateText", "streamText"])
  }
})

describe("L2 L10 a run that ended unknown", () => {
  const Save = Tool.make("Save", {
    parameters: { path: Schema.String },
    success: Schema.String,
    needsApproval: true
  }).annotate(Tool.Idempotent, true)
  const Changed = Tool.make("Save", {
    parameters: { path: Schema.String, mode: Schema.optionalKey(Schema.String) },
    success: Schema.String,
    needsApproval: true
  }).annotate(Tool.Idempotent, true)

  for (const [what, tool, runs] of [["changed", Changed, 0], ["is the same", Save, 1]] as const) {
    Support.forEachMode(
      `L2 L10 is repeated only for the tool that was approved: it ${what}`,
      (mode) =>
        Effect.gen(function*() {
          const hold = yield* Support.makeHold
          const first = yield* Support.makeTools([Save as never], {
            Save: () => hold.wait.pipe(Effect.andThen(Effect.interrupt))
          })
          const asked = yield* Support.ask(mode, {
            toolkit: first.toolkit,
            calls: [Support.call("c1", "Save", { path: "a" })]
          })
          const { model } = yield* Support.answering
          const prompt = Support.answers(Approval.approve(asked.requests[0]!))
          yield* hold.release
          const options = { model, history: asked.history, prompt }
          yield* Effect.exit(Support.takeTurn(mode, { ...options, toolkit: first.toolkit }))
          assert.strictEqual(first.runs.length, 1)
          const second = yield* Support.makeTools([tool as never])
          const turn = yield* Support.takeTurn(mode, { ...options, toolkit: second.toolkit })
          assert.deepStrictEqual([second.runs.length, turn.results[0]?.isFailure], [runs, runs === 0])
        })
    )
  }
})
