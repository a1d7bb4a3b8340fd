/**
 * L14, a failed result always has a reason string. A person's denial and Blocked read as final; superseded, expired and
 * void say that nothing ran and it may be asked again. And nothing here is a defect.
 */
import { assert, describe } from "@effect/vitest"
import { type Duration, Effect, Schema, SchemaTransformation } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalPolicy,
  ApprovalSeal,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Asked from "./asked.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const Fails = Tool.make("Fails", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true })
const kit = Toolkit.make(C.DeleteFile, C.ReadFile, Fails)

const begin = Effect.fnUntraced(function*(
  way: C.Way,
  calls: ReadonlyArray<ScriptedModel.TurnPart> = [C.deleteCall("c1", "a")],
  approval: C.StartOptions["approval"] = undefined
) {
  const runs: Array<string> = []
  const toolkit = yield* C.withHandlers(kit, {
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), { deleted: path })),
    ReadFile: ({ path }) => Effect.succeed(path),
    Fails: () => Effect.die(new Error("a bug"))
  })
  const chat = yield* C.start({ way, toolkit, turns: [calls, "done", "bye", "bye"], approval })
  const asked = yield* chat.send("tidy up")
  const asking = yield* chat.history
  const deny = (reason?: string) =>
    Prompt.approvalResponses(asked.requests.map((request) => Approval.deny(request, reason)))
  const approve = C.approveAll(asked)
  return { approve, asked, asking, chat, deny, runs }
})

type Begun = Effect.Success<ReturnType<typeof begin>>

/** What must follow from the reason: nothing more to do, ask again, or neither. */
type Reading = "final" | "again" | "any"

type Story = (way: C.Way) => Effect.Effect<readonly [Begun, C.Turn], unknown>

/** The turn that comes of the question, or of what is done about it. */
const when = (
  next: (it: Begun) => Effect.Effect<C.Turn, unknown>,
  calls?: ReadonlyArray<ScriptedModel.TurnPart>,
  approval?: C.StartOptions["approval"]
): Story =>
(way) => Effect.flatMap(begin(way, calls, approval), (it) => Effect.map(next(it), (turn) => [it, turn] as const))

const asking = (calls?: ReadonlyArray<ScriptedModel.TurnPart>) => when((it) => Effect.succeed(it.asked), calls)

const controlled = (controller: ApprovalController.Service): Story => (way) =>
  Effect.provideService(asking()(way), ApprovalController.ApprovalController, controller)

const blocked = (reason: string): Story => (way) =>
  Effect.provideService(
    asking()(way),
    ApprovalPolicy.ApprovalPolicy,
    ApprovalPolicy.make(() => Approval.blocked(reason))
  )

const late = (expiresIn: Duration.Input, after: Duration.Input) =>
  when((it) => Effect.andThen(TestClock.adjust(after), it.chat.send(it.approve)), undefined, { expiresIn })

const approved = (around: (turn: Effect.Effect<C.Turn, unknown>) => Effect.Effect<C.Turn, unknown>) =>
  when((it) => around(it.chat.send(it.approve)))

const stories: Record<string, readonly [Reading, Story]> = {
  "B9 a denial without a reason": ["final", when((it) => it.chat.send(it.deny()))],
  "B9 a denial with an empty reason": ["final", when((it) => it.chat.send(it.deny("")))],
  "a denial with a reason": ["final", when((it) => it.chat.send(it.deny("no")))],
  "a denial by a controller": ["final", controlled(ApprovalController.interactive(() => false))],
  "a call that nobody can be asked about": ["final", controlled(ApprovalController.strict)],
  "a call that the policy blocks": ["final", blocked("not today")],
  "a call that the policy blocks without saying why": ["final", blocked("")],
  "a request superseded by a new message": ["again", when((it) => it.chat.send("never mind"))],
  "an approval that comes after its expiry": ["again", late("1 hour", "2 hours")],
  "an approval that comes after a month, where that was set": ["again", late("30 days", "31 days")],
  "an approval of another key": [
    "again",
    approved(Effect.provide(ApprovalSeal.layer({ key: "another key of the law tests, 32 bytes" })))
  ],
  "an approval in another scope": ["any", approved(Effect.provideService(Approval.Scope, { principal: "mallory" }))],
  "an approval whose id was made up": [
    "any",
    when((it) => {
      const forged = Support.rewrite(
        it.asking,
        (part) => part.type === "tool-approval-request" ? Support.requestPart("made-up", part.toolCallId) : part
      )
      const approval = Prompt.approvalResponses([Approval.approve({ approvalId: "made-up" })])
      return Effect.andThen(it.chat.setHistory(forged), it.chat.send(approval))
    })
  ],
  "an approval without a toolkit": ["any", when((it) => it.chat.send(it.approve, { toolkit: "none" }))],
  "a gated call whose parameters do not decode": [
    "any",
    asking([ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: 7 } })])
  ],
  "a response that was cut off": [
    "any",
    when((it) => it.chat.send("go on"), [C.deleteCall("c1", "a"), ScriptedModel.finish("length")])
  ],
  "a handler that died": [
    "any",
    when((it) =>
      Effect.gen(function*() {
        yield* Effect.exit(it.chat.send(it.approve))
        yield* it.chat.setHistory(it.asking)
        return yield* it.chat.send(it.approve)
      }), [ScriptedModel.toolCall({ id: "c1", name: "Fails", params: { path: "a" } })])
  ]
}

const mayBeAskedAgain = /again/i

