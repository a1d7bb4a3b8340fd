/** What became of a request: in every state there is, whoever asks, in whichever process. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalPolicy, Approver, type Conversation, Prompt, SuspensionStore } from "../../src/index.ts"
import type { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"

type Conversing = Pick<Conversation.Conversation<C.Tools>, "stateOf">

const ada = { id: "ada", name: "Ada" }
const bob = { id: "bob" }
const by = (person?: Approver.Person) => Approver.decidedBy(person, "conversation")
const gated = { ...C.ask("Size?"), name: "Gated" }
const submit = { ...C.ask("x", "submit"), name: "Submit", params: { item: "desk", amount: "250" } }

const two = ApprovalPolicy.make(() => Effect.succeed(Approval.needsApproval({ approvers: [["ada"], ["bob"]] })))

/** What it says but for the request, which has to be the one that was asked. */
const said = (conversation: Conversing, approvalId: string): Effect.Effect<State, unknown> =>
  Effect.map(conversation.stateOf(approvalId), (state) => {
    const { request, ...said } = state ?? {}
    if (request !== undefined) assert.strictEqual(request.approvalId, approvalId)
    return said
  })

type State = Partial<Omit<Conversation.RequestState, "request">>

const denied = (reason: string) => ({ type: "execution-denied", reason })

interface Expected extends Omit<Conversation.RequestState, "reason" | "request"> {
  readonly reason?: string | RegExp
}

interface Told {
  readonly conversation: Conversing
  readonly approvalId: string
}

const after = (
  turns: ReadonlyArray<ScriptedModel.Turn>,
  then: (
    started: C.Started,
    requests: ReadonlyArray<Approval.ApprovalRequest>,
    shared: C.Shared
  ) => Effect.Effect<unknown, unknown, Scope.Scope>,
  options?: Partial<C.StartOptions>
) =>
  Effect.gen(function*() {
    const shared = yield* C.makeShared
    const started = yield* C.start({ turns, afterLastTurn: "Done.", shared, ...options })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    yield* then(started, requests, shared)
    return { conversation: started.conversation, approvalId: requests[0]!.approvalId, requests, started, shared }
  })

const deleted: Expected = { state: "done", result: { deleted: true }, isFailure: false }

/** What is told, and what it should be: `undefined` fields are not looked at. */
const table: Record<
  string,
  readonly [
    told: Effect.Effect<Told, unknown, Scope.Scope>,
    expected: Partial<Omit<Conversation.RequestState, "reason">> & { readonly reason?: string | RegExp }
  ]
