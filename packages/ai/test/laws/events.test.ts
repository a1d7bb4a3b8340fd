/**
 * What the engine publishes in `ApprovalEvents`: every request, every state once (law L2), and what a model, a client
 * and a person at a screen are not to see, such as the cause of a policy's failure (laws L1, L15).
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalPolicy,
  ApprovalSeal,
  Prompt,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as C from "./conversation.ts"
import { type Story, tell } from "./story.ts"
import { idle, rewrite } from "./support.ts"

interface Watch {
  /** What was published until now, in short: its tag, its state and the call. */
  readonly short: Effect.Effect<ReadonlyArray<string>>
  readonly events: Effect.Effect<ReadonlyArray<ApprovalEvents.Observed>>
}

const everyWay = (title: string, story: Story<[way: C.Way, watch: Watch]>) =>
  C.everyWay(title, (way) =>
    Effect.gen(function*() {
      const seen: Array<ApprovalEvents.Observed> = []
      const events = yield* ApprovalEvents.ApprovalEvents
      const observed = yield* events.subscribe
      yield* Effect.forkScoped(Stream.runForEach(observed, (event) => Effect.sync(() => void seen.push(event))))
      const settled = Effect.as(idle, seen)
      yield* tell(story, way, { events: settled, short: Effect.map(settled, (seen) => seen.map(inShort)) })
    }).pipe(Effect.provide(ApprovalEvents.layer())))

const inShort = (event: ApprovalEvents.Observed): string =>
  event._tag === "Changed"
    ? `${event.toolCallId} ${event.state}`
    : "toolCallId" in event
    ? `${event.toolCallId} ${event._tag}`
    : event._tag

const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]

const begin = Effect.fnUntraced(function*(way: C.Way) {
  const { runs, toolkit } = yield* C.fileTools
  const chat = yield* C.start({ way, toolkit, turns: [two, "done", "bye"] })
  const asked = yield* chat.send("tidy up")
  return { asked, chat, runs }
})

describe("events of a request", () => {
  everyWay(
    "each step is published once, with how long the person took and in whose name",
    (way, watch) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("1 hour")
        const { asked, chat } = yield* begin(way)
        yield* TestClock.adjust("5 minutes")
        yield* chat.send(Prompt.approvalResponses([
          Approval.approve(asked.requests[0]!),
          Approval.deny(asked.requests[1]!, "keep b")
        ]))
        yield* chat.send("thanks")
        assert.deepStrictEqual([...yield* watch.short].toSorted(), [
          "c1 Requested",
          "c1 done",
          "c1 running",
          "c2 Requested",
          "c2 denied"
        ])
        const events = yield* watch.events
        const running = events.find((event) => event._tag === "Changed" && event.state === "running")
        const denied = events.find((event) => event._tag === "Changed" && event.state === "denied")
        assert.deepInclude(running, { waited: 300_000, scope: { principal: "ada" }, toolName: "DeleteFile" })
        assert.deepInclude(denied, { waited: 300_000, reason: "keep b", approvalId: asked.requests[1]!.approvalId })
        const requested = events.find((event) => event._tag === "Requested")
        assert.deepStrictEqual(requested?._tag === "Requested" ? requested.request.params : undefined, { path: "a" })
      }).pipe(Effect.provideService(Approval.Scope, { principal: "ada" }))
  )

  everyWay("L2 the same history again changes nothing, so nothing is published again", function*(way, watch) {
    const { asked, chat } = yield* begin(way)
    const before = yield* chat.history
    const answers = C.approveAll(asked)
    yield* chat.send(answers)
    const once = (yield* watch.short).length
    yield* chat.setHistory(before)
    yield* chat.send(answers)
    assert.strictEqual((yield* watch.short).length, once)
  })

  everyWay("L3 an answer that comes after the other one counted is refused as decided before", function*(way, watch) {
    const { asked, chat, runs } = yield* begin(way)
    const before = yield* chat.history
    yield* chat.send(Prompt.approvalResponses(asked.requests.map((request) => Approval.deny(request, "no"))))
    yield* chat.setHistory(before)
    yield* chat.send(C.approveAll(asked))
    const refused = (yield* watch.events).filter((event) => event._tag === "Refused")
    assert.deepStrictEqual(refused.map(({ reason, toolCallId }) => [toolCallId, reason._tag]).toSorted(), [
      ["c1", "AlreadyDecided"],
      ["c2", "AlreadyDecided"]
    ])
    assert.deepStrictEqual(runs, [])
  })

  everyWay("an edit is published as what leads from the proposed to the executed parameters", function*(way, watch) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "done"] })
    yield* chat.send("tidy up").pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive(() => new Approval.Approved({ params: { path: "b" } }))
      )
    )
    const edited = (yield* watch.events).find((event) => event._tag === "Edited")
    assert.deepStrictEqual(edited?._tag === "Edited" ? edited.edits : undefined, [
      { op: "replace", path: "/path", value: "b" }
    ])
    assert.deepStrictEqual(yield* watch.short, ["c1 Requested", "c1 Edited", "c1 running", "c1 done"])
  })
})

