/**
 * L4: what is shown, sealed and run is one and the same: the encoded form of the decoded parameters, not what a model or
 * a history wrote.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema, SchemaTransformation } from "effect"
import { Approval, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

const Remove = Tool.make("Remove", {
  parameters: {
    path: Schema.Trim,
    force: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
    depth: Schema.optionalKey(Schema.FiniteFromString)
  },
  success: Schema.String,
  needsApproval: true
})

const begin = (mode: Support.Mode, params: unknown) =>
  Effect.gen(function*() {
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Remove", params)], [Remove])
    const { model } = yield* Support.answering
    const request = asked.requests[0]!
    const approveWith = (params: unknown) =>
      Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: Support.rewrite(asked.history, (part) => part.type === "tool-call" ? { ...part, params } : part),
        prompt: Support.answers(Approval.approve(request))
      })
    return { approveWith, request, tools }
  })

describe("L4 shown, sealed and run are one", () => {
  Support.forEachMode("L4 defaults and transformations are shown as they will run", function*(mode) {
    const { approveWith, request, tools } = yield* begin(mode, { path: "  notes.txt ", depth: "07", junk: 1 })
    assert.deepStrictEqual(request.params, { path: "notes.txt", force: false, depth: "7" })
    yield* approveWith({ path: "  notes.txt ", depth: "07", junk: 1 })
    assert.deepStrictEqual(tools.runs, [{ name: "Remove", params: { path: "notes.txt", force: false, depth: 7 } }])
  })

  const same: Record<string, unknown> = {
    "as shown": { path: "notes.txt", force: false, depth: "7" },
    "in another order": { depth: "7", force: false, path: "notes.txt" },
    "with other spaces": { path: "\tnotes.txt\n", depth: "7.0" }
  }
  for (const [what, params] of Object.entries(same)) {
    Support.forEachMode(`L4 parameters written ${what} are the same call, and run as shown`, function*(mode) {
      const { approveWith, tools } = yield* begin(mode, { path: "notes.txt", depth: "7" })
      yield* approveWith(params)
      assert.deepStrictEqual(tools.runs, [{
        name: "Remove",
        params: { path: "notes.txt", force: false, depth: 7 }
      }])
    })
  }

  const other: Record<string, unknown> = {
    "with the default overridden": { path: "notes.txt", depth: "7", force: true },
    "with an optional key less": { path: "notes.txt" },
    "with spaces inside": { path: "notes .txt", depth: "7" },
    "in another case": { path: "Notes.txt", depth: "7" },
    "in another form of the same letters": { path: "note\u0301s.txt", depth: "7" },
    "with another number": { path: "notes.txt", depth: "70" }
  }
  for (const [what, params] of Object.entries(other)) {
    Support.forEachMode(`L4 parameters written ${what} are another call, which does not run`, function*(mode) {
      const { approveWith, tools } = yield* begin(mode, { path: "notes.txt", depth: "7" })
      const turn = yield* approveWith(params)
      assert.deepStrictEqual([tools.runs, turn.requests], [[], []])
      Support.failureReason(turn.results[0])
    })
  }

  Support.forEachMode(
    "L4 a schema that decodes differently each time runs what was shown, or nothing",
    function*(mode) {
      let count = 0
      const Counting = Tool.make("Counting", {
        parameters: {
          path: Schema.String,
          nonce: Schema.String.pipe(
            Schema.withDecodingDefaultKey(Effect.sync(() => `n${++count}`))
          )
        },
        success: Schema.String,
        needsApproval: true
      })
      const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Counting", { path: "a" })], [Counting])
      const { model } = yield* Support.answering
      yield* Support.approve(mode, { asked, model, tools })
      for (const run of tools.runs) assert.deepStrictEqual(run.params, asked.requests[0]!.params)
    }
  )

  Support.forEachMode(
    "L4 a schema whose encoding loses something runs what was shown, decoded, or nothing",
    function*(mode) {
      // Such a schema has no one form; what runs is still what is shown, decoded once.
      const Growing = Schema.String.pipe(Schema.decodeTo(
        Schema.String,
        SchemaTransformation.transform({ decode: (text) => `${text}!`, encode: (text) => text })
      ))
      const tool = Tool.make("Growing", {
        parameters: { path: Growing },
        success: Schema.String,
        needsApproval: true
      })
      const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Growing", { path: "a" })], [tool])
      if (asked.requests.length === 0) return Support.failureReason(asked.results[0])
      const { model } = yield* Support.answering
      yield* Support.approve(mode, { asked, model, tools })
      for (const run of tools.runs) {
        assert.deepStrictEqual(run.params, Schema.decodeUnknownSync(tool.parametersSchema)(asked.requests[0]!.params))
      }
    }
  )
})

describe("L4 one way to write an id", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

  Support.forEachMode(
    "L4 a tag or nonce written with other unused bits is another id, and runs nothing",
    function*(mode) {
      const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "DeleteFile", { path: "a" })])
      const { model } = yield* Support.answering
      const pieces = asked.requests[0]!.approvalId.split(".")
      for (const [index, piece] of pieces.entries()) {
        for (let step = 1; step < 64; step++) {
          const last = alphabet.indexOf(piece.at(-1)!)
          if (last < 0) continue
          const written = piece.slice(0, -1) + alphabet[(last + step) % 64]
          const approvalId = pieces.with(index, written).join(".")
          const turn = yield* Support.takeTurn(mode, {
            model,
            toolkit: tools.toolkit,
            history: Support.rewrite(
              asked.history,
              (part) => part.type === "tool-approval-request" ? { ...part, approvalId } : part
            ),
            prompt: Support.answers(Approval.approve({ approvalId }))
          })
          assert.deepStrictEqual([tools.runs.length, turn.requests.length], [0, 0], `${piece} as ${written}`)
        }
      }
    },
    ["generateText"]
  )
})
