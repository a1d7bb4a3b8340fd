/**
 * L4, L11: a person may change the parameters while approving, from a message history only where the policy says
 * `editable`. What runs passes the schema and the policy again, is sealed to that one decision, and is what the model,
 * the history and the events say ran.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, JsonPatch, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, Prompt, Tool, Toolkit } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const editable = M.needs({ editable: true })

const begin = Effect.fnUntraced(function*(way: C.Way, options?: Partial<C.StartOptions>) {
  const { chat, runs } = yield* M.deleting(way, [["a"], "done", "bye"], {
    script: { afterLastTurn: "repeat" },
    ...options
  })
  const asked = yield* editable(chat.send("go"))
  const request = asked.requests[0]!
  const edited = (params: Schema.Json) => Prompt.approvalResponses([Approval.approve(request, { params })])
  return { chat, edited, history: yield* chat.history, request, runs }
})

const plain = (request: Approval.ApprovalRequest) => Prompt.approvalResponses([Approval.approve(request)])

/** What a result says ran, from what the call of the history says was proposed. */
const executed = (result: C.Turn["results"][number], proposed: Schema.Json): Schema.Json => {
  const { assent } = result.metadata as { readonly assent?: { readonly edits?: JsonPatch.JsonPatch } }
  assert.isDefined(assent?.edits)
  return JsonPatch.apply(assent.edits, proposed)
}

const proposedIn = (history: Prompt.Prompt): ReadonlyArray<unknown> =>
  history.content.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => part.type === "tool-call" ? [part.params] : [])
      : []
  )

describe("L4 an edit that counts", () => {
  C.everyWay("L4 runs instead of what was proposed; both are kept, and the model is told", function*(way) {
    const { observe, seen } = yield* M.events
    const { chat, edited, runs } = yield* begin(way)
    const turn = yield* observe(editable(chat.send(edited({ path: "b" }))))
    assert.deepStrictEqual([runs, turn.requests, turn.text], [["delete b"], [], "done"])
    assert.deepStrictEqual(executed(turn.results[0]!, { path: "a" }), { path: "b" })
    assert.deepStrictEqual(turn.results[0]!.result, { deleted: "b" })
    assert.deepStrictEqual(proposedIn(yield* chat.history), [{ path: "a" }])
    for (let i = 0; i < 2; i++) {
      const [told] = C.resultsOf(yield* chat.lastPrompt)
      assert.include(JSON.stringify(told!.modelOutput), "{\\\"path\\\":\\\"b\\\"}")
      assert.include(JSON.stringify(told!.modelOutput), "deleted")
      C.assertWellFormed(yield* chat.lastPrompt)
      yield* editable(chat.send("thanks"))
    }
    const events = (yield* seen).filter((event) => event._tag === "Edited")
    assert.deepStrictEqual(
      events.map(({ edits, toolCallId }) => [toolCallId, JsonPatch.apply(edits, { path: "a" })]),
      [
        ["c1", { path: "b" }]
      ]
    )
  })

  C.everyWay("L4 by whoever is asked inline, whatever the policy says of histories; both are kept too", function*(way) {
    for (const policy of [M.needs({ editable: false }), M.needs({})]) {
      const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
      const ada = M.person(() => new Approval.Approved({ params: { path: "b" } }))
      const turn = yield* policy(ada.answers(chat.send("go")))
      assert.deepStrictEqual(runs, ["delete b"])
      assert.deepStrictEqual(executed(turn.results[0]!, { path: "a" }), { path: "b" })
      assert.deepStrictEqual(proposedIn(yield* chat.history), [{ path: "a" }])
      yield* policy(chat.send("and?"))
      assert.include(JSON.stringify(C.resultsOf(yield* chat.lastPrompt)[0]!.modelOutput), "\\\"b\\\"")
    }
  })

  C.everyWay("L4 that changes nothing is a plain approval: nothing is said of edits", function*(way) {
    const { chat, edited, runs } = yield* begin(way)
    const turn = yield* editable(chat.send(edited({ path: "a" })))
    assert.deepStrictEqual(runs, ["delete a"])
    assert.notInclude(JSON.stringify(turn.results[0]!.metadata), "edits")
  })

  C.everyWay("L4 of a call that fails: the model is told what ran all the same", function*(way) {
    const Broken = Tool.make("DeleteFile", {
      parameters: { path: Schema.String },
      failure: Schema.String,
      failureMode: "return",
      needsApproval: true
    })
    const toolkit = yield* C.withHandlers(Toolkit.make(Broken), {
      DeleteFile: ({ path }) => Effect.fail(`no room for ${path}`)
    })
    const { chat, edited } = yield* begin(way, { toolkit })
    const turn = yield* editable(chat.send(edited({ path: "b" })))
    assert.isTrue(turn.results[0]!.isFailure)
    assert.deepStrictEqual(executed(turn.results[0]!, { path: "a" }), { path: "b" })
    assert.include(JSON.stringify(C.resultsOf(yield* chat.lastPrompt)[0]!.modelOutput), "\\\"b\\\"")
  })
})