describe("events of what does not count", () => {
  everyWay("L4 a forged request is refused and told from one that an unknown key sealed", function*(way, watch) {
    const { asked, chat, runs } = yield* begin(way)
    yield* chat.setHistory(
      rewrite(
        yield* chat.history,
        (part) => part.type === "tool-call" && part.id === "c1" ? { ...part, params: { path: "/etc/passwd" } } : part
      )
    )
    yield* chat.send(C.approveAll(asked)).pipe(
      Effect.provide(ApprovalSeal.layer({ key: "another key of the law tests, 32 bytes", keyId: "other" }))
    )
    const refused = (yield* watch.events).filter((event) => event._tag === "Refused")
    assert.deepStrictEqual(refused.map(({ reason }) => reason._tag), ["UnknownKey", "UnknownKey"])
    const third = yield* begin(way)
    yield* third.chat.setHistory(
      rewrite(
        yield* third.chat.history,
        (part) => part.type === "tool-call" && part.id === "c1" ? { ...part, params: { path: "/etc/passwd" } } : part
      )
    )
    yield* third.chat.send(
      Prompt.approvalResponses(third.asked.requests.map((request) => Approval.approve(request)))
    )
    const forged = (yield* watch.events).filter((event) => event._tag === "Refused").slice(2)
    assert.deepStrictEqual(forged.map(({ reason, toolCallId }) => [toolCallId, reason._tag]), [["c1", "Forged"]])
    assert.deepStrictEqual([...runs, ...third.runs], ["delete b"])
  })

  everyWay("L4 a forged request is refused where it fails the turn, too", function*(way, watch) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done"], approval: { onInvalid: "fail" } })
    const asked = yield* chat.send("tidy up")
    yield* chat.setHistory(
      rewrite(
        yield* chat.history,
        (part) => part.type === "tool-call" && part.id === "c1" ? { ...part, params: { path: "/etc/passwd" } } : part
      )
    )
    yield* Effect.flip(chat.send(C.approveAll(asked)))
    const refused = (yield* watch.events).filter((event) => event._tag === "Refused")
    assert.deepStrictEqual(refused.map(({ reason, toolCallId }) => [toolCallId, reason._tag]), [["c1", "Forged"]])
    assert.notInclude(runs, "delete /etc/passwd")
  })

  everyWay("L4 parameters edited in a history are refused, and the request stays open", function*(way, watch) {
    const { asked, chat, runs } = yield* begin(way)
    const edited = asked.requests.map((request) => Approval.approve(request, { params: { path: "/etc/passwd" } }))
    const turn = yield* chat.send(Prompt.approvalResponses(edited))
    assert.lengthOf(turn.requests, 2)
    const refused = (yield* watch.events).filter((event) => event._tag === "Refused")
    assert.deepStrictEqual(refused.map(({ reason }) => reason._tag), ["InvalidEdit", "InvalidEdit"])
    assert.deepStrictEqual(runs, [])
  })

  everyWay(
    "parameters that do not fit, of a person who is asked here, are no refused answer of a history",
    function*(way, watch) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "done"] })
      const person = ApprovalController.interactive((request) => Approval.approve(request, { params: { path: 1 } }))
      const asked = yield* Effect.provideService(
        chat.send("tidy up"),
        ApprovalController.ApprovalController,
        person
      )
      assert.lengthOf(asked.requests, 1)
      assert.deepStrictEqual([yield* watch.short, runs], [["c1 Requested", "c1 InvalidParameters"], []])
    }
  )

  everyWay("L10 a request whose call was trimmed is an event, and void", function*(way, watch) {
    const { asked, chat, runs } = yield* begin(way)
    yield* chat.setHistory(
      rewrite(yield* chat.history, (part) => part.type === "tool-call" && part.id === "c1" ? undefined : part)
    )
    yield* chat.send(C.approveAll(asked))
    const trimmed = (yield* watch.events).filter((event) => event._tag === "Trimmed")
    assert.deepStrictEqual(trimmed.map(({ approvalId, toolCallId }) => [approvalId, toolCallId]), [
      [asked.requests[0]!.approvalId, "c1"]
    ])
    assert.deepStrictEqual(runs, ["delete b"])
  })
})

