/**
 * L4: an approval id is short, safe in a URL, checked before it is parsed, and good for nothing else than it was sealed
 * for. `__proto__` and its friends are ordinary keys.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, LanguageModel, Prompt, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

const askOne = (mode: Support.Mode, tools: Support.Tools) =>
  Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "DeleteFile", { path: "a" })] })

/** A history whose only request has this id, approved. */
const approvedUnder = (approvalId: string) =>
  Support.written([Support.callPart("c1", "DeleteFile", { path: "a" }), Support.requestPart(approvalId, "c1")], [
    Support.answerPart(approvalId, true)
  ])

const renamed = (history: Prompt.Prompt, approvalId: string) =>
  Support.rewrite(history, (part) => part.type === "tool-approval-request" ? { ...part, approvalId } : part)

const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "then"]

describe("L4 an approval id", () => {
  Support.forEachMode(
    "L4 an id has at most 512 bytes and is safe in a URL, however long everything else is",
    function*(mode) {
      const name = "t".repeat(128)
      const tools = yield* Support.makeTools([Tool.dynamic(name, { parameters: {}, needsApproval: true })])
      const long = { tenant: "t".repeat(3000), principal: "ä".repeat(3000), conversation: "\"]},".repeat(1000) }
      for (const scope of [{}, long]) {
        const asked = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c".repeat(256), name, { text: "x".repeat(100_000) })]
        }).pipe(Effect.provideService(Approval.Scope, scope))
        const { approvalId } = asked.requests[0]!
        assert.isAtMost(new TextEncoder().encode(approvalId).length, 512)
        assert.match(approvalId, /^[A-Za-z0-9._~-]+$/)
        assert.strictEqual(encodeURIComponent(approvalId), approvalId)
      }
    }
  )

  Support.forEachMode("L4 two ids are never the same, for one and the same call", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* Effect.forEach([1, 2, 3, 4], () => askOne(mode, tools))
    assert.strictEqual(new Set(asked.map((turn) => turn.requests[0]!.approvalId)).size, 4)
  })

  for (const mode of ["generateText", "Chat.streamText"] as const) {
    Support.single(`L4 an id with any one character changed, cut or added runs nothing [${mode}]`, function*() {
      const tools = yield* Support.makeTools()
      const asked = yield* askOne(mode, tools)
      const { model } = yield* Support.answering
      const id = asked.requests[0]!.approvalId
      const changed = Array.from(
        id,
        (character, index) =>
          id.slice(0, index) + (character === "A" ? "B" : character === "." ? "-" : "A") + id.slice(index + 1)
      )
      const flipped = Array.from(id, (character, index) => {
        const other = character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase()
        return id.slice(0, index) + other + id.slice(index + 1)
      })
      const others = [
        id.slice(1),
        id.slice(0, -1),
        `${id}A`,
        `${id}=`,
        `${id}.`,
        ` ${id}`,
        `${id}\n`,
        `${id}\0`,
        encodeURIComponent(`${id} `),
        `${id},${id}`
      ]
      for (const bad of [...changed, ...flipped, ...others]) {
        if (bad === id) continue
        const turn = yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: renamed(asked.history, bad),
          prompt: Support.answers(Approval.approve({ approvalId: bad }))
        })
        assert.deepStrictEqual([tools.runs.length, turn.requests.length], [0, 0], bad)
        Support.failureReason(turn.results[0])
      }
      // What could be taken apart and put together anew: the pieces of another good id.
      const other = (yield* askOne(mode, tools)).requests[0]!.approvalId.split(".")
      const pieces = id.split(".")
      for (const [index, piece] of other.entries()) {
        const mixed = pieces.with(index, piece).join(".")
        if (mixed === id) continue
        yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: renamed(asked.history, mixed),
          prompt: Support.answers(Approval.approve({ approvalId: mixed }))
        })
        assert.strictEqual(tools.runs.length, 0, mixed)
      }
    })
  }

  const strange: Record<string, string> = {
    "nothing": "",
    "a word": "yes",
    "10 kB": "A".repeat(10_000),
    "10 kB of our form": `apr1.${"A".repeat(10_000)}`,
    "513 bytes": "A".repeat(513),
    "half a surrogate pair": "\ud800",
    "half a pair in our form": "apr1.\udc00.a.b.c.d.e",
    "a line feed": "a\nb",
    "a nul": "a\0b",
    "bidirectional": "a\u202Eb",
    ...Object.fromEntries(names.map((name) => [`"${name}"`, name]))
  }
  for (const [what, id] of Object.entries(strange)) {
    Support.forEachMode(
      `L4 an id that is ${what} is malformed: failed result with a short reason, nothing runs`,
      function*(mode) {
        const tools = yield* Support.makeTools()
        const script = yield* Support.answering
        const turn = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history: approvedUnder(id)
        })
        assert.deepStrictEqual([tools.runs, turn.requests, turn.text], [[], [], "done"])
        const reason = Support.failureReason(turn.results[0])
        assert.isBelow(reason.length, 1000)
        assert.isTrue(Buffer.from(reason).toString() === reason, "half a surrogate pair in a reason")
        // Unanswered it is not shown again, and an answer alone does nothing.
        const poll = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history: Support.rewrite(
            approvedUnder(id),
            (part) => part.type === "tool-approval-response" ? undefined : part
          )
        })
        assert.deepStrictEqual([tools.runs, poll.requests, poll.text], [[], [], "done"])
        const alone = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history: "Hello.",
          prompt: Prompt.fromMessages([Prompt.toolMessage({ content: [Support.answerPart(id, true)] })])
        })
        assert.deepStrictEqual([tools.runs, alone.results, alone.text], [[], [], "done"])
      }
    )
  }

  it("L4 the public list of a history's approvals takes any id", () => {
    for (const id of Object.values(strange)) {
      const { approved, denied, pending } = LanguageModel.collectToolApprovals(approvedUnder(id).content)
      assert.deepStrictEqual([approved.length, denied.length, pending.length], [1, 0, 0])
      assert.strictEqual(approved[0]!.toolCall?.id, "c1")
    }
    const pollution: object = {}
    assert.isFalse("approvalId" in pollution || "c1" in pollution)
  })
})

