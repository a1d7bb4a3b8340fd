/**
 * L1 Fail closed: parameters that do not decode are never shown to a person; the call gets a failed result.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Option, Schema, SchemaGetter, SchemaIssue } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, Tool } from "../../src/index.ts"
import { ScriptedApprover } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

class Names extends Context.Service<Names, { readonly known: Effect.Effect<boolean> }>()("test/L1/Names") {}

/** A text whose decoding runs an effect, as one that looks up a record. */
const looksUp = (lookup: (text: string) => Effect.Effect<string, string, never>) =>
  Schema.String.pipe(Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transformEffect((text: string) =>
      Effect.mapError(lookup(text), (message) => new SchemaIssue.InvalidValue({ message }))
    ),
    encode: SchemaGetter.passthrough()
  }))

const failsOnce = () => {
  let first = true
  return looksUp((text) => {
    if (!first) return Effect.succeed(text)
    first = false
    return Effect.fail("not found just now")
  })
}

const gates: Record<string, unknown> = {
  "a gate that asks": true,
  "a gate that asks by function": () => true,
  "a gate that lets it run": () => false,
  "a gate that is PreApproved": () => Approval.preApproved()
}

const strange: Record<string, unknown> = {
  "of a wrong type": { path: 12 },
  "without a field": {},
  "that are null": null,
  "that are a string": "path",
  "that are a list": ["a"],
  "with a getter's idea of a text": { path: { toString: "a" } }
}

const makeGated = (needsApproval: unknown, path: Schema.Codec<string, string> = Schema.String) =>
  Tool.make("Gated", { parameters: { path }, success: Schema.String, needsApproval: needsApproval as boolean })

describe("L1 fail closed: parameters", () => {
  for (const [what, params] of Object.entries(strange)) {
    Support.forEachMode(`L1 B24 parameters ${what} are never shown: failed result, no request`, function*(mode) {
      for (const [gate, needsApproval] of Object.entries(gates)) {
        const approver = ScriptedApprover.make(() => "approve")
        const tools = yield* Support.makeTools([makeGated(needsApproval)])
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "Gated", params)]
        })
        assert.deepStrictEqual([turn.requests, tools.runs], [[], []], gate)
        assert.deepStrictEqual(turn.results.map((result) => result.id), ["c1"], gate)
        Support.failureReason(turn.results[0])
        // Nor is the person asked who sits there.
        const inline = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "Gated", params)]
        }).pipe(Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(approver.callback)
        ))
        assert.deepStrictEqual([yield* approver.seen, inline.results.length, tools.runs], [[], 1, []], gate)
      }
    })
  }

  Support.forEachMode("L1 B24 after undecodable parameters the conversation goes on", function*(mode) {
    const tools = yield* Support.makeTools()
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: 12 }), Support.call("c2", "DeleteFile", { path: "b" })]
    })
    assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c2"])
    const script = yield* Support.answering
    const next = yield* Support.approve(mode, { asked: turn, model: script.model, tools })
    assert.strictEqual(next.text, "done")
    assert.deepStrictEqual(tools.runs, [{ name: "DeleteFile", params: { path: "b" } }])
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map((result) => [result.id, result.isFailure]), [["c1", true], ["c2", false]])
  })

  Support.forEachMode(
    "L1 undecodable parameters of a call that a policy asks about are not shown either",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Effect.option(
        Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "ReadFile", { path: 12 })] }).pipe(
          Effect.provideService(
            ApprovalPolicy.ApprovalPolicy,
            ApprovalPolicy.make(() => Approval.needsApproval())
          )
        )
      )
      assert.deepStrictEqual(tools.runs, [])
      assert.deepStrictEqual(Option.map(turn, ({ requests }) => requests), Option.some([]))
      Support.failureReason(Option.getOrThrow(turn).results[0])
    }
  )

  for (const [gate, needsApproval] of Object.entries(gates)) {
    Support.forEachMode(`L1 B1 an effectful decode that fails once does not pass by ${gate}`, function*(mode) {
      const seen: Array<unknown> = []
      const spied = typeof needsApproval !== "function" ? needsApproval : (params: unknown) => {
        seen.push(params)
        return needsApproval()
      }
      const tools = yield* Support.makeTools([makeGated(spied, failsOnce())])
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "Gated", { path: "a" })]
      })
      // Whether the engine tries again is its business; what runs has been through the gate.
      assert.strictEqual(turn.requests.length + turn.results.length, 1)
      if (gate.includes("asks")) assert.deepStrictEqual(tools.runs, [])
      if (tools.runs.length > 0) assert.deepStrictEqual(seen, [{ path: "a" }])
      else if (turn.results.length > 0) Support.failureReason(turn.results[0])
    })

    Support.forEachMode(
      `L1 a decode that dies, throws or lacks a service never runs the tool, with ${gate}`,
      function*(mode) {
        const secret = "s3cr3t-of-the-decode"
        const broken = [
          looksUp(() => Effect.die(new Error(secret))),
          looksUp(() => {
            throw new Error(secret)
          }),
          looksUp(() => Names.use((names) => Effect.as(names.known, "a")) as Effect.Effect<string>)
        ]
        for (const path of broken) {
          const tools = yield* Support.makeTools([makeGated(needsApproval, path)])
          const turn = yield* Support.ask(mode, {
            toolkit: tools.toolkit,
            calls: [Support.call("c1", "Gated", { path: "a" })]
          })
          assert.deepStrictEqual([turn.requests, tools.runs], [[], []])
          Support.failureReason(turn.results[0])
          assert.isFalse(JSON.stringify([turn.parts, turn.history]).includes(secret))
        }
      }
    )
  }

  Support.forEachMode("L1 an effectful decode that works is asked about, and runs once", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Gated", { path: "a" })], [
      makeGated(true, looksUp((text) => Effect.succeed(text)))
    ])
    const { model } = yield* Support.answering
    yield* Support.approve(mode, { asked, model, tools })
    assert.deepStrictEqual(tools.runs, [{ name: "Gated", params: { path: "a" } }])
  })
})
