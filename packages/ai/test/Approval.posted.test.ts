/** Decisions and answers as people post them: plain JSON, by upstream's words and by ours. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { Approval, ApprovalController, ApprovalError, Prompt } from "../src/index.ts"
import * as M from "./laws/remembered.ts"

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const decode = Schema.decodeUnknownSync(Approval.ApprovalDecision)

describe("a denial", () => {
  const reasons = [
    [{ note: "keep it" }, "keep it"],
    [{ reason: "keep it" }, "keep it"],
    [{ note: "keep it", reason: "keep it" }, "keep it"],
    [{ note: "keep it", reason: "for ever" }, "keep it\nfor ever"],
    [{ note: " ", reason: "keep it" }, "keep it"],
    [{ note: null, reason: "keep it" }, "keep it"],
    [{ reason: null }, undefined],
    [{}, undefined]
  ] as const

  it("has one reason, whichever of its names it was posted by, and is written by one of them", () => {
    for (const [posted, note] of reasons) {
      const denied = decode(json({ _tag: "Denied", ...posted }))
      assert.deepStrictEqual(denied, new Approval.Denied(note === undefined ? {} : { note }))
      const written = note === undefined ? { _tag: "Denied" } : { _tag: "Denied", note }
      assert.deepStrictEqual(json(denied), written)
      assert.deepStrictEqual(Schema.encodeUnknownSync(Schema.toCodecJson(Approval.ApprovalDecision))(denied), written)
    }
  })

  it("is the same by way of upstream's part", () => {
    for (const [posted, note] of reasons) {
      const answer = json({ approvalId: "a1", decision: { _tag: "Denied", ...posted } }) as Approval.AnswerInput
      assert.deepStrictEqual(
        Prompt.approvalResponses([answer]).content[0]?.content,
        [Prompt.toolApprovalResponsePart({
          approvalId: "a1",
          approved: false,
          ...(note === undefined ? undefined : { reason: note })
        })]
      )
    }
  })

  it("may end the turn, and says so wherever it goes", () => {
    const denied = Approval.deny({ approvalId: "a1" }, "enough", { stop: true })
    assert.deepStrictEqual(json(denied.decision), { _tag: "Denied", note: "enough", stop: true })
    assert.deepStrictEqual(decode(json(denied.decision)), denied.decision)
    assert.deepStrictEqual(
      Prompt.approvalResponses([denied]).content[0]?.content,
      [Prompt.toolApprovalResponsePart({
        approvalId: "a1",
        approved: false,
        reason: "enough",
        options: { assent: { stop: true } }
      })]
    )
  })
})

describe("an answer", () => {
  const approved = (fields: object = {}) => new Approval.Approved(fields)
  const denied = (fields: object = {}) => new Approval.Denied(fields)
  const read: ReadonlyArray<readonly [posted: unknown, decision: Approval.ApprovalDecision]> = [
    [{ decision: { _tag: "Approved" } }, approved()],
    [{ decision: { _tag: "Approved", note: undefined, params: { path: "b" } } }, approved({ params: { path: "b" } })],
    [{ decision: { _tag: "Approved", reason: "go on" } }, approved({ note: "go on" })],
    [{ decision: { _tag: "Denied", reason: "keep it" } }, denied({ note: "keep it" })],
    [{ decision: { _tag: "Info", note: "later" } }, new Approval.Info({ note: "later" })],
    [{ approved: true }, approved()],
    [{ approved: true, reason: "go on" }, approved({ note: "go on" })],
    [{ approved: false, reason: "keep it" }, denied({ note: "keep it" })],
    [{ approved: true, decision: { _tag: "Approved" } }, approved()],
    // Upstream's part, as `Prompt.approvalResponses` writes it.
    [
      { type: "tool-approval-response", approved: true, options: { assent: { params: { path: "b" } } } },
      approved({ params: { path: "b" } })
    ],
    [
      { type: "tool-approval-response", approved: false, reason: "no", options: { assent: { note: "now" } } },
      denied({ note: "now\nno" })
    ],
    // Who gave it, only the channel says (law L16).
    [{ decision: { _tag: "Approved", decidedBy: { id: "ada" }, by: "ada" }, by: "ada" }, approved()],
    [{ approved: false, _tag: "Approved" }, denied()]
  ]
  const refused: ReadonlyArray<readonly [posted: unknown, words: string]> = [
    [undefined, "approvalId"],
    ["yes", "approvalId"],
    [{}, "approvalId"],
    [{ approvalId: 7, approved: true }, "approvalId"],
    [{ approvalId: "a1" }, "no decision"],
    [{ approvalId: "a1", _tag: "Approved" }, "no decision"],
    [{ approvalId: "a1", decision: null }, "no decision"],
    [{ approvalId: "a1", decision: true }, "no decision"],
    [{ approvalId: "a1", decision: { _tag: "approved" } }, "_tag"],
    [{ approvalId: "a1", decision: { _tag: "Approved", note: 7 } }, "note"],
    [{ approvalId: "a1", decision: { _tag: "Info" } }, "note"],
    [{ approvalId: "a1", approved: "true" }, "true or false"],
    [{ approvalId: "a1", approved: 1 }, "true or false"],
    [{ approvalId: "a1", approved: true, decision: { _tag: "Denied" } }, "contradict each other"],
    [{ approvalId: "a1", approved: false, decision: { _tag: "Approved" } }, "contradict each other"]
  ]

  it.effect("is read as it was posted, and nothing else of it", () =>
    Effect.forEach(read, ([posted, decision]) =>
      Effect.gen(function*() {
        const answers = yield* Prompt.readAnswers({ approvalId: "a1", ...posted as object })
        assert.deepStrictEqual(answers, [new Approval.ApprovalAnswer({ approvalId: "a1", decision })])
      })))

  it.effect("which cannot be read is refused in words, and no other of the list is taken", () =>
    Effect.forEach(refused, ([posted, words]) =>
      Effect.gen(function*() {
        const { reason } = yield* Effect.flip(Prompt.readAnswers([Approval.approve({ approvalId: "a2" }), posted]))
        assert.strictEqual(reason._tag, "InvalidAnswer")
        assert.include(reason.message, words)
        const thrown = yield* Effect.flip(Effect.try({
          try: () => Prompt.approvalResponses([posted as Approval.AnswerInput]),
          catch: (error) => error
        }))
        assert.isTrue(thrown instanceof ApprovalError.ApprovalError && thrown.reason._tag === "InvalidAnswer")
      })))

  it.effect("of a controller may be plain JSON; one that cannot be read, or is another's, leaves the request open", () =>
    Effect.gen(function*() {
      const asking = (reply: unknown) =>
        Effect.map(
          Effect.result(ApprovalController.request({ name: "deploy" })),
          Result.match({
            onFailure: ({ reason }) => reason._tag,
            onSuccess: ({ decidedBy: _, ...decision }) => json(decision)
          })
        ).pipe(
          // What a page posts is of no type.
          M.person((request) => replyTo(request, reply) as ApprovalController.Reply).answers,
          Effect.provideService(Approval.Scope, { conversation: "talk" })
        )
      const replyTo = ({ approvalId }: Approval.ApprovalRequest, reply: unknown): unknown =>
        typeof reply === "object" && reply !== null && "approvalId" in reply && reply.approvalId === "a1"
          ? { ...reply, approvalId }
          : reply
      assert.deepStrictEqual(yield* asking({ _tag: "Denied", reason: "no" }), { _tag: "Denied", note: "no" })
      for (const [posted, decision] of read) {
        const said = decision._tag === "Info" ? "ApprovalRequired" : json(decision)
        assert.deepStrictEqual(yield* asking({ approvalId: "a1", ...posted as object }), said)
      }
      for (const [posted] of [...refused, [{ approvalId: "another", approved: true }]] as const) {
        assert.strictEqual(yield* asking(posted), "ApprovalRequired")
      }
    }))
})
