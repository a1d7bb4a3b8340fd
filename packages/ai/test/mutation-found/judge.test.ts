/**
 * What a policy and a controller say, in the corners that mutants of `internal/judge.ts` showed nobody looked into.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  type LanguageModel,
  Tool
} from "../../src/index.ts"
import * as Support from "../laws/support.ts"
import { logged } from "./logs.ts"

const secret = "s3cr3t-of-the-policy"

const calls = [Support.call("c1", "DeleteFile", { path: "a" })]

const begin = (mode: Support.Mode, approval?: LanguageModel.ApprovalOptions) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools()
    const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls, approval })
    const script = yield* Support.answering
    const options = { model: script.model, toolkit: tools.toolkit, history: asked.history, approval }
    return { asked, options, request: asked.requests[0]!, script, tools }
  })

const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

const withController = (callback: Parameters<typeof ApprovalController.interactive>[0]) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(callback))

/** The first call of a policy, and every later one. */
const inTurn = (...results: ReadonlyArray<() => ReturnType<Parameters<typeof ApprovalPolicy.make>[0]>>) => {
  let index = 0
  return () => results[Math.min(index++, results.length - 1)]!()
}

const presentation = (fields: Partial<ConstructorParameters<typeof Approval.ApprovalPresentation>[0]>) =>
  Approval.needsApproval({
    presentation: new Approval.ApprovalPresentation({ type: "text", content: "shown", metadata: {}, ...fields })
  })

describe("a policy", () => {
  Support.forEachMode(
    "L1 that fails leaves an open request open, with a fixed sentence for a reason",
    (mode) =>
      Effect.gen(function*() {
        const { options, request, script, tools } = yield* begin(mode)
        const poll = yield* Support.takeTurn(mode, options).pipe(withPolicy(() => Effect.fail(secret)))
        assert.deepStrictEqual(poll.requests.map(({ approvalId }) => approvalId), [request.approvalId])
        assert.match(
          poll.requests[0]!.reason ?? "",
          /policy for this tool failed, so a person is asked.*approval does not/
        )
        assert.deepStrictEqual([tools.runs, yield* script.calls], [[], 0])
      })
  )

  Support.forEachMode(
    "L1 L15 that fails is told of once for each tool, without its cause",
    (mode) =>
      Effect.gen(function*() {
        const gated = (name: string) =>
          Tool.make(name, {
            parameters: { path: Schema.String },
            success: Schema.String,
            needsApproval: () => Effect.fail(secret)
          })
        const tools = yield* Support.makeTools([gated("One"), gated("Two")] as never)
        const [, lines] = yield* logged(Effect.gen(function*() {
          for (const names of [["One", "One"], ["Two"], ["One", "Two"]]) {
            const asked = yield* Support.ask(mode, {
              toolkit: tools.toolkit,
              calls: names.map((name, index) => Support.call(`c${index}`, name, { path: "a" }))
            })
            assert.strictEqual(asked.requests.length, names.length)
          }
        }))
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Warn", "Warn"])
        lines.forEach(({ text }, index) => {
          assert.include(text, `"${["One", "Two"][index]}" failed or did not answer, so a person is asked`)
          assert.include(text, "Approvals have no effect until it works")
          assert.notInclude(text, secret)
        })
      }),
    ["generateText", "streamText"]
  )

  Support.forEachMode(
    "L11 that fails when somebody has approved inline neither runs nor uses up the approval",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
          withController(() => true),
          withPolicy(inTurn(() => true, () => Effect.fail(secret)))
        )
        assert.deepStrictEqual([asked.requests.length, asked.results, tools.runs], [1, [], []])
        const { model } = yield* Support.answering
        yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: asked.history,
          prompt: Support.answers(Approval.approve(asked.requests[0]!))
        })
        assert.strictEqual(tools.runs.length, 1)
      })
  )

  Support.forEachMode(
    "L5 that would let the call run by now gives no reason for asking",
    (mode) =>
      Effect.gen(function*() {
        const { options, request } = yield* begin(mode)
        const poll = yield* Support.takeTurn(mode, options).pipe(
          withPolicy(() => new Approval.PreApproved({ reason: "a trusted folder" }))
        )
        assert.deepStrictEqual(poll.requests.map((open) => [open.approvalId, open.reason]), [
          [request.approvalId, undefined]
        ])
      })
  )
})

