/**
 * L4: whose key, whose conversation, and for how long. Bad approvals are failed results that tell an unknown key from a
 * forgery; `onInvalid: "fail"` makes them an error. Only approvals about to run or be shown again are verified.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalError,
  ApprovalPolicy,
  ApprovalSeal,
  type LanguageModel,
  Prompt,
  Tool
} from "../../src/index.ts"
import * as Support from "./support.ts"

const calls = [Support.call("c1", "DeleteFile", { path: "a" })]

const otherKey = "another key, also of 32 bytes or more"

const sealedWith = (options: ApprovalSeal.Options) => Effect.provide(ApprovalSeal.layer(options))

/** A request, and the turn that carries out its approval, in whatever context it is run. */
const begin = (
  mode: Support.Mode,
  options?: {
    readonly approval?: LanguageModel.ApprovalOptions
    readonly asked?: (turn: Effect.Effect<Support.Turn, any>) => Effect.Effect<Support.Turn, any>
  }
) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools()
    const asked = yield* (options?.asked ?? ((turn) => turn))(
      Support.ask(mode, { toolkit: tools.toolkit, calls, approval: options?.approval })
    )
    const script = yield* Support.answering
    const request = asked.requests[0]!
    const take = (prompt: Prompt.Prompt, approval?: LanguageModel.ApprovalOptions, history = asked.history) =>
      Support.takeTurn(mode, { model: script.model, toolkit: tools.toolkit, history, prompt, approval })
    const approve = take(Support.answers(Approval.approve(request)))
    return { approve, asked, request, script, take, tools }
  })

/** Refused: nothing ran, the model is told why, and the conversation goes on. */
const refused = (tools: Support.Tools, turn: Support.Turn) => {
  assert.deepStrictEqual([tools.runs, turn.requests, turn.text], [[], [], "done"])
  assert.strictEqual(turn.results.length, 1)
  return Support.failureReason(turn.results[0])
}

const ran = (tools: Support.Tools, turn: Support.Turn) => {
  assert.deepStrictEqual([tools.runs.length, turn.text], [1, "done"])
  assert.deepStrictEqual(turn.results.map((result) => result.isFailure), [false])
}

describe("L4 scope", () => {
  const ada = { tenant: "acme", principal: "ada", conversation: "chat-7" }
  const others: Record<string, Approval.ApprovalScope> = {
    "another conversation": { ...ada, conversation: "chat-8" },
    "no conversation": { tenant: "acme", principal: "ada" },
    "another principal": { ...ada, principal: "mallory" },
    "another tenant": { ...ada, tenant: "evil" },
    "no scope at all": {},
    "the same names in other places": { tenant: "ada", principal: "acme", conversation: "chat-7" },
    "names that run together": { tenant: "acmeada", principal: "", conversation: "chat-7" },
    "a name with quotes": { tenant: "acme\",\"ada", principal: "ada", conversation: "chat-7" }
  }
  for (const [what, scope] of Object.entries(others)) {
    Support.forEachMode(`L4 an approval of one conversation is worth nothing in ${what}`, function*(mode) {
      const { approve, tools } = yield* begin(mode, { asked: Effect.provideService(Approval.Scope, ada) })
      const turn = yield* Effect.provideService(approve, Approval.Scope, scope)
      assert.match(refused(tools, turn), /\w+ \w+/)
      ran(tools, yield* Effect.provideService(approve, Approval.Scope, { ...ada }))
    })
  }

  Support.forEachMode("L4 an approval given without a scope is worth nothing within one", function*(mode) {
    const { approve, tools } = yield* begin(mode)
    refused(tools, yield* Effect.provideService(approve, Approval.Scope, { principal: "ada" }))
    ran(tools, yield* Effect.provideService(approve, Approval.Scope, { principal: undefined }))
  })
})