describe("L4 an edit that does not fit", () => {
  const nonsense: Record<string, unknown> = {
    "another type": { path: 12 },
    "nothing": {},
    "null": null,
    "a text": "b",
    "a list": ["b"],
    "a number that is none": { path: Number.NaN },
    "half a character": { path: "\ud800" },
    "more than a megabyte": { path: "x".repeat(1_100_000) },
    "only a prototype": JSON.parse("{\"__proto__\":{\"path\":\"b\"}}")
  }
  for (const [what, params] of Object.entries(nonsense)) {
    C.everyWay(`L4 ${what}: nothing runs, the request stays open and says why, and can be answered`, function*(way) {
      const { observe, seen } = yield* M.events
      const { chat, request, runs } = yield* begin(way)
      const answer = M.posted({ approvalId: request.approvalId, approved: true, assent: { params } })
      const turn = yield* observe(editable(chat.send(answer)))
      assert.deepStrictEqual([runs, turn.results], [[], []])
      assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), [request.approvalId])
      assert.match(turn.requests[0]!.reason ?? "", /fit/)
      const refused = (yield* seen).filter((event) => event._tag === "Refused")
      assert.deepStrictEqual(refused.map(({ reason }) => reason._tag), ["InvalidEdit"])
      const last = yield* editable(chat.send(plain(request)))
      assert.deepStrictEqual([runs, last.text], [["delete a"], "done"])
    })
  }
})

describe("L11 an edit passes the policy again", () => {
  const edit = (way: C.Way, policy: Parameters<typeof M.withPolicy>[0]) =>
    Effect.gen(function*() {
      const { chat, edited, request, runs } = yield* begin(way)
      const turn = yield* M.withPolicy(policy)(chat.send(edited({ path: "etc/b" })))
      return { chat, edited, request, runs, turn }
    })

  const byPath =
    (etc: () => Approval.ApprovalResult | Effect.Effect<never>) => (call: { readonly encodedParams: Schema.Json }) =>
      M.pathOf({ params: call.encodedParams }).startsWith("etc") ? etc() : Approval.needsApproval({ editable: true })

  C.everyWay("L11 blocked as edited: denied for good, nothing runs", function*(way) {
    const { chat, request, runs, turn } = yield* edit(way, byPath(() => Approval.blocked("etc is kept")))
    assert.deepStrictEqual([runs, turn.requests], [[], []])
    assert.include(C.reasonOf(turn.results[0]!), "etc is kept")
    yield* editable(chat.send(plain(request)))
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L11 needs approval as edited, and may be edited to: it was approved so", function*(way) {
    const { runs } = yield* edit(way, byPath(() => Approval.needsApproval({ editable: true })))
    assert.deepStrictEqual(runs, ["delete etc/b"])
  })

  C.everyWay("L11 would run unasked as edited: it runs", function*(way) {
    const { runs } = yield* edit(way, byPath(() => Approval.preApproved()))
    assert.deepStrictEqual(runs, ["delete etc/b"])
  })

  C.everyWay(
    "L4 needs approval as edited, and no history may edit that: nothing runs, the request stays open",
    function*(way) {
      for (const target of [Approval.needsApproval({ editable: false }), Approval.needsApproval({})]) {
        const { request, runs, turn } = yield* edit(way, byPath(() => target))
        assert.deepStrictEqual([runs, turn.requests.map(({ approvalId }) => approvalId)], [[], [request.approvalId]])
      }
    }
  )

  C.everyWay("L11 a policy that fails on what was edited: held, and it runs once the policy is fixed", function*(way) {
    const { chat, edited, runs, turn } = yield* edit(way, byPath(() => Effect.die("broken")))
    assert.deepStrictEqual([runs, turn.requests.length], [[], 1])
    yield* editable(chat.send(edited({ path: "etc/b" })))
    assert.deepStrictEqual(runs, ["delete etc/b"])
  })

  C.everyWay("L11 by whoever is asked inline: blocked is denied, a failing policy leaves it open", function*(way) {
    const ada = M.person(() => new Approval.Approved({ params: { path: "etc/b" } }))
    const blocked = yield* M.deleting(way, [["a"]])
    const turn = yield* M.withPolicy(byPath(() => Approval.blocked("etc is kept")))(
      ada.answers(blocked.chat.send("go"))
    )
    assert.include(C.reasonOf(turn.results[0]!), "etc is kept")
    const failing = yield* M.deleting(way, [["a"], "done"])
    const held = yield* M.withPolicy(byPath(() => Effect.die("broken")))(ada.answers(failing.chat.send("go")))
    assert.deepStrictEqual([blocked.runs, failing.runs, held.requests.length], [[], [], 1])
    yield* editable(failing.chat.send(plain(held.requests[0]!)))
    assert.deepStrictEqual(failing.runs, ["delete a"])
  })

  C.everyWay(
    "L11 what an edited call shows need not be what the person was shown; what was proposed must still show that",
    function*(way) {
      let version = 1
      const shown = M.withPolicy((call) =>
        Approval.needsApproval({
          editable: true,
          presentation: new Approval.ApprovalPresentation({
            type: "text",
            content: `${M.pathOf({ params: call.encodedParams })}, version ${version}`
          })
        })
      )
      for (const params of [{ path: "b" }, undefined]) {
        for (const later of [1, 2]) {
          version = 1
          const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
          const [request] = (yield* shown(chat.send("go"))).requests
          version = later
          yield* shown(chat.send(Prompt.approvalResponses([Approval.approve(request!, { params })])))
          assert.deepStrictEqual(runs, later === 2 ? [] : [`delete ${params?.path ?? "a"}`])
        }
      }
    }
  )
})

