/** What became of requests that are rarer: of providers, answered where they were asked, remembered, or half forgotten. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalMemory,
  Approver,
  Conversation,
  ConversationStore,
  LanguageModel,
  Store,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as H from "../laws/hosted.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as C from "./support.ts"
import * as Ticket from "./ticket.ts"

const ada = { id: "ada", name: "Ada" }
const by = (person?: Approver.Person) => Approver.decidedBy(person, "conversation")
const said = (conversation: Pick<Conversation.Conversation<C.Tools>, "stateOf">, approvalId: string) =>
  Effect.map(conversation.stateOf(approvalId), (state) => {
    const { request, ...said }: State = state ?? {}
    if (request !== undefined) assert.strictEqual(request.approvalId, approvalId)
    return said
  })

type State = Partial<Conversation.RequestState>

const deleted: State = { state: "done", result: { deleted: true }, isFailure: false }

/** A run of a call that was approved, whose reader left while it was held. */
const leave = Effect.fnUntraced(function*(options?: Partial<Parameters<typeof C.start>[0]>) {
  const entered = yield* Deferred.make<void>()
  const held = yield* Deferred.make<void>()
  const { conversation } = yield* C.start({
    ...options,
    turns: [[C.remove("a")], "Done."],
    before: () => Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(held))
  })
  const [a] = C.requestsOf(yield* conversation.send("Go."))
  const turn = yield* Effect.forkChild(conversation.decide(Approval.approve(a!), { by: ada }), {
    startImmediately: true
  })
  yield* Deferred.await(entered)
  yield* Fiber.interrupt(turn)
  return { a, conversation, held }
})

describe("stateOf, of what a provider asks about its own call,", () => {
  const begin = (turns: ReadonlyArray<ScriptedModel.Turn>) =>
    Effect.gen(function*() {
      const script = yield* ScriptedModel.make({ turns: [H.asking(1), ...turns], strict: H.allowed })
      const conversation = yield* Conversation.make({ id: "states-hosted", toolkit: Toolkit.make(H.Mcp) }).pipe(
        Effect.provideServiceEffect(LanguageModel.LanguageModel, LanguageModel.make(script.params)),
        Effect.provide(ConversationStore.layerMemory())
      )
      const asked = yield* conversation.send("Open an issue.")
      assert.strictEqual(asked._tag, "Waiting")
      const [request] = yield* conversation.pending()
      assert.deepStrictEqual(yield* said(conversation, "mcpr_1"), { state: "open" })
      return { conversation, request: request! }
    })

  it.effect("approved, and done", () =>
    Effect.gen(function*() {
      const { conversation, request } = yield* begin([[H.done(1), ScriptedModel.text("Done.")]])
      yield* conversation.decide(Approval.approve(request), { by: ada })
      assert.deepInclude(yield* said(conversation, "mcpr_1"), { state: "done", result: "did p1", isFailure: false })
      assert.deepStrictEqual((yield* conversation.stateOf("mcpr_1"))?.request, request)
    }))

  it.effect("approved, of which the provider says nothing", () =>
    Effect.gen(function*() {
      const { conversation, request } = yield* begin(["Later."])
      yield* conversation.decide(Approval.approve(request), { by: ada })
      assert.deepInclude(yield* said(conversation, "mcpr_1"), { state: "answered" })
    }))

  it.effect("denied", () =>
    Effect.gen(function*() {
      const { conversation, request } = yield* begin(["Well."])
      yield* conversation.decide(Approval.deny(request, "Not now."), { by: ada })
      assert.deepInclude(yield* said(conversation, "mcpr_1"), { state: "denied", reason: "Not now." })
    }))

  it.effect("taken back, before and after the provider is told", () =>
    Effect.gen(function*() {
      const { conversation } = yield* begin(["Well."])
      yield* conversation.clear({ reason: "a duplicate" })
      const cleared: State = {
        state: "cancelled",
        reason: "Cancelled: a duplicate. Nothing ran; it may be asked again."
      }
      assert.deepStrictEqual(yield* said(conversation, "mcpr_1"), cleared)
      yield* conversation.send("Well?")
      assert.deepInclude(yield* said(conversation, "mcpr_1"), cleared)
    }))

  it.effect("is nothing of other ids", () =>
    Effect.gen(function*() {
      const { conversation } = yield* begin([])
      assert.isUndefined(yield* conversation.stateOf("mcpr_2"))
    }))
})