describe("L4 expiry", () => {
  Support.forEachMode(
    "L4 a request waits as long as nobody set an expiry, and its approval never runs again",
    function*(mode) {
      const { approve, request, take, tools } = yield* begin(mode)
      assert.isFalse("expiresAt" in request, "a page shows none")
      assert.match(request.approvalId, /^apr1\.[^.]+\.[^.]+\.0\.-\./)
      yield* TestClock.adjust("31 days")
      yield* TestClock.adjust("3650 days")
      const poll = yield* take(Prompt.empty)
      assert.deepStrictEqual(poll.requests.map((one) => one.approvalId), [request.approvalId])
      ran(tools, yield* approve)
      yield* TestClock.adjust("3650 days")
      const again = yield* approve
      assert.deepStrictEqual(again.results[0]?.encodedResult, { deleted: true }, "what is on record")
      assert.lengthOf(tools.runs, 1)
    }
  )

  const byPolicy = Effect.provideService(
    ApprovalPolicy.ApprovalPolicy,
    ApprovalPolicy.make(() => Approval.needsApproval({ expiresIn: 60_000 }))
  )
  const ways = {
    "the option expiresIn": { approval: { expiresIn: "1 minute" } },
    "NeedsApproval.expiresIn": { asked: byPolicy },
    "NeedsApproval.expiresIn over the option": { approval: { expiresIn: "1 hour" }, asked: byPolicy }
  } as const
  for (const [how, options] of Object.entries(ways)) {
    Support.forEachMode(`L4 ${how} bounds an approval: good until then, expired after`, function*(mode) {
      const early = yield* begin(mode, options)
      const late = yield* begin(mode, options)
      assert.strictEqual(early.request.expiresAt! - early.request.issuedAt!, 60_000)
      yield* TestClock.adjust("59999 millis")
      ran(early.tools, yield* early.approve)
      yield* TestClock.adjust("2 millis")
      assert.match(refused(late.tools, yield* late.approve), /expired/i)
    })
  }

  Support.forEachMode(
    "L4 an expired request is not shown again, and does not hold the conversation up",
    function*(mode) {
      const { script, take, tools } = yield* begin(mode, { approval: { expiresIn: "30 days" } })
      yield* TestClock.adjust("31 days")
      assert.match(refused(tools, yield* take(Prompt.empty)), /expired/i)
      assert.strictEqual(yield* script.calls, 1)
    }
  )

  Support.forEachMode("L4 an expired approval stays expired, even where a clock runs behind", function*(mode) {
    const { approve, tools } = yield* begin(mode, { approval: { expiresIn: "1 minute" } })
    yield* TestClock.adjust("61 seconds")
    refused(tools, yield* approve)
    yield* TestClock.setTime(1000)
    refused(tools, yield* approve)
  })
})

