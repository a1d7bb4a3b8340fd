/**
 * What an answer in a message history says of being remembered. Anybody may have written the history, so it counts only
 * where the policy says `rememberable`, and nonsense in it never counts, runs or breaks anything (law L4).
 */
import { assert, describe } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import {
  Approval,
  type ApprovalConfig,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalPolicy,
  Prompt
} from "../../src/index.ts"
import * as Asked from "./asked.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"
import * as Support from "./support.ts"
import { throughJson } from "./support.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

/** Asked in one turn, answered by a message in the next, asked again in a third. */
const story = Effect.fnUntraced(function*(
  way: C.Way,
  answer: (request: Approval.ApprovalRequest) => Prompt.Prompt,
  needs: Parameters<typeof Approval.needsApproval>[0],
  next = "a"
) {
  const { chat, runs } = yield* M.deleting(way, [["a"], "done", [next], "bye"])
  const policy = M.needs(needs)
  const asked = yield* policy(chat.send("one"))
  const answered = yield* policy(chat.send(answer(asked.requests[0]!)))
  const third = answered.requests.length > 0 ? undefined : yield* policy(chat.send("two"))
  return { answered, chat, listed: yield* M.listed(), request: asked.requests[0]!, runs, third }
})

const approved = (remember: unknown) => ({ approvalId }: Approval.ApprovalRequest) =>
  M.posted({ approvalId, approved: true, assent: { remember } })

const denied = (remember: unknown) => ({ approvalId }: Approval.ApprovalRequest) =>
  M.posted({ approvalId, approved: false, assent: { remember } })

describe("memory: answers in a history", () => {
  M.everyWay("where the policy says rememberable, an approval is remembered, as it says", function*(way) {
    const { listed, runs, third } = yield* story(way, approved("session"), { rememberable: true })
    assert.deepStrictEqual([runs, third!.requests.length], [["delete a", "delete a"], 0])
    assert.strictEqual(listed[0]!.covers._tag, "Exact")
  })

  M.everyWay(
    "what a person says with `Approval.approve` reaches the memory in `Prompt.approvalResponses`",
    function*(way) {
      const say = (remember: ApprovalMemory.Remember) => (request: Approval.ApprovalRequest) =>
        throughJson(Prompt.approvalResponses([Approval.approve(request, { remember })]))
      const wide = yield* story(way, say({ ...everyFile, uses: 5 }), { rememberable: true }, "b")
      assert.deepStrictEqual(wide.runs, ["delete a", "delete b"])
      assert.strictEqual(wide.listed[0]!.uses, 4)
    }
  )

  M.everyWay("and so does a denial that is to be remembered", function*(way) {
    const say = (request: Approval.ApprovalRequest) =>
      throughJson(Prompt.approvalResponses([
        Approval.deny(request, "keep a", { remember: "session" })
      ]))
    const { runs, third } = yield* story(way, say, { rememberable: true })
    assert.deepStrictEqual([runs, third!.requests], [[], []])
    assert.include(C.reasonOf(third!.results[0]!), "keep a")
  })

  Support.forEachMode(
    "and so does one that comes late, to an approval that failed for want of a toolkit",
    (mode) =>
      Effect.gen(function*() {
        const { runs, toolkit } = yield* Support.makeTools()
        const { model } = yield* Support.answering
        const calls = [Support.call("c1", "DeleteFile", { path: "a" })]
        const asked = yield* Support.ask(mode, { toolkit, calls })
        const yes = Support.answers(Approval.approve(asked.requests[0]!))
        const { history } = yield* Support.takeTurn(mode, { model, history: asked.history, prompt: yes })
        const no = Support.answers(Approval.deny(asked.requests[0]!, "never a", { remember: "session" }))
        yield* Support.takeTurn(mode, { model, toolkit, history, prompt: no })
        const again = yield* Support.ask(mode, { toolkit, calls })
        assert.deepStrictEqual([again.requests, runs], [[], []])
        assert.include(Support.failureReason(again.results[0]), "never a")
      }).pipe(M.needs({ rememberable: true }), Effect.provide(ApprovalMemory.layerSession()), M.inConversation("talk"))
  )

  M.everyWay("an answer that is to be remembered still says what else it says, once", function*(way) {
    const prompt = (request: Approval.ApprovalRequest) =>
      Prompt.approvalResponses([Approval.approve(request, { remember: "none", note: "fine" })])
    const { listed, runs } = yield* story(way, prompt, { rememberable: true })
    assert.deepStrictEqual([runs, listed], [["delete a"], []])
  })

  for (const rememberable of [undefined, false] as const) {
    M.everyWay(
      `where the policy says rememberable: ${rememberable}, it is not: yes is yes, and no is no, once`,
      function*(way) {
        const policy = rememberable === undefined ? {} : { rememberable }
        for (const remember of ["session", everyFile]) {
          const yes = yield* story(way, approved(remember), policy)
          assert.deepStrictEqual([yes.runs, yes.third!.requests.length, yes.listed], [["delete a"], 1, []])
          const no = yield* story(way, denied(remember), policy)
          assert.deepStrictEqual([no.runs, no.third!.requests.length, no.listed], [[], 1, []])
        }
      }
    )
  }

  M.everyWay("a tool's own gate, which says nothing of it, is not rememberable", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], "done", ["a"]])
    const asked = yield* chat.send("one")
    yield* chat.send(approved("session")(asked.requests[0]!))
    assert.lengthOf((yield* chat.send("two")).requests, 1)
    assert.deepStrictEqual(runs, ["delete a"])
  })

  M.everyWay("what the policy remembers of an approval, it remembers of a plain one of a history", function*(way) {
    const plain = (request: Approval.ApprovalRequest) => Prompt.approvalResponses([Approval.approve(request)])
    const { runs, third } = yield* story(way, plain, { remember: "session" })
    assert.deepStrictEqual([runs, third!.requests.length], [["delete a", "delete a"], 0])
    const other = yield* story(way, plain, { remember: "session" }, "b").pipe(M.inConversation("two"))
    assert.lengthOf(other.third!.requests, 1)
    const never = yield* story(way, plain, { remember: everyFile, rememberable: false }).pipe(
      M.inConversation("three")
    )
    assert.lengthOf(never.third!.requests, 1)
  })

  M.everyWay("a denial of a history is remembered with its note, which is told to the model", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], "done", ["b"]])
    const policy = M.needs({ rememberable: true })
    const asked = yield* policy(chat.send("one"))
    yield* policy(chat.send(Prompt.fromMessages([Prompt.toolMessage({
      content: [Prompt.toolApprovalResponsePart({
        approvalId: asked.requests[0]!.approvalId,
        approved: false,
        reason: "nothing is deleted here",
        options: { assent: { remember: everyFile } }
      })]
    })])))
    const turn = yield* policy(chat.send("two"))
    assert.include(C.reasonOf(turn.results[0]!), "nothing is deleted here")
    assert.deepStrictEqual(runs, [])
  })
})

