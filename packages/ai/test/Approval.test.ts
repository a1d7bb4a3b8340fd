/**
 * The vocabulary: answers, results of a policy, the steps of a request, and text for people.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval } from "../src/index.ts"

const request = { approvalId: "id-1" }

describe("answers", () => {
  it("§3 say which request they answer, and only what was said", () => {
    const note = "go ahead"
    const answers: ReadonlyArray<readonly [Approval.ApprovalAnswer, unknown]> = [
      [Approval.approve(request), { _tag: "Approved" }],
      [Approval.approve(request, { note, params: undefined }), { _tag: "Approved", note }],
      [
        Approval.approve(request, { note, params: { path: "b" }, remember: true }),
        { _tag: "Approved", note, params: { path: "b" }, remember: true }
      ],
      [Approval.deny(request), { _tag: "Denied" }],
      [Approval.deny(request, "keep it"), { _tag: "Denied", note: "keep it" }],
      [Approval.answer(request, { color: "red" }), { _tag: "Approved", answer: { color: "red" } }]
    ]
    for (const [answer, decision] of answers) {
      assert.deepStrictEqual(JSON.parse(JSON.stringify(answer)), { approvalId: "id-1", decision })
      assert.notInclude(Object.values(answer.decision), undefined)
    }
  })
})

describe("results of a policy", () => {
  it("§3 say only what was said", () => {
    const presentation = new Approval.ApprovalPresentation({ type: "command", content: "rm a" })
    const results: ReadonlyArray<readonly [Approval.ApprovalResult, Record<string, unknown>]> = [
      [Approval.preApproved(), { _tag: "PreApproved" }],
      [Approval.preApproved("trusted"), { _tag: "PreApproved", reason: "trusted" }],
      [Approval.needsApproval(), { _tag: "NeedsApproval" }],
      [
        Approval.needsApproval({ reason: "why", description: "what", presentation, expiresIn: 1, approvers: ["ann"] }),
        { _tag: "NeedsApproval", reason: "why", description: "what", presentation, expiresIn: 1, approvers: ["ann"] }
      ],
      [Approval.blocked("no"), { _tag: "Blocked", reason: "no" }]
    ]
    for (const [result, fields] of results) {
      assert.deepStrictEqual({ ...result }, fields as never)
      assert.isTrue(Approval.isApprovalResult(result))
    }
    for (const other of [undefined, true, {}, { _tag: "Blocked" }]) assert.isFalse(Approval.isApprovalResult(other))
  })
})

describe("steps", () => {
  it("§3 an end is an end; only what may be repeated runs again, only what could not begin waits again, and whoever ran it may say how it ended", () => {
    const states = Approval.ApprovalState.literals
    const ends = ["denied", "expired", "superseded", "cancelled", "void", "done", "failed"] as const
    for (const end of ends) {
      for (const state of states) assert.isFalse(Approval.isLegalStep(end, state), `${end} → ${state}`)
    }
    assert.deepStrictEqual(states.filter((state) => Approval.isLegalStep(state, "pending")), ["running"])
    assert.deepStrictEqual(states.filter((state) => Approval.isLegalStep("unknown", state)), [
      "suspended",
      "running",
      "done",
      "failed"
    ])
    assert.deepStrictEqual(states.filter((state) => Approval.isLegalStep("running", state)), [
      "pending",
      "suspended",
      "done",
      "failed",
      "unknown"
    ])
    assert.isTrue(Approval.isLegalStep("pending", "running"))
  })
})

describe("the scope", () => {
  it.effect("§3 is nobody's unless somebody says whose", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Approval.Scope, {})
    }))
})

describe("text for people", () => {
  const descriptions: Record<string, readonly [params: unknown, description: string]> = {
    "no parameters": [{}, "f()"],
    "nothing": [undefined, "f()"],
    "null": [null, "f()"],
    "several parameters": [{ path: "a b", force: true, n: 1, none: null }, "f(path='a b', force=true, n=1, none=null)"],
    "nested ones": [{ list: [1, { a: "b" }] }, `f(list=[1,{"a":"b"}])`],
    "quotes and backslashes": [{ path: "a', force='b\\" }, "f(path='a\\', force=\\'b\\\\')"],
    "odd names": [
      { "a b": 1, "a-b": 2, "$x": 3, "_y": 4, "ü1": 5, "1a": 6 },
      `f("a b"=1, a-b=2, $x=3, _y=4, ü1=5, "1a"=6)`
    ],
    "a text alone": ["it's", "f('it\\'s')"],
    "a number alone": [7, "f(7)"],
    "a list alone": [[1, "a"], `f([1,"a"])`],
    "what is no JSON": [{ a: undefined }, "f(a=undefined)"]
  }
  for (const [title, [params, description]] of Object.entries(descriptions)) {
    it(`L15 a call with ${title} is described so that nothing can pass for something else`, () => {
      assert.strictEqual(Approval.describe("f", params), description)
    })
  }

  it("L15 text is bounded to 10,000 units or as said, a description to 500", () => {
    const long = "x".repeat(20_000)
    assert.strictEqual(Approval.escapeText(long), `${"x".repeat(10_000)}… (10000 more characters)`)
    assert.strictEqual(Approval.escapeText(long, { maxLength: 5 }), "xxxxx… (19995 more characters)")
    assert.match(Approval.describe("f", { long }), /^f\(long='x{492}… \(\d+ more characters\)$/)
  })

  it("L15 lines and tabs stay only where several lines are asked for, and nothing else invisible does", () => {
    const text = "a\n\tb\r\u202e\u{e0041}\ud800c"
    assert.strictEqual(Approval.escapeText(text), "a\\u000a\\u0009b\\u000d\\u202e\\u{e0041}\\ud800c")
    assert.strictEqual(Approval.escapeText(text, { multiline: true }), "a\n\tb\\u000d\\u202e\\u{e0041}\\ud800c")
  })
})

describe("Approval", () => {
  it("L15 a description cannot pass one parameter for several, nor hide what is in it", () => {
    assert.strictEqual(
      Approval.describe("Transfer", { to: "bob', amount='1", "x='y": 1, note: "a\u200Bb" }),
      "Transfer(to='bob\\', amount=\\'1', \"x='y\"=1, note='a\\u200bb')"
    )
  })

  it("L15 escaped text is bounded as it is shown, cut between escapes, with the cut said", () => {
    const text = Approval.escapeText("\u0000".repeat(1_000), { maxLength: 20 })
    assert.strictEqual(text, "\\u0000\\u0000\\u0000… (997 more characters)")
    assert.strictEqual(Approval.escapeText("a\nb\tc", { multiline: true }), "a\nb\tc")
    for (const hidden of ["\u{E0041}", "\u2800", "\u{1D173}", "\uD800", "\u2066", "\u0085"]) {
      assert.notInclude(Approval.escapeText(`a${hidden}b`), hidden)
    }
  })
})