describe("L4 keys", () => {
  Support.forEachMode("L4 a key that is not known is told apart from a forgery", function*(mode) {
    const unknown = yield* begin(mode)
    const unknownReason = refused(unknown.tools, yield* unknown.approve.pipe(sealedWith({ key: otherKey })))
    assert.match(unknownReason, /restart/)

    // Same name of the key, another key: whoever sealed this made it up.
    const foreign = yield* begin(mode, { asked: sealedWith({ key: otherKey, keyId: "k1" }) })
    const forgedReason = refused(
      foreign.tools,
      yield* foreign.approve.pipe(sealedWith({ key: Support.key, keyId: "k1" }))
    )
    assert.notMatch(forgedReason, /restart/)
    assert.notStrictEqual(forgedReason, unknownReason)
    for (const reason of [unknownReason, forgedReason]) {
      assert.notInclude(reason, otherKey)
      assert.notInclude(reason, Support.key)
    }
  })

  Support.forEachMode("L4 previousKeys accept what an old key sealed until their time, and not after", function*(mode) {
    const rotated = {
      key: otherKey,
      previousKeys: [{ key: Support.key, until: "1970-01-02T00:00:00Z" }]
    }
    const early = yield* begin(mode)
    const late = yield* begin(mode)
    yield* TestClock.adjust("23 hours")
    ran(early.tools, yield* early.approve.pipe(sealedWith(rotated)))
    // What is sealed now is sealed with the new key.
    const fresh = yield* begin(mode, { asked: sealedWith(rotated) })
    ran(fresh.tools, yield* fresh.approve.pipe(sealedWith({ key: otherKey })))
    yield* TestClock.adjust("1 hour")
    assert.match(refused(late.tools, yield* late.approve.pipe(sealedWith(rotated))), /restart/)
    // A result on record is not given back under a key that is not known any more.
    const replay = yield* early.approve.pipe(sealedWith(rotated))
    Support.failureReason(replay.results[0])
    assert.strictEqual(early.tools.runs.length, 1)
  })

  Support.forEachMode("L4 two engines that share key and journal settle each other's requests, once", function*(mode) {
    const { asked, request, tools } = yield* begin(mode, { approval: { concurrency: 1 } })
    const turns = yield* Effect.forEach(
      [undefined, { concurrency: 2 }, { expiresIn: "1 hour" }] as const,
      (approval) =>
        Effect.gen(function*() {
          const { model } = yield* Support.answering
          return yield* Support.takeTurn(mode, {
            model,
            toolkit: tools.toolkit,
            history: Support.throughJson(asked.history),
            prompt: Support.answers(Approval.approve(request)),
            approval
          })
        }),
      { concurrency: "unbounded" }
    )
    for (const turn of turns) ran(tools, turn)
  })

  Support.forEachMode("L4 layerTrustHistory is the explicit opt-out: any id counts, still once", function*(mode) {
    const tools = yield* Support.makeTools()
    const { model } = yield* Support.answering
    const history = Support.written([
      Support.callPart("c1", "DeleteFile", { path: "a" }),
      Support.requestPart("id_UPSTREAM", "c1")
    ], [Support.answerPart("id_UPSTREAM", true)])
    const turn = Support.takeTurn(mode, { model, toolkit: tools.toolkit, history })
    refused(tools, yield* turn)
    for (let i = 0; i < 2; i++) ran(tools, yield* Effect.provide(turn, ApprovalSeal.layerTrustHistory))
  })
})

describe("L4 onInvalid", () => {
  const bad: Record<
    string,
    (begun: Effect.Success<ReturnType<typeof begin>>) => {
      readonly turn: Effect.Effect<Support.Turn, any>
      readonly tag: ApprovalError.ApprovalErrorReason["_tag"]
    }
  > = {
    "a forgery": ({ asked, request, take }) => ({
      tag: "Forged",
      turn: take(
        Support.answers(Approval.approve(request)),
        { onInvalid: "fail" },
        Support.rewrite(asked.history, (part) => part.type === "tool-call" ? { ...part, params: { path: "b" } } : part)
      )
    }),
    "an unknown key": ({ request, take }) => ({
      tag: "UnknownKey",
      turn: take(Support.answers(Approval.approve(request)), { onInvalid: "fail" }).pipe(
        sealedWith({ key: otherKey })
      )
    }),
    "an id that is not ours": ({ asked, take }) => ({
      tag: "Malformed",
      turn: take(
        Support.answers(Approval.approve({ approvalId: "a1" })),
        { onInvalid: "fail" },
        Support.rewrite(
          asked.history,
          (part) => part.type === "tool-approval-request" ? { ...part, approvalId: "a1" } : part
        )
      )
    })
  }
  for (const [what, make] of Object.entries(bad)) {
    Support.forEachMode(
      `L4 onInvalid "fail": ${what} fails the call with a typed error; nothing runs`,
      function*(mode) {
        const begun = yield* begin(mode)
        const { tag, turn } = make(begun)
        const reason = yield* Support.reasonOf(turn)
        assert.strictEqual(reason._tag, tag)
        const caught = yield* turn.pipe(ApprovalError.catchReason(tag, () => Effect.succeed("caught")))
        assert.strictEqual(caught, "caught")
        assert.deepStrictEqual([begun.tools.runs, yield* begun.script.calls], [[], 0])
        ran(begun.tools, yield* begun.approve)
      }
    )
  }

  Support.forEachMode(
    "L4 a bad approval that is settled already is not verified: it neither fails nor changes",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const script = yield* Support.answering
      const result = Prompt.toolResultPart({
        id: "c1",
        name: "DeleteFile",
        isFailure: false,
        result: { deleted: true },
        providerExecuted: false
      })
      for (const id of ["a1", "A".repeat(10_000), (yield* begin(mode)).request.approvalId]) {
        for (const approved of [true, false]) {
          const turn = yield* Support.takeTurn(mode, {
            model: script.model,
            toolkit: tools.toolkit,
            history: Prompt.concat(
              Support.written([Support.callPart("c1", "DeleteFile", { path: "x" }), Support.requestPart(id, "c1")], [
                Support.answerPart(id, approved)
              ]),
              Prompt.fromMessages([Prompt.toolMessage({ content: [result] })])
            ),
            prompt: "Thanks.",
            approval: { onInvalid: "fail" }
          })
          assert.deepStrictEqual([turn.results, turn.requests, turn.text], [[], [], "done"])
          const sent = yield* Support.sentResults(script)
          assert.deepStrictEqual(sent.map((part) => part.result), [{ deleted: true }])
        }
      }
      assert.deepStrictEqual(tools.runs, [])
    }
  )
})

