/**
 * Errors as data: each reason says what happened and what to do, and none is lost on its way through `AiError`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AiError } from "effect/ai"
import { Approval, ApprovalError, Response } from "../src/index.ts"

const request = (description: string) =>
  new Approval.ApprovalRequest({
    approvalId: "id-1",
    toolCallId: "c1",
    toolName: "DeleteFile",
    params: { path: "a" },
    description,
    interaction: "approval",
    providerExecuted: false
  })

const approvalId = "apr1.x"

/** Every reason, what its message has to say, and whether it has to say that nothing ran. */
const reasons: ReadonlyArray<readonly [reason: ApprovalError.ApprovalErrorReason, says: RegExp, nothingRan: boolean]> =
  [
    [
      new ApprovalError.Forged({ approvalId }),
      /^The approval does not belong to this call: .*the call, its parameters, or the conversation.* asked about\..*Ask again\.$/,
      true
    ],
    [
      new ApprovalError.Malformed({ approvalId }),
      /^The approval id is not one that Assent issued\..*Ask again\.$/,
      true
    ],
    [
      new ApprovalError.UnknownKey({ approvalId, keyId: "k1" }),
      /key "k1", which this process does not have.* before a restart or by another process\..*Ask again.*ASSENT_APPROVAL_KEY.*ApprovalSeal\.layer\(\{ key \}\)\) so that approvals outlive a process\.$/,
      true
    ],
    [
      new ApprovalError.Expired({ approvalId, expiredAt: 0 }),
      /^The approval expired at 1970-01-01T00:00:00\.000Z\..*Ask again\.$/,
      true
    ],
    [
      new ApprovalError.AlreadyDecided({ approvalId, state: "denied" }),
      /^The request is not open any more: its state is "denied"\. This answer changes nothing\. If it may come twice,.* catch AlreadyDecided; what is open is what `pending` gives\.$/,
      false
    ],
    [
      new ApprovalError.UnknownApproval({ approvalId }),
      /^No request has the approval id "apr1\.x"\. Answer with the id of a request as it was given to you: one that `pending` gives, in the conversation that asked\.$/,
      false
    ],
    [
      new ApprovalError.IllegalStep({ approvalId, from: "denied", to: "running" }),
      /^A request that is "denied" cannot become "running"\.$/,
      false
    ],
    [
      new ApprovalError.NotAnApprover({
        approvalId,
        approvers: [["ada", "bob"], ["eve"]],
        decidedBy: { via: "program", id: "mallory" },
        problem: "not named"
      }),
      /^mallory may not decide this\. The request stays open\. It needs one of ada, bob, and eve\.$/,
      false
    ],
    [
      new ApprovalError.PolicyFailed({ toolName: "DeleteFile" }),
      /^The approval policy for "DeleteFile" failed\..*Fix the policy and try again\.$/,
      true
    ],
    [
      new ApprovalError.Drifted({ toolName: "DeleteFile", description: "The tool went." }),
      /^The tool went\..*It may be asked again\.$/,
      true
    ],
    [
      new ApprovalError.InvalidParameters({ toolName: "DeleteFile", description: "they are too large." }),
      /^The parameters of "DeleteFile" cannot be used: they are too large\..*Call the tool again with valid parameters\.$/,
      true
    ],
    [
      new ApprovalError.InvalidEdit({ approvalId, description: "they do not fit." }),
      /^The edited parameters cannot be used: they do not fit\. The request stays open\.$/,
      false
    ],
    [
      new ApprovalError.InvalidAnswer({ approvalId, description: "it is no date." }),
      /^The answer cannot be used: it is no date\. The request stays open\.$/,
      false
    ],
    [
      new ApprovalError.InvalidAnswer({ approvalId, description: "Expected a value that is not blank" }),
      /^The answer cannot be used: Expected a value that is not blank\. The request stays open\.$/,
      false
    ],
    [
      new ApprovalError.InvalidPrompt({ description: "a part has no type." }),
      /^The prompt cannot be read: a part has no type\. No model was called\.$/,
      false
    ],
    [
      new ApprovalError.ApprovalRequired({ requests: [request("one()"), request("two()")], content: [] }),
      /^Waiting for approval of one\(\), two\(\)\. Put this error's content into the history, Prompt\.fromResponseParts\(reason\.content\), answer with Prompt\.approvalResponses\(\[\.\.\.\]\), and call again\.$/,
      false
    ],
    [
      new ApprovalError.JournalRequired(),
      /^An approval key is configured.*no journal is configured that remembers which of them ran\. Nothing ran\. Provide one:\n\n {4}import \{ SqlApproval \} from "@assent\/sql" \/\/ npm install @assent\/sql\n[^]*SqlApproval\.layer\(\{ filename: "approvals\.db" \}\)[^]*or ApprovalJournal\.layerMemory\(\), which says that a restart may forget\.$/,
      true
    ],
    [
      new ApprovalError.JournalUnavailable({ description: "It is full." }),
      /^The approval journal cannot be used: It is full\. Nothing ran; the answers are still good\.$/,
      false
    ],
    [
      new ApprovalError.InvalidKey({ description: "It is short." }),
      /^The approval key cannot be used: It is short\.$/,
      false
    ]
  ]