describe("L4 __proto__ and friends are ordinary keys", () => {
  Support.forEachMode("L4 as ids of calls: each is asked, and gets its own answer and result", function*(mode) {
    const { asked, tools } = yield* Support.asking(
      mode,
      names.map((id) => Support.call(id, "DeleteFile", { path: id }))
    )
    assert.deepStrictEqual(asked.requests.map((request) => request.toolCallId), names)
    const script = yield* Support.answering
    const turn = yield* Support.takeTurn(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history: Support.throughJson(asked.history),
      prompt: Support.answers(
        ...asked.requests.map((request, index) =>
          index % 2 === 0 ? Approval.approve(request) : Approval.deny(request, `not ${request.toolCallId}`)
        )
      )
    })
    assert.strictEqual(turn.text, "done")
    const even = names.filter((_, index) => index % 2 === 0)
    assert.deepStrictEqual(
      tools.runs.map((run) => (run.params as { path: string }).path).toSorted(),
      even.toSorted()
    )
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map((result) => result.id), names)
    for (const result of sent) {
      if (result.isFailure) assert.include(Support.failureReason(result), `not ${result.id}`)
      else assert.include(even, result.id)
    }
  })

  Support.forEachMode("L4 as names of tools: each is asked, and runs once", function*(mode) {
    const { asked, tools } = yield* Support.asking(
      mode,
      names.map((name, index) => Support.call(`c${index}`, name, {})),
      names.map((name) => Tool.dynamic(name, { needsApproval: true }))
    )
    assert.deepStrictEqual(asked.requests.map((request) => request.toolName), names)
    const { model } = yield* Support.answering
    const turn = yield* Support.takeTurn(mode, {
      model,
      toolkit: tools.toolkit,
      history: Support.throughJson(asked.history),
      prompt: Support.answers(...asked.requests.map((request) => Approval.approve(request)))
    })
    assert.strictEqual(turn.text, "done")
    assert.deepStrictEqual(tools.runs.map((run) => run.name).toSorted(), names.toSorted())
  })

  Support.forEachMode(
    "L4 as names of tools that are not there: a failed result, from the model as in a history",
    function*(mode) {
      const tools = yield* Support.makeTools()
      for (const name of names) {
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", name, {})] })
        assert.deepStrictEqual(asked.requests, [])
        assert.include(Support.failureReason(asked.results[0]), `"${name}" is not in the toolkit`)
        const script = yield* Support.answering
        const turn = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history: Support.written([Support.callPart("c1", name, {}), Support.requestPart("a1", "c1")], [
            Support.answerPart("a1", true)
          ])
        })
        assert.deepStrictEqual([turn.results.length, turn.text], [1, "done"])
        Support.failureReason(turn.results[0])
      }
      assert.deepStrictEqual(tools.runs, [])
    }
  )

  Support.forEachMode("L4 as keys of parameters: shown, sealed and run as they are", function*(mode) {
    const text = `{"__proto__":{"polluted":"yes"},"constructor":1,"toString":{"__proto__":[2]},"path":"a"}`
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Write", JSON.parse(text))], [
      Tool.dynamic("Write", { parameters: { type: "object" }, needsApproval: true })
    ])
    const request = asked.requests[0]!
    assert.deepStrictEqual(sorted(request.params), sorted(JSON.parse(text)))
    const { model } = yield* Support.answering
    const turn = (params: unknown) =>
      Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: Support.rewrite(
          Support.throughJson(asked.history),
          (part) => part.type === "tool-call" ? { ...part, params } : part
        ),
        prompt: Support.answers(Approval.approve(request))
      })
    const edits = [
      text.replace("yes", "no"),
      text.replace(`"__proto__":{"polluted":"yes"},`, ""),
      text.replace("[2]", "[3]"),
      text.replace(`"constructor":1,`, "")
    ]
    for (const edited of edits) {
      Support.failureReason((yield* turn(JSON.parse(edited))).results[0])
      assert.deepStrictEqual(tools.runs, [], edited)
    }
    yield* turn(JSON.parse(text))
    assert.deepStrictEqual(tools.runs.map((run) => sorted(run.params)), [sorted(JSON.parse(text))])
    const pollution: object = {}
    assert.isFalse("polluted" in pollution)
  })
})

/** A value as JSON with its own keys sorted, `__proto__` among them. */
const sorted = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(sorted).join()}]`
    : typeof value === "object" && value !== null
    ? `{${Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1).map(([key, item]) => `${key}:${sorted(item)}`)}}`
    : JSON.stringify(value)