describe("L4 what else is sealed", () => {
  Support.forEachMode(
    "L4 the tool's schema: an approval does not survive another schema of the same name",
    function*(mode) {
      const { asked, request, tools } = yield* begin(mode)
      const other = Tool.dynamic("DeleteFile", {
        parameters: { type: "object", properties: { path: { type: "string" }, force: { type: "boolean" } } },
        needsApproval: true
      })
      const drifted = yield* Support.makeTools([other])
      const { model } = yield* Support.answering
      const turn = yield* Support.reply(
        mode,
        { asked, model, tools: drifted },
        Support.answers(Approval.approve(request))
      )
      refused(drifted, turn)
      assert.deepStrictEqual(tools.runs, [])
    }
  )

  const presentations: Record<string, (content: string) => Approval.ApprovalPresentation> = {
    "a presentation": (content) => new Approval.ApprovalPresentation({ type: "diff", content }),
    "a presentation with a precondition": (content) =>
      new Approval.ApprovalPresentation({ type: "file_content", content, precondition: `digest of ${content}` })
  }
  for (const [what, present] of Object.entries(presentations)) {
    const showing = (content: string) =>
      Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make(() => Approval.needsApproval({ presentation: present(content) }))
      )

    Support.forEachMode(`L4 ${what} that is what the person saw: the approval runs`, function*(mode) {
      const { approve, request, tools } = yield* begin(mode, { asked: showing("as it was") })
      assert.deepStrictEqual(request.presentation, present("as it was"))
      ran(tools, yield* approve.pipe(showing("as it was")))
    })

    Support.forEachMode(`L4 ${what} is shown again as it was, with the same id`, function*(mode) {
      const { request, take } = yield* begin(mode, { asked: showing("as it was") })
      const poll = yield* take(Prompt.empty).pipe(showing("as it was"))
      assert.deepStrictEqual(poll.requests, [request])
    })

    if (!what.includes("precondition")) continue
    Support.forEachMode(`L4 ${what} that changed since: the approval runs nothing`, function*(mode) {
      const { approve, tools } = yield* begin(mode, { asked: showing("as it was") })
      const turn = yield* approve.pipe(showing("as it is"))
      assert.deepStrictEqual([tools.runs, turn.requests.length + turn.results.length], [[], 1])
    })
  }
})