describe("L2 an edit is sealed to its decision", () => {
  C.everyWay("L2 the history again with other parameters, or with none, gets what is on record", function*(way) {
    const { chat, edited, history, request, runs } = yield* begin(way)
    yield* editable(chat.send(edited({ path: "b" })))
    for (const answer of [edited({ path: "c" }), edited({ path: "b" }), plain(request), edited({ path: 7 })]) {
      yield* chat.setHistory(history)
      const turn = yield* editable(chat.send(answer))
      assert.deepStrictEqual(turn.results[0]!.result, { deleted: "b" })
      assert.deepStrictEqual(executed(turn.results[0]!, { path: "a" }), { path: "b" })
      assert.include(JSON.stringify(C.resultsOf(yield* chat.lastPrompt)[0]!.modelOutput), "\\\"b\\\"")
    }
    assert.deepStrictEqual(runs, ["delete b"])
  })

  C.everyWay("L3 of two approvals the first counts, edited or not; a denial beats both", function*(way) {
    for (const order of ["edit first", "plain first", "denied too"] as const) {
      const { chat, request, runs } = yield* begin(way)
      const edit = Approval.approve(request, { params: { path: "b" } })
      const yes = Approval.approve(request)
      yield* editable(chat.send(Prompt.approvalResponses(
        order === "edit first"
          ? [edit, yes]
          : order === "plain first"
          ? [yes, edit]
          : [edit, Approval.deny(request)]
      )))
      const expected = { "edit first": ["delete b"], "plain first": ["delete a"], "denied too": [] }[order]
      assert.deepStrictEqual(runs, expected)
    }
  })

  C.everyWay("L2 one history with two edits at once runs one of them", function*(way) {
    const first = yield* begin(way)
    const second = yield* M.deleting(way, ["done"], { history: first.history, script: { afterLastTurn: "repeat" } })
    yield* Effect.all(
      [
        editable(first.chat.send(first.edited({ path: "b" }))),
        editable(second.chat.send(first.edited({ path: "c" })))
      ].map(Effect.exit),
      { concurrency: "unbounded" }
    )
    assert.lengthOf([...first.runs, ...second.runs], 1)
  })

  C.everyWay("L4 an edit of a request that expired, or of a call changed since, runs nothing", function*(way) {
    const { chat, edited, runs } = yield* begin(way, { approval: { expiresIn: "1 minute" } })
    yield* TestClock.adjust("1 hour")
    const turn = yield* editable(chat.send(edited({ path: "b" })))
    assert.include(C.reasonOf(turn.results[0]!), "expired")
    assert.deepStrictEqual(runs, [])
  })

  M.everyWay("what is remembered of an edited approval covers what ran, and not what was proposed", function*(way) {
    const both = M.needs({ editable: true, rememberable: true })
    const byHistory = yield* M.deleting(way, [["a"], "done", ["b"], ["a"]])
    const [request] = (yield* both(byHistory.chat.send("go"))).requests
    yield* both(byHistory.chat.send(Prompt.approvalResponses([
      Approval.approve(request!, { params: { path: "b" }, remember: "session" })
    ])))
    assert.lengthOf((yield* both(byHistory.chat.send("b"))).requests, 0)
    assert.lengthOf((yield* both(byHistory.chat.send("a"))).requests, 1)
    const inline = yield* M.deleting(way, [["c"], ["d"], ["c"]])
    const ada = M.person(() => new Approval.Approved({ params: { path: "d" }, remember: "session" }))
    for (let turn = 0; turn < 3; turn++) yield* ada.answers(inline.chat.send("go"))
    assert.deepStrictEqual([ada.seen, inline.runs], [["c", "c"], ["delete d", "delete d", "delete d"]])
  })
})