// =============================================================================
// Nonsense
// =============================================================================

const deep = (depth: number): Schema.Json => depth === 0 ? "x" : { next: deep(depth - 1) }

const nonsense: Record<string, unknown> = {
  "a number": 7,
  "true": true,
  "null": null,
  "a list": ["session"],
  "another word": "forever",
  "an empty text": "",
  "no uses": { uses: 0 },
  "less than no uses": { uses: -1 },
  "half a use": { uses: 0.5 },
  "uses in words": { uses: "many" },
  "a time that is over": { expiresIn: -5 },
  "no time": { expiresIn: 0 },
  "a matcher that is none": { covers: { _tag: "Everything" } },
  "a matcher in words": { covers: "tool" },
  "a matcher that lacks what it needs": { covers: { _tag: "Path" } },
  "a pattern of no text": { covers: { _tag: "Path", globs: [7], param: "path" } },
  "a matcher of another call": { covers: { _tag: "Exact", params: "{\"path\":\"etc/passwd\"}" } },
  "a matcher of no call": { covers: { _tag: "Exact", params: "" } },
  "a path of another call": { covers: { _tag: "Path", globs: ["etc/**"], param: "path" } },
  "a key of no program": { covers: { _tag: "Key", name: "constructor", value: "\"x\"" } },
  "a key named like a prototype": { covers: { _tag: "Key", name: "__proto__", value: "" } },
  "a shell that is not there": { covers: { _tag: "Shell", allowed: ["*"], param: "path" } },
  "a megabyte of text": "x".repeat(1_000_000),
  "very many globs": {
    covers: { _tag: "Path", globs: Array.from({ length: 5_000 }, (_, index) => `x${index}/**`), param: "path" }
  },
  "a glob that is hard to read": { covers: { _tag: "Path", globs: ["{a,b}".repeat(2_000)], param: "path" } },
  "a glob that is hard to match": { covers: { _tag: "Path", globs: [`${"**/".repeat(200)}x`], param: "path" } },
  "a deep value": { covers: deep(2_000) },
  "a prototype": JSON.parse("{\"__proto__\":{\"uses\":5},\"covers\":{\"_tag\":\"Nothing\"}}")
}