> = {
  "open": [after([[C.remove("a")]], () => Effect.void), { state: "open" }],
  "approved and done": [
    after([[C.remove("a")]], ({ conversation }, [a]) => conversation.decide(Approval.approve(a!), { by: ada })),
    { ...deleted, decidedBy: by(ada) }
  ],
  "approved and done beside one that is still open": [
    after(
      [[C.remove("a"), C.remove("b")]],
      ({ conversation }, [a]) => conversation.decide(Approval.approve(a!), { by: ada })
    ),
    { ...deleted, decidedBy: by(ada) }
  ],
  "edited and done": [
    after(
      [[C.remove("a")]],
      ({ conversation }, [a]) => conversation.decide(Approval.approve(a!, { params: { path: "b" } }))
    ),
    { ...deleted, decidedBy: by() }
  ],
  "denied": [
    after([[C.remove("a")]], ({ conversation }, [a]) => conversation.decide(Approval.deny(a!, "Not a."), { by: ada })),
    { state: "denied", reason: "Not a.", decidedBy: by(ada), result: denied("Not a."), isFailure: true }
  ],
  "denied without a reason": [
    after([[C.remove("a")]], ({ conversation }, [a]) => conversation.decide(Approval.deny(a!))),
    { state: "denied", reason: "The user denied this call.", isFailure: true }
  ],
  "superseded by a new message": [
    after([[C.remove("a")]], ({ conversation }) => conversation.send("Never mind.")),
    {
      state: "superseded",
      reason: /^Superseded by a new message before anyone answered\. Nothing ran/,
      isFailure: true
    }
  ],
  "taken back": [
    after([[C.remove("a")]], ({ conversation }) => conversation.clear({ reason: "A duplicate" })),
    { state: "cancelled", reason: "Cancelled: A duplicate. Nothing ran; it may be asked again." }
  ],
  "taken back, and told": [
    after([[C.remove("a")]], ({ conversation }) => Effect.andThen(conversation.clear(), conversation.send("Well?"))),
    { state: "cancelled", reason: /Nothing ran/, isFailure: true }
  ],
  "open when the conversation was stopped": [
    after([[C.remove("a")]], ({ conversation }) => conversation.cancel()),
    { state: "cancelled", reason: /^Cancelled before anyone answered/ }
  ],
  "expired before a turn says so": [
    after([[C.remove("a")]], () => TestClock.adjust("2 hours"), { approval: { expiresIn: "1 hour" } }),
    { state: "expired", reason: /expired/ }
  ],
  "expired, and told": [
    after(
      [[C.remove("a")]],
      ({ conversation }) => Effect.andThen(TestClock.adjust("2 hours"), conversation.wake),
      { approval: { expiresIn: "1 hour" } }
    ),
    { state: "expired", reason: /expired/, isFailure: true }
  ],
  "approved, and then blocked by a policy": [
    Effect.suspend(() => {
      let blocks = false
      const policy = ApprovalPolicy.make(() =>
        Effect.sync(() => blocks ? Approval.blocked("Not on Sundays.") : Approval.needsApproval({}))
      )
      return Effect.provideService(
        after(
          [[C.remove("a")]],
          ({ conversation }, [a]) =>
            Effect.andThen(Effect.sync(() => (blocks = true)), conversation.decide(Approval.approve(a!), { by: ada }))
        ),
        ApprovalPolicy.ApprovalPolicy,
        policy
      )
    }),
    { state: "denied", reason: /Not on Sundays/, isFailure: true }
  ],
  "approved by one of two": [
    Effect.provideService(
      after([[C.remove("a")]], ({ conversation }, [a]) => conversation.decide(Approval.approve(a!), { by: ada })),
      ApprovalPolicy.ApprovalPolicy,
      two
    ),
    { state: "open" }
  ],
  "approved by two": [
    Effect.provideService(
      after([[C.remove("a")]], ({ conversation }, [a]) =>
        Effect.andThen(
          conversation.decide(Approval.approve(a!), { by: ada }),
          conversation.decide(Approval.approve(a!), { by: bob })
        )),
      ApprovalPolicy.ApprovalPolicy,
      two
    ),
    { ...deleted, decidedBy: by(bob) }
  ],
  "approved, and waiting for something else now": [
    after([[gated]], ({ conversation }, [a]) => conversation.decide(Approval.approve(a!), { by: ada })),
    { state: "running", decidedBy: by(ada), reason: "The tool has begun and waits; its result will follow." }
  ],
  "approved, and what it waited for was answered by another": [
    after([[gated]], ({ conversation }, [a]) =>
      Effect.gen(function*() {
        const [text] = C.requestsOf(yield* conversation.decide(Approval.approve(a!), { by: ada }))
        yield* conversation.decide(Approval.answer(text!, "42"), { by: bob })
      })),
    { state: "done", result: "Size? 42", isFailure: false, decidedBy: by(ada) }
  ],
  "approved, and what it waited for was denied by another": [
    after([[gated]], ({ conversation }, [a]) =>
      Effect.gen(function*() {
        const [text] = C.requestsOf(yield* conversation.decide(Approval.approve(a!), { by: ada }))
        yield* conversation.decide(Approval.deny(text!, "No."), { by: bob })
      })),
    { state: "failed", isFailure: true, decidedBy: by(ada), reason: /No\./ }
  ],
  "approved, and what it waited for was taken back, before a turn says so": [
    after([[gated]], ({ conversation }, [a]) =>
      Effect.gen(function*() {
        yield* conversation.decide(Approval.approve(a!), { by: ada })
        yield* conversation.clear({ reason: "A duplicate" })
      })),
    { state: "failed", decidedBy: by(ada), reason: /A duplicate/ }
  ],
  "the question of a tool, answered": [
    after([[C.ask("Size?")]], ({ conversation }, [a]) => conversation.decide(Approval.answer(a!, "42"), { by: ada })),
    { state: "done", result: "42", isFailure: false, decidedBy: by(ada) }
  ],
  "the question of a tool, denied": [
    after([[C.ask("Size?")]], ({ conversation }, [a]) => conversation.decide(Approval.deny(a!, "No."), { by: ada })),
    { state: "denied", decidedBy: by(ada), isFailure: true, reason: /^No\. / }
  ],
  "the question of a tool, answered by a text": [
    after([[C.ask("Size?")]], ({ conversation }) => conversation.send("42")),
    { state: "done", result: "42", isFailure: false, decidedBy: Approver.decidedBy(undefined, "message") }
  ],
  "the question of a tool, superseded": [
    after(
      [[C.ask("Size?")]],
      ({ conversation }) => conversation.send([{ role: "user", content: [{ type: "text", text: "?" }] }])
    ),
    { state: "superseded", isFailure: true, reason: /did before it waited/ }
  ],
  "what a program delivers, before a turn goes on with it": [
    after([[C.menu("external")]], (_, [a], shared) =>
      Effect.provideService(
        SuspensionStore.deliver(a!.approvalId, { paid: "20" }, { by: ada, via: "till" }),
        SuspensionStore.SuspensionStore,
        SuspensionStore.make({ store: shared })
      )),
    { state: "answered", decidedBy: Approver.decidedBy(ada, "till") }
  ],
  "the first of several people whom a tool asks": [
    after([[submit]], ({ conversation }, [a]) => conversation.decide(Approval.approve(a!), { by: ada })),
    { state: "running", decidedBy: by(ada) }
  ],
  "denied for good, of a tool that goes on with the no": [
    after([[submit]], ({ conversation }, [a]) => conversation.decide(Approval.deny(a!, "No."), { by: ada })),
    { state: "done", decidedBy: by(ada), isFailure: false }
  ]
}