describe("events of policies and controllers", () => {
  const secret = "postgres://admin:hunter2@db"

  everyWay("L1 the cause of a policy's failure is in its event, and nowhere else", function*(way, watch) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")]] })
    const turn = yield* chat.send("tidy up").pipe(withPolicy(() => Effect.fail(new Error(secret))))
    const failed = (yield* watch.events).find((event) => event._tag === "PolicyFailed")
    assert.include(failed?._tag === "PolicyFailed" ? Cause.pretty(failed.cause) : "", secret)
    assert.notInclude(JSON.stringify(turn.parts), "hunter2")
    assert.lengthOf(turn.requests, 1)
  })

  everyWay("a gate that dies is an event too; so are parameters that do not fit", function*(way, watch) {
    const Broken = Tool.make("DeleteFile", {
      parameters: { path: Schema.String },
      needsApproval: () => {
        throw new Error(secret)
      }
    })
    const toolkit = yield* C.withHandlers(Toolkit.make(Broken), { DeleteFile: () => Effect.void })
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [[
        C.deleteCall("c1", "a"),
        { type: "tool-call", id: "c2", name: "DeleteFile", params: { path: 1 } }
      ]]
    })
    const turn = yield* chat.send("tidy up")
    assert.deepStrictEqual([...yield* watch.short].toSorted(), [
      "c1 PolicyFailed",
      "c1 Requested",
      "c2 InvalidParameters"
    ])
    assert.notInclude(JSON.stringify(turn.parts), "hunter2")
  })

  everyWay("so are those of a call that needs nobody, with why", function*(way, watch) {
    const { runs, toolkit } = yield* C.fileTools
    const wrong = { type: "tool-call", id: "c1", name: "ReadFile", params: { path: 1 } } as const
    const chat = yield* C.start({ way, toolkit, turns: [[wrong], "done"] })
    yield* chat.send("tidy up")
    const seen = (yield* watch.events).flatMap((event) => event._tag === "InvalidParameters" ? [event] : [])
    assert.deepStrictEqual(seen.map(({ toolCallId, toolName }) => [toolCallId, toolName]), [["c1", "ReadFile"]])
    assert.include(Cause.pretty(seen[0]!.cause), "Expected string")
    assert.deepStrictEqual(runs, [])
  })

  everyWay("what the policy lets run, and what it forbids, are events with its reason", function*(way, watch) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two] })
    yield* chat.send("tidy up").pipe(withPolicy((call) =>
      (call.params as { readonly path: string }).path === "a"
        ? Approval.preApproved("scratch files may go")
        : Approval.blocked("b is kept by law")
    ))
    const events = yield* watch.events
    assert.deepInclude(events.find((event) => event._tag === "PreApproved"), {
      toolCallId: "c1",
      reason: "scratch files may go"
    })
    assert.deepInclude(events.find((event) => event._tag === "Blocked"), {
      toolCallId: "c2",
      reason: "b is kept by law"
    })
    assert.deepStrictEqual(runs, ["delete a"])
  })

  everyWay("a controller that fails, or decides nothing, is an event with the cause", function*(way, watch) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two] })
    const turn = yield* chat.send("tidy up").pipe(Effect.provideService(ApprovalController.ApprovalController, {
      ask: (request) => request.toolCallId === "c1" ? Effect.fail(new Error(secret)) : Effect.undefined
    }))
    assert.lengthOf(turn.requests, 2)
    const failed = (yield* watch.events).filter((event) => event._tag === "ControllerFailed")
    assert.deepStrictEqual(failed.map(({ toolCallId }) => toolCallId).toSorted(), ["c1", "c2"])
    assert.include(failed.map(({ cause }) => Cause.pretty(cause)).join(), secret)
    assert.notInclude(JSON.stringify(turn.parts), "hunter2")
  })
})

describe("events where the model was wrapped", () => {
  everyWay("events provided to one call win over those of the program around it", function*(way, watch) {
    const own = yield* ApprovalEvents.make()
    const observed = yield* own.subscribe
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two] })
    yield* Effect.provide(chat.send("tidy up"), Layer.succeed(ApprovalEvents.ApprovalEvents, own))
    const taken = yield* Stream.runCollect(Stream.take(observed, 2))
    assert.deepStrictEqual(taken.map(inShort), ["c1 Requested", "c2 Requested"])
    assert.deepStrictEqual(yield* watch.short, [])
  })
})