describe("memory: once_per_session, answered in a history", () => {
  const rules = [
    { path: "src/**", approval: "once_per_session" },
    { path: "docs/**", approval: "once_per_session" }
  ] as const

  const once = Effect.fnUntraced(function*(
    way: C.Way,
    config: ApprovalConfig.Input,
    remember: ApprovalMemory.Remember | undefined,
    next: string
  ) {
    const policy = yield* ApprovalPolicy.fromConfig(config)
    const configured = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
    const { chat, runs } = yield* M.deleting(way, [["src/a"], [next], "done"])
    const { requests } = yield* configured(chat.send("go"))
    yield* configured(chat.send(Prompt.approvalResponses([Approval.approve(requests[0]!, { remember })])))
    return { runs, listed: yield* M.listed() }
  })

  M.everyWay("L4 the grant is what the rule covers, whatever more the answer says", function*(way) {
    const { listed, runs } = yield* once(way, { DeleteFile: { rules, approval: "required" } }, everyFile, "docs/b")
    assert.deepStrictEqual(runs, ["delete src/a"])
    assert.deepStrictEqual(listed.map(({ covers }) => covers), [
      ApprovalMatcher.path(["src/**"], { param: "path" }).description
    ])
  })

  M.everyWay("what the rule covers is not asked again", function*(way) {
    const config: ApprovalConfig.Input = { DeleteFile: { rules, approval: "required" } }
    assert.deepStrictEqual((yield* once(way, config, undefined, "src/b")).runs, ["delete src/a", "delete src/b"])
  })

  M.everyWay("none is none", function*(way) {
    const config: ApprovalConfig.Input = { DeleteFile: { rules, approval: "required" } }
    assert.deepStrictEqual(yield* once(way, config, "none", "src/b"), { runs: ["delete src/a"], listed: [] })
  })

  M.everyWay("where the configuration says rememberable, the answer may say for what", function*(way) {
    const config: ApprovalConfig.Input = { DeleteFile: { approval: "once_per_session", rememberable: true } }
    const { listed } = yield* once(way, config, "session", "src/b")
    assert.deepStrictEqual(listed.map(({ covers }) => covers._tag), ["Exact"])
  })
})

describe("memory: nonsense in a history", () => {
  for (const [what, remember] of Object.entries(nonsense)) {
    M.everyWay(`${what}: nothing is remembered, and the answer counts for what it is`, function*(way) {
      const yes = yield* story(way, approved(remember), { rememberable: true }, "b")
      assert.deepStrictEqual([yes.runs, yes.third!.requests.length, yes.listed], [["delete a"], 1, []])
      const no = yield* story(way, denied(remember), { rememberable: true }, "b")
      assert.deepStrictEqual([no.runs, no.third!.requests.length, no.listed], [[], 1, []])
    })
  }

  const strange: Record<string, unknown> = {
    "a text": "session",
    "a list": [{ remember: "session" }],
    "null": null,
    "a number": 3,
    "remember below a prototype": JSON.parse("{\"__proto__\":{\"remember\":\"session\"}}"),
    "another name": { Remember: "session", decision: { remember: "session" } }
  }
  for (const [what, assent] of Object.entries(strange)) {
    M.everyWay(`${what} in the place of what an answer says: a plain answer`, function*(way) {
      const answer = (request: Approval.ApprovalRequest) =>
        M.posted({ approvalId: request.approvalId, approved: true, assent })
      const { listed, runs, third } = yield* story(way, answer, { rememberable: true })
      assert.deepStrictEqual([runs, third!.requests.length, listed], [["delete a"], 1, []])
    })
  }

  M.everyWay("only as much as it covers of the tool that was asked about is believed", function*(way) {
    // A matcher that covers the call, and says it is of another tool and scope: it says nothing of those.
    const remember = {
      ...everyFile,
      toolName: "ReadFile",
      scope: { conversation: "another" },
      source: "mcp.github",
      id: "chosen"
    }
    const { listed } = yield* story(way, approved(remember), { rememberable: true })
    assert.deepStrictEqual(listed.map(({ scope, source, toolName }) => ({ scope, source, toolName })), [
      { scope: { conversation: "talk" }, source: "local", toolName: "DeleteFile" }
    ])
    assert.notInclude(listed.map(({ id }) => id), "chosen")
  })
})

describe("a denial that is to be remembered, where nothing can be", () => {
  const where = {
    "without a toolkit": { over: { toolkit: undefined }, policy: undefined },
    "while the policy fails": { over: {}, policy: () => Effect.fail("offline") },
    "where the policy blocks the call": { over: {}, policy: () => Approval.blocked("no") }
  }
  for (const [how, { over, policy }] of Object.entries(where)) {
    Support.forEachMode(
      `L14 is a denial like any other ${how}, and nothing is remembered`,
      (mode) =>
        Effect.gen(function*() {
          const { options, request, tools } = yield* Asked.deletion(mode)
          const prompt = M.posted({
            approvalId: request.approvalId,
            approved: false,
            assent: { remember: "session" }
          })
          const turn = yield* Support.takeTurn(mode, { ...options, ...over, prompt }).pipe(
            policy === undefined ? (effect) => effect : Asked.withPolicy(policy)
          )
          assert.deepStrictEqual([turn.results.map((part) => part.isFailure), turn.text], [[true], "done"])
          assert.deepStrictEqual([tools.runs, yield* M.listed()], [[], []])
        }).pipe(Effect.provide(ApprovalMemory.layerSession()), M.inConversation("talk"))
    )
  }
})