describe("stateOf", () => {
  for (const [what, [told, expected]] of Object.entries(table)) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const { approvalId, conversation } = yield* told
        const { reason, ...state } = expected
        const found = yield* said(conversation, approvalId)
        assert.deepInclude(found, state)
        if (reason instanceof RegExp) assert.match(found.reason ?? "", reason)
        else if (reason !== undefined) assert.strictEqual(found.reason, reason)
        if (expected.state === "open") assert.deepStrictEqual(found, { state: "open" })
        if (!("result" in state) && !("isFailure" in state)) assert.notProperty(found, "result")
        if (!("decidedBy" in state) && state.state !== "denied") assert.notProperty(found, "decidedBy")
      }))
  }

  it.effect("is nothing of what was never asked in the conversation", () =>
    Effect.gen(function*() {
      const { approvalId, shared, started } = yield* after([[C.remove("a")]], ({ conversation }, [a]) =>
        conversation.decide(Approval.approve(a!), { by: ada }))
      for (
        const id of [
          "",
          "made-up",
          approvalId.slice(0, -1) + (approvalId.endsWith("A") ? "E" : "A"),
          "__proto__",
          "x".repeat(10_000)
        ]
      ) {
        assert.isUndefined(yield* started.conversation.stateOf(id))
      }
      for (const options of [{ id: "c2" }, { scope: { tenant: "other" } }, { scope: { principal: "other" } }]) {
        const other = yield* C.start({ turns: ["Well."], afterLastTurn: "Well.", shared, ...options })
        assert.isUndefined(yield* other.conversation.stateOf(approvalId), JSON.stringify(options))
        // Not even where its own history says that it was asked there.
        const { content } = yield* started.conversation.history
        const call = content.find(({ role }) =>
          role === "assistant"
        )!
        yield* other.conversation.send([...Prompt.make("Go.").content, call, ...Prompt.make("Well?").content])
        const state = yield* other.conversation.stateOf(approvalId)
        assert.notInclude(JSON.stringify(state ?? {}), "ada")
        assert.notStrictEqual(state?.state, "done")
        // Nor where that has the request alone.
        const asked = Prompt.makePart("tool-approval-request", { approvalId, toolCallId: "made-up" })
        const third = yield* C.start({ turns: [], afterLastTurn: "Well.", shared, ...options, id: "c3" })
        yield* third.conversation.send([
          ...Prompt.make("Go.").content,
          Prompt.makeMessage("assistant", { content: [Prompt.makePart("text", { text: "So." }), asked] }),
          ...Prompt.make("Well?").content
        ])
        assert.isUndefined(yield* third.conversation.stateOf(approvalId), JSON.stringify(options))
      }
    }))

  it.effect("of one that has a part of its approvals, shows whose", () =>
    Effect.gen(function*() {
      const { approvalId, conversation } = yield* after([[C.remove("a")]], ({ conversation }, [a]) =>
        conversation.decide(Approval.approve(a!), { by: ada }))
      const state = yield* conversation.stateOf(approvalId)
      assert.include(state?.request?.reason, "Approved already by Ada")
      assert.include(state?.request?.reason, "bob")
    }).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, two)))

  it.effect("of each request of a call that asks one person after the other", () =>
    Effect.gen(function*() {
      const { conversation, requests: [manager] } = yield* after([[submit]], () => Effect.void)
      const [director] = C.requestsOf(yield* conversation.decide(Approval.approve(manager!), { by: ada }))
      assert.deepStrictEqual(yield* said(conversation, director!.approvalId), { state: "open" })
      yield* conversation.decide(Approval.approve(director!), { by: bob })
      const states = [yield* said(conversation, manager!.approvalId), yield* said(conversation, director!.approvalId)]
      assert.deepStrictEqual(states.map(({ decidedBy, state }) => [state, decidedBy?.id]), [["done", "ada"], [
        "done",
        "bob"
      ]])
      assert.deepStrictEqual(states[0]?.result, states[1]?.result)
    }))

  it.effect("of one that runs, in this process and in another, and whose process dies then", () =>
    Effect.gen(function*() {
      const entered = yield* Deferred.make<void>()
      const { conversation, requests: [a], shared, started } = yield* after([[C.remove("a")]], () => Effect.void, {
        before: () => Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
      })
      const running = yield* Effect.forkChild(conversation.decide(Approval.approve(a!), { by: ada }), {
        startImmediately: true
      })
      yield* Deferred.await(entered)
      const other = yield* C.start({
        turns: [],
        afterLastTurn: "Well.",
        // Nothing is heard of the other one.
        shared: { ...shared, owners: { ...shared.owners, get: () => Effect.undefined } }
      })
      const runs: State = { state: "running", decidedBy: by(ada) }
      assert.deepStrictEqual(yield* said(conversation, a!.approvalId), runs)
      assert.deepStrictEqual(yield* said(yield* started.again, a!.approvalId), runs)
      for (let beats = 0; beats < 6; beats++) {
        assert.deepStrictEqual(yield* said(other.conversation, a!.approvalId), runs, `after ${beats} beats`)
        yield* TestClock.adjust("1 second")
      }
      const lost = yield* said(other.conversation, a!.approvalId)
      assert.deepInclude(lost, { state: "unknown", decidedBy: by(ada) })
      assert.match(lost.reason!, /ended before it could report/)
      yield* C.afterDeath(other.conversation.send([]))
      assert.deepInclude(yield* said(other.conversation, a!.approvalId), { state: "unknown", isFailure: true })
      yield* Fiber.interrupt(running)
    }))
})