describe("what a person is shown", () => {
  Support.forEachMode(
    "L15 a presentation's language and precondition are escaped and bounded",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const long = `\u202e${"x".repeat(5_000)}`
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
          withPolicy(() => presentation({ language: long, precondition: long }))
        )
        const { language, precondition } = asked.requests[0]!.presentation!
        assert.match(language!, /^\\u202ex{58}… \(4942 more characters\)$/)
        assert.match(precondition!, /^\\u202ex{994}… \(4006 more characters\)$/)
      })
  )

  Support.forEachMode(
    "L4 L15 metadata that are no JSON are left out, and the person is told",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
          withPolicy(() => presentation({ metadata: { text: "x".repeat(2_000_000) } }))
        )
        assert.deepStrictEqual(asked.requests[0]!.presentation!.metadata, {
          omitted: "the metadata cannot be written as JSON, or is too large"
        })
      }),
    ["generateText", "streamText"]
  )

  Support.forEachMode(
    "L4 a request shown again shows what was sealed, and nothing else",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
          withPolicy(() => presentation({ content: "what was sealed" }))
        )
        const { model } = yield* Support.answering
        for (const content of ["what was sealed", "something else"]) {
          const poll = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history: asked.history }).pipe(
            withPolicy(() => presentation({ content }))
          )
          assert.strictEqual(
            poll.requests[0]!.presentation?.content,
            content === "what was sealed" ? content : undefined
          )
        }
      })
  )
})

describe("time", () => {
  Support.forEachMode("L14 a request is over at the very millisecond it says", (mode) =>
    Effect.gen(function*() {
      const { options, request, tools } = yield* begin(mode, { expiresIn: "1 hour" })
      yield* TestClock.setTime(request.expiresAt!)
      const turn = yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
      assert.match(Support.failureReason(turn.results[0]), /expired/i)
      assert.deepStrictEqual(tools.runs, [])
    }))

  Support.forEachMode(
    "L11 an answer inline that took longer than the request lives runs nothing",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls, approval: { expiresIn: "1 hour" } })
          .pipe(
            withController(() => Effect.as(Effect.sleep("2 hours"), true)),
            Effect.forkChild
          )
        assert.isTrue(yield* Support.advance(turn, "30 minutes"))
        const ended = yield* Fiber.join(turn)
        assert.match(Support.failureReason(ended.results[0]), /expired/i)
        assert.deepStrictEqual([tools.runs, ended.requests], [[], []])
      })
  )
})

describe("a controller", () => {
  const silent = /approval controller failed, or gave no decision, for "DeleteFile"; the request stays open/
  const stories: Record<string, readonly [callback: (() => any) | undefined, warnings: number]> = {
    "that nobody named is not missed": [undefined, 0],
    "that approves is not complained of": [() => true, 0],
    "that denies is not complained of": [() => false, 0],
    "that fails is complained of, without its cause": [() => Effect.fail(new Error(secret)), 1],
    "that says nothing is complained of": [() => undefined, 1]
  }
  for (const [title, [callback, warnings]] of Object.entries(stories)) {
    Support.forEachMode(`L1 L15 a controller ${title}`, (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asking = Support.ask(mode, { toolkit: tools.toolkit, calls })
        const [, lines] = yield* logged(callback === undefined ? asking : withController(callback)(asking))
        assert.strictEqual(lines.length, warnings)
        for (const { text } of lines) {
          assert.match(text, silent)
          assert.notInclude(text, secret)
        }
      }), ["generateText", "streamText"])
  }

  Support.forEachMode(
    "L4 parameters edited inline that do not fit: the request is open, and says why",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
          withController((request) => Approval.approve(request, { params: { path: 7 } })),
          withPolicy(() => Approval.needsApproval({ description: "about a" }))
        )
        assert.deepStrictEqual(asked.requests.map(({ description, reason }) => [description, reason]), [[
          "about a",
          "The edited parameters cannot be used: they do not fit the tool's schema. The request stays open."
        ]])
        assert.deepStrictEqual(tools.runs, [])
      })
  )

  for (const [when, isHeld] of [["ran", false], ["began to run", true]] as const) {
    Support.forEachMode(
      `L2 L3 a denial inline that comes after the call ${when} elsewhere gives what it did`,
      (mode) =>
        Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const hold = yield* Support.makeHold
          const encodedResult = { deleted: true }
          const effect = Effect.as(isHeld ? hold.wait : Effect.void, {
            recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult }),
            result: encodedResult,
            encodedResult
          })
          const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
            withController((request) =>
              Effect.gen(function*() {
                const journal = yield* ApprovalJournal.ApprovalJournal
                const sealed = Result.getOrThrow((yield* ApprovalSeal.ApprovalSeal).parse(request.approvalId))
                const claim = { ...sealed, toolName: request.toolName, toolCallId: request.toolCallId }
                const elsewhere = yield* Effect.forkDetach(journal.run(claim, { effect, idempotent: false }))
                yield* isHeld ? hold.entered : Fiber.join(elsewhere)
                return false
              })
            ),
            Effect.forkChild
          )
          if (isHeld) {
            yield* hold.entered
            yield* Support.idle
            assert.isUndefined(turn.pollUnsafe())
            yield* hold.release
          }
          const ended = yield* Fiber.join(turn)
          assert.deepStrictEqual(ended.results.map((part) => [part.isFailure, part.encodedResult]), [
            [false, encodedResult]
          ])
          assert.deepStrictEqual([tools.runs, ended.requests], [[], []])
        })
    )
  }
})