describe("ApprovalError", () => {
  for (const [reason, says, nothingRan] of reasons) {
    it(`L14 ${reason._tag} says what happened and what to do`, () => {
      assert.match(reason.message, says)
      assert.strictEqual(ApprovalError.make(reason).message, reason.message)
      if (nothingRan) assert.include(reason.message, ". Nothing ran. ")
    })

    it(`§3 ${reason._tag} comes through an AiError as it was`, () => {
      const error = ApprovalError.toAiError(ApprovalError.make(reason), "streamText")
      assert.deepStrictEqual([error.module, error.method], ["LanguageModel", "streamText"])
      assert.include(error.message, reason.message)
      const found = Option.getOrThrow(ApprovalError.fromAiError(error))
      assert.instanceOf(found, ApprovalError.ApprovalError)
      assert.deepStrictEqual([found.reason._tag, found.message], [reason._tag, reason.message])
    })
  }

  it("§3 the requests and the content of ApprovalRequired come through an AiError", () => {
    const reason = new ApprovalError.ApprovalRequired({
      requests: [request("one()")],
      content: [Response.makePart("text", { text: "I will delete it." })]
    })
    const found = Option.getOrThrow(ApprovalError.fromAiError(ApprovalError.toAiError(ApprovalError.make(reason), "x")))
    assert.deepStrictEqual(found.reason, reason)
  })

  it("§3 nothing else is an approval error", () => {
    const others = [
      undefined,
      new Error("no"),
      ApprovalError.make(new ApprovalError.JournalRequired()),
      AiError.make({ module: "x", method: "y", reason: new AiError.InvalidRequestError({ description: "no" }) }),
      AiError.make({
        module: "x",
        method: "y",
        reason: new AiError.InvalidRequestError({ description: "no", metadata: { assent: { _tag: "Forged" } } })
      }),
      AiError.make({ module: "x", method: "y", reason: new AiError.InvalidOutputError({ description: "no" }) })
    ]
    for (const other of others) assert.isTrue(Option.isNone(ApprovalError.fromAiError(other)))
  })

  describe("catchReason", () => {
    const own = ApprovalError.make(new ApprovalError.UnknownKey({ approvalId, keyId: "k1" }))
    const foreign = new Error("something else")
    const errors = { "as it is": own, "in an AiError": ApprovalError.toAiError(own, "generateText") }
    for (const [how, error] of Object.entries(errors)) {
      it.effect(`§3 handles its reason, ${how}, and passes every other on`, () =>
        Effect.gen(function*() {
          const failing = Effect.fail<unknown>(error)
          const handled = yield* ApprovalError.catchReason(failing, "UnknownKey", (reason) =>
            Effect.succeed(reason.keyId))
          assert.strictEqual(handled, "k1")
          const piped = yield* failing.pipe(ApprovalError.catchReason("UnknownKey", ({ keyId }) =>
            Effect.succeed(keyId)))
          assert.strictEqual(piped, "k1")
          const passed = yield* Effect.flip(
            ApprovalError.catchReason(failing, "JournalRequired", () =>
              Effect.succeed("wrong"))
          )
          assert.strictEqual(passed, error)
        }))
    }

    it.effect("§3 passes what is no approval error, and a success", () =>
      Effect.gen(function*() {
        const handle = ApprovalError.catchReason("UnknownKey", () => Effect.succeed("wrong"))
        assert.strictEqual(yield* Effect.flip(handle(Effect.fail(foreign))), foreign)
        assert.strictEqual(yield* handle(Effect.succeed("right")), "right")
      }))
  })
})