describe("stateOf, of what is asked in the turn itself,", () => {
  it.effect("while somebody is asked, when they have answered, and when the turn was left instead", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<Approval.ApprovalRequest>()
      const answer = yield* Deferred.make<boolean>()
      const controller = ApprovalController.interactive((request) =>
        Effect.andThen(
          Deferred.succeed(asked, request),
          Effect.map(Deferred.await(answer), (yes) => yes ? Approval.approve(request) : Approval.deny(request))
        )
      )
      const { conversation } = yield* C.start({ turns: [[C.remove("a")], "Done."] })
      const turn = yield* Effect.forkChild(
        conversation.send("Go.").pipe(
          Effect.provideService(ApprovalController.ApprovalController, controller)
        ),
        { startImmediately: true }
      )
      const { approvalId } = yield* Deferred.await(asked)
      assert.deepStrictEqual(yield* said(conversation, approvalId), { state: "open" })
      yield* Deferred.succeed(answer, true)
      yield* Fiber.join(turn)
      assert.deepInclude(yield* said(conversation, approvalId), deleted)
    }))

  it.effect("has who decided it and why, as their result says", () =>
    Effect.gen(function*() {
      let approvalId = ""
      const controller = ApprovalController.interactive((request) => {
        approvalId = request.approvalId
        return Effect.succeed(Approval.deny(request, "keep it"))
      })
      const { conversation } = yield* C.start({ turns: [[C.remove("a")], "Well."] })
      yield* conversation.send("Go.").pipe(
        Effect.provideService(ApprovalController.ApprovalController, controller)
      )
      assert.deepInclude(yield* said(conversation, approvalId), {
        state: "denied",
        reason: "keep it",
        decidedBy: Approver.decidedBy(undefined, "controller")
      })
    }))

  it.effect("and the turn was left: nobody was asked any more", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<Approval.ApprovalRequest>()
      const controller = ApprovalController.interactive((request) =>
        Effect.andThen(Deferred.succeed(asked, request), Effect.never)
      )
      const { conversation } = yield* C.start({ turns: [[C.remove("a")], "Well."] })
      const turn = yield* Effect.forkChild(
        conversation.send("Go.").pipe(Effect.provideService(ApprovalController.ApprovalController, controller)),
        { startImmediately: true }
      )
      const { approvalId } = yield* Deferred.await(asked)
      yield* Fiber.interrupt(turn)
      assert.deepInclude(yield* said(conversation, approvalId), { state: "superseded" })
      yield* conversation.send("Well?")
      assert.deepInclude(yield* said(conversation, approvalId), { state: "superseded", isFailure: true })
    }))
})