describe("L14 reasons", () => {
  for (const [title, [reading, run]] of Object.entries(stories)) {
    C.everyWay(`L14 ${title}: a reason, in the response, its schema and the prompt; nothing ran`, function*(way) {
      const [{ chat, runs }, turn] = yield* run(way)
      assert.deepStrictEqual(runs, [])

      const schema = (way.endsWith("streamText") ? Response.StreamPart(kit) : Response.Part(kit)) as Schema.Codec<
        unknown
      >
      for (const part of turn.results) {
        const reason = C.reasonOf(part)
        if (reading === "final") assert.notMatch(reason, mayBeAskedAgain)
        if (reading === "again") assert.match(reason, mayBeAskedAgain)
        const encoded = yield* Schema.encodeUnknownEffect(schema)(part)
        const decoded = yield* Schema.decodeUnknownEffect(schema)(JSON.parse(JSON.stringify(encoded)))
        assert.strictEqual(C.reasonOf(decoded as Response.ToolResultPart<string, unknown, unknown>), reason)
      }

      if ((yield* chat.calls) < 2) yield* chat.send([])
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      const [result, ...others] = C.resultsOf(prompt)
      assert.deepStrictEqual(others, [])
      C.reasonOf(result!)
    })
  }

  C.everyWay("L14 an expired request that nobody answered: it says so, and may be asked again", function*(way) {
    const { chat, runs } = yield* begin(way, undefined, { expiresIn: "1 hour" })
    yield* TestClock.adjust("2 hours")
    yield* chat.send([])
    if ((yield* chat.calls) < 2) yield* chat.send("are you there?")
    const [result] = C.resultsOf(yield* chat.lastPrompt)
    assert.match(C.reasonOf(result!), /expired|superseded/i)
    assert.match(C.reasonOf(result!), mayBeAskedAgain)
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L14 a denial keeps the person's own words", function*(way) {
    const { chat, deny } = yield* begin(way)
    const turn = yield* chat.send(deny("It is my only copy."))
    assert.include(C.reasonOf(turn.results[0]!), "It is my only copy.")
  })
})

describe("reasons", () => {
  for (const onInvalid of ["result", "fail"] as const) {
    Support.forEachMode(
      `L14 a denial needs no proof: it is a denial also of a request that is not ours, ${onInvalid}`,
      function*(mode) {
        const tools = yield* Support.makeTools()
        const { model } = yield* Support.answering
        const turn = yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: Support.written([
            Support.callPart("c1", "DeleteFile", { path: "a" }),
            Support.requestPart("x", "c1")
          ]),
          prompt: Support.answers(Approval.deny({ approvalId: "x" }, "keep it")),
          approval: { onInvalid }
        })
        assert.deepStrictEqual(turn.results.map((part) => part.encodedResult), [
          { type: "execution-denied", reason: "keep it" }
        ])
        assert.strictEqual(turn.text, "done")
      }
    )
  }

  Support.forEachMode("L11 a request that is held says why, and that nothing is lost", function*(mode) {
    const { options, request } = yield* Asked.deletion(mode)
    const turn = yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
      .pipe(
        Asked.withPolicy(() => Effect.fail("offline"))
      )
    assert.match(turn.requests[0]!.reason ?? "", /policy failed.*did not run yet.*Nothing is lost.*try again/)
  })

  Support.forEachMode(
    "L4 a request that was answered with edited parameters says why it is still open",
    function*(mode) {
      const { options, request } = yield* Asked.deletion(mode)
      const prompt = Support.answers(Approval.approve(request, { params: { path: "b" } }))
      const asked: Array<string> = []
      const turn = yield* Support.takeTurn(mode, { ...options, prompt }).pipe(
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(({ approvalId }) => asked.push(approvalId) > 0)
        )
      )
      assert.match(turn.requests[0]!.reason ?? "", /only from a trusted channel.*did not run.*as it was proposed/)
      assert.deepStrictEqual(asked, [], "whoever answered is answered, and nobody else is asked")
    }
  )

  const deploys = {
    "was removed": { parameters: undefined, says: /"DeleteFile" is no longer available: it was removed or renamed/ },
    "takes others": { parameters: { file: Schema.String }, says: /no longer fit the schema of "DeleteFile"/ },
    "reads them differently": {
      // The same JSON Schema, and another value behind it.
      parameters: {
        path: Schema.String.pipe(Schema.decodeTo(Schema.String, SchemaTransformation.toUpperCase()))
      },
      says: /The parameters of "DeleteFile" are not what they were when the person was asked/
    }
  }
  for (const [how, { parameters, says }] of Object.entries(deploys)) {
    Support.forEachMode(`L10 a tool that ${how} since: a failed result that says just this`, function*(mode) {
      const { options, request } = yield* Asked.deletion(mode)
      const tool = parameters === undefined
        ? Support.ReadFile
        : Tool.make("DeleteFile", { parameters, success: Schema.String, needsApproval: true })
      const tools = yield* Support.makeTools([tool as typeof Support.ReadFile])
      const turn = yield* Support.takeTurn(mode, {
        ...options,
        toolkit: tools.toolkit,
        prompt: Support.answers(Approval.approve(request))
      })
      assert.match(Support.failureReason(turn.results[0]), says)
      assert.deepStrictEqual([tools.runs, turn.text], [[], "done"])
    })
  }

  Support.forEachMode(
    "L4 an approved call whose parameters are no JSON: a failed result that says so",
    function*(mode) {
      const { asked, options, request, tools } = yield* Asked.deletion(mode)
      const turn = yield* Support.takeTurn(mode, {
        ...options,
        history: Support.rewrite(
          asked.history,
          (part) => part.type === "tool-call" ? { ...part, params: { path: "\ud800" } } : part
        ),
        prompt: Support.answers(Approval.approve(request))
      })
      assert.match(Support.failureReason(turn.results[0]), /parameters of "DeleteFile" cannot be used.*surrogate/)
      assert.deepStrictEqual(tools.runs, [])
    }
  )
})