describe("stateOf, of what was answered,", () => {
  it.effect("but with words that cannot be read, is open", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({ turns: [[C.ask("Size?")]], shared })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      const nonce = request!.approvalId.split(".")[2]!
      yield* shared.requests.give(nonce, undefined, "{")
      assert.strictEqual((yield* shared.requests.get(nonce))?.given, "{")
      assert.deepStrictEqual(yield* said(conversation, request!.approvalId), { state: "open" })
    }))

  it.effect("in a turn that failed before it was carried out, waits for the next one", () =>
    Effect.gen(function*() {
      let isDown = false
      const shared = intercept(yield* C.makeShared, (operation, _, run) =>
        Effect.suspend(() =>
          isDown && operation === "requests.decide" ? Effect.fail(failure(operation)) : run
        ))
      const { conversation } = yield* C.start({
        turns: [[C.remove("a"), C.remove("b")]],
        afterLastTurn: "Done.",
        shared
      })
      const [a, b] = C.requestsOf(yield* conversation.send("Go."))
      isDown = true
      yield* Effect.flip(conversation.decide([Approval.approve(a!), Approval.deny(b!, "No.")], { by: ada }))
      const answered: State = { state: "answered", decidedBy: by(ada) }
      assert.deepStrictEqual(yield* said(conversation, a!.approvalId), answered)
      assert.deepStrictEqual(yield* said(conversation, b!.approvalId), answered)
      isDown = false
      yield* conversation.send([])
      assert.deepStrictEqual(yield* said(conversation, a!.approvalId), { ...deleted, decidedBy: by(ada) })
      assert.deepInclude(yield* said(conversation, b!.approvalId), {
        state: "denied",
        decidedBy: by(ada),
        reason: "No."
      })
    }))

  it.effect("and ran in a turn that its reader left: the journal knows it before the history does", () =>
    Effect.gen(function*() {
      const { a, conversation, held } = yield* leave()
      assert.deepStrictEqual(yield* said(conversation, a!.approvalId), { state: "running", decidedBy: by(ada) })
      yield* Deferred.succeed(held, undefined)
      yield* TestClock.adjust("1 second")
      assert.notInclude(JSON.stringify(yield* conversation.history), "tool-result")
      assert.deepStrictEqual(yield* said(conversation, a!.approvalId), { ...deleted, decidedBy: by(ada) })
      yield* conversation.send([])
      assert.deepStrictEqual(yield* said(conversation, a!.approvalId), { ...deleted, decidedBy: by(ada) })
    }))

  it.effect("of a run that was stopped is unknown", () =>
    Effect.gen(function*() {
      const entered = yield* Deferred.make<void>()
      const { conversation } = yield* C.start({
        turns: [[C.remove("a")], "Done."],
        before: () => Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
      })
      const [a] = C.requestsOf(yield* conversation.send("Go."))
      const turn = yield* Effect.forkChild(conversation.decide(Approval.approve(a!), { by: ada }), {
        startImmediately: true
      })
      yield* Deferred.await(entered)
      yield* conversation.cancel()
      yield* Fiber.await(turn)
      const stopped = yield* said(conversation, a!.approvalId)
      assert.deepInclude(stopped, { state: "unknown", decidedBy: by(ada) })
      assert.match(stopped.reason!, /stopped before it finished/)
    }))

  it.effect("of another one, whose answer is remembered, says that it was that", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.remove("a"), C.remove("a", "again")], "Done."] })
      const [a, b] = C.requestsOf(yield* conversation.send("Go."))
      yield* conversation.decide(Approval.approve(a!, { remember: "session" }), { by: ada })
      const states = [yield* said(conversation, a!.approvalId), yield* said(conversation, b!.approvalId)]
      assert.deepInclude(states[0], { ...deleted, decidedBy: by(ada) })
      assert.deepStrictEqual(states[1], { ...deleted, decidedBy: Approver.decidedBy(ada, "memory") })
    }).pipe(Effect.provide(ApprovalMemory.layerSession())))

  it.effect("when its result is not kept any more, keeps its state: as long as the history has it, with the result", () =>
    Effect.gen(function*() {
      const shared = yield* Store.makeMemory({ maxResultBytes: 0 })
      const { a, conversation, held } = yield* leave({ shared })
      yield* Deferred.succeed(held, undefined)
      yield* TestClock.adjust("1 second")
      const gone = yield* said(conversation, a!.approvalId)
      assert.deepInclude(gone, { state: "done", decidedBy: by(ada) })
      assert.notProperty(gone, "result")
      assert.match(gone.reason!, /no longer kept/)
    }))
})

describe("stateOf, of what nobody answered,", () => {
  it.effect("and a tool that goes on then: it has expired, whatever the tool does", () =>
    Effect.gen(function*() {
      const { conversation } = yield* Ticket.start({ turns: [[Ticket.call], "Lea does."] })
      const [first] = C.requestsOf(yield* conversation.send("Help."))
      yield* TestClock.adjust("1 hour")
      const [second] = C.requestsOf(yield* conversation.wake)
      assert.deepInclude(yield* said(conversation, first!.approvalId), { state: "expired" })
      assert.deepStrictEqual(yield* said(conversation, second!.approvalId), { state: "open" })
      yield* conversation.send("I do")
      assert.deepInclude(yield* said(conversation, first!.approvalId), { state: "expired", result: "I do" })
      assert.deepInclude(yield* said(conversation, second!.approvalId), { state: "done", result: "I do" })
    }).pipe(Effect.scoped))

  for (const onNewMessage of ["keep", "hold"] as const) {
    it.effect(`and the conversation went on beside (${onNewMessage})`, () =>
      Effect.gen(function*() {
        const { conversation } = yield* C.start({
          turns: [[C.remove("a")], "Well.", "Done."],
          approval: { onNewMessage }
        })
        const [a] = C.requestsOf(yield* conversation.send("Go."))
        yield* conversation.send("How are you?")
        assert.deepStrictEqual(yield* said(conversation, a!.approvalId), { state: "open" })
        yield* conversation.decide(Approval.approve(a!), { by: ada })
        assert.deepStrictEqual(yield* said(conversation, a!.approvalId), { ...deleted, decidedBy: by(ada) })
      }))
  }
})
