/** What waits is taken back: cancelled, and not a person's no. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  type ApprovalError,
  ApprovalJournal,
  ApprovalMemory,
  Conversation,
  LanguageModel,
  type Store,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { decodeEntry } from "../../src/internal/journal/entry.ts"
import * as Records from "../../src/internal/journal/records.ts"
import * as ApprovalId from "../../src/internal/seal/approvalId.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as H from "../laws/hosted.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

const submit = { ...C.ask("x"), name: "Submit", id: "submit", params: { item: "desk", amount: "250" } }

const idsOf = (requests: ReadonlyArray<Approval.ApprovalRequest>) => requests.map(({ approvalId }) => approvalId)

/** Everything at once: an approval, two questions, and a manager who is asked. */
const begin = (options?: Partial<C.StartOptions>) =>
  Effect.gen(function*() {
    const shared = options?.shared ?? (yield* C.makeShared)
    const started = yield* C.start({
      turns: [[C.remove("a"), C.ask("Size?"), C.ask("Colour?"), submit], "Well.", "And more."],
      strict: {},
      ...options,
      shared
    })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    return { ...started, requests, shared }
  })

const stateOf = (store: Store.Store, { approvalId, toolCallId, toolName }: Approval.ApprovalRequest) => {
  const { expiresAt, nonce } = ApprovalId.parse(approvalId)!
  const key = Records.keyOf({ approvalId, nonce, expiresAt, toolCallId, toolName })
  return Effect.map(store.requests.get(key), (stored) => Result.getOrThrow(decodeEntry(stored!)).state)
}

const deliver = (store: Store.Store, { approvalId }: Approval.ApprovalRequest, answer: Schema.Json) =>
  Effect.provideService(
    SuspensionStore.deliver(approvalId, answer),
    SuspensionStore.SuspensionStore,
    SuspensionStore.make({ store })
  )

/** The results that the model was sent last, by their calls. */
const lastResults = (script: C.Started["script"]) =>
  Effect.map(
    C.prompts(script),
    (prompts) =>
      new Map(prompts.at(-1)!.content.flatMap(({ content }) =>
        typeof content === "string"
          ? []
          : content.flatMap((part) => part.type === "tool-result" ? [[part.id, part]] : [])
      ))
  )

const reasonIn = (part: { readonly result: unknown } | undefined) =>
  Schema.decodeUnknownSync(Schema.Struct({ type: Schema.String, reason: Schema.String }))(part?.result)

const which = {
  "all of it": { options: undefined, cleared: [0, 1, 2, 3] },
  "what is to be approved before it runs": { options: { kind: "approval" }, cleared: [0] },
  "one kind": { options: { kind: "askUser" }, cleared: [1, 2] },
  "one tool by its name": { options: { tool: "Ask" }, cleared: [1, 2] },
  "one tool": { options: { tool: W.Submit }, cleared: [3] },
  "what one interaction waits for": { options: { interaction: "manager" }, cleared: [3] },
  "one interaction of one tool": { options: { tool: W.Submit, interaction: "text" }, cleared: [] },
  "none": { options: { kind: "webhook" }, cleared: [] }
} satisfies Record<string, { readonly options: Conversation.ClearOptions | undefined; readonly cleared: Array<number> }>

describe("clear", () => {
  for (const [what, { cleared, options }] of Object.entries(which)) {
    it.effect(`takes back ${what}, and nothing else; the model is not called`, () =>
      Effect.gen(function*() {
        const { conversation, requests, script, shared, steps } = yield* begin()
        const taken = cleared.map((index) => requests[index]!)
        const before = steps.length
        assert.deepStrictEqual(idsOf(yield* conversation.clear(options)), idsOf(taken))
        assert.deepStrictEqual(
          idsOf(yield* conversation.pending()),
          idsOf(requests.filter((request) => !taken.includes(request)))
        )
        for (const request of taken) assert.strictEqual(yield* stateOf(shared, request), "cancelled")
        assert.deepStrictEqual([yield* script.calls, steps.length], [1, before])
        assert.deepStrictEqual(yield* conversation.clear(options), [], "once")
      }))
  }

  for (const onNewMessage of ["supersede", "keep", "hold", "fail"] as const) {
    it.effect(`after it the conversation goes on, with onNewMessage "${onNewMessage}"`, () =>
      Effect.gen(function*() {
        const { conversation, script, steps } = yield* begin({ approval: { onNewMessage } })
        const before = steps.length
        yield* conversation.clear({ reason: "another desk came" })
        assert.strictEqual(C.finished(yield* conversation.send("What now?")), "Well.")
        assert.lengthOf(steps, before, "nothing ran, and no tool went on with a no")
        const results = yield* lastResults(script)
        const notBegun = reasonIn(results.get("remove-a"))
        assert.strictEqual(notBegun.type, "execution-interrupted")
        assert.strictEqual(
          notBegun.reason,
          "Cancelled: another desk came. Nothing ran; it may be asked again."
        )
        for (const id of ["ask-Size?", "ask-Colour?", "submit"]) {
          const { reason, type } = reasonIn(results.get(id))
          assert.strictEqual(type, "execution-interrupted")
          assert.match(reason, /^Cancelled while the tool waited for "(text|manager)": another desk came\. It did not/)
          assert.notInclude(reason, "Nothing ran")
        }
        assert.strictEqual(C.finished(yield* conversation.send("Go on.")), "And more.")
        assert.strictEqual(yield* script.calls, 3)
      }))
  }

  it.effect("goes on without a word too, and is told to the model once", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* begin()
      yield* conversation.clear()
      assert.strictEqual(C.finished(yield* conversation.send([])), "Well.")
      assert.strictEqual(
        reasonIn((yield* lastResults(script)).get("remove-a")).reason,
        "Cancelled before anyone answered. Nothing ran; it may be asked again."
      )
      yield* conversation.send([])
      assert.strictEqual(yield* script.calls, 2)
    }))

  it.effect("leaves the rest of the batch to be answered, and the model is called when all of it is", () =>
    Effect.gen(function*() {
      const { conversation, requests, script, steps } = yield* begin()
      yield* conversation.clear({ kind: "approval" })
      yield* conversation.clear({ tool: "Submit" })
      C.requestsOf(yield* conversation.send("42"))
      assert.strictEqual(yield* script.calls, 1)
      assert.strictEqual(C.finished(yield* conversation.send("red")), "Well.")
      assert.deepStrictEqual(steps.slice(3), [["text", "42"], ["text", "red"]])
      assert.isTrue((yield* lastResults(script)).get("remove-a")!.isFailure)
      assert.lengthOf(requests, 4)
    }))

  it.effect("is final: what was taken back cannot be decided, delivered or resumed, and the error says so", () =>
    Effect.gen(function*() {
      const { conversation, requests, shared, steps } = yield* begin()
      yield* conversation.clear()
      const before = steps.length
      const [approval, question, , manager] = requests
      for (const answer of [Approval.approve(approval!), Approval.deny(approval!), Approval.answer(question!, "42")]) {
        const { reason } = yield* Effect.flip(conversation.decide(answer)) as Effect.Effect<ApprovalError.ApprovalError>
        assert.deepStrictEqual([reason._tag, "state" in reason ? reason.state : ""], ["AlreadyDecided", "cancelled"])
      }
      yield* Effect.flip(conversation.resume(W.Submit, "manager", { approved: true }))
      const late = yield* Effect.flip(deliver(shared, manager!, { approved: true }))
      assert.strictEqual(late.reason._tag, "AlreadyDecided")
      yield* conversation.send("Well?")
      assert.lengthOf(steps, before)
    }))

  it.effect("is the same for another process, which may answer the rest", () =>
    Effect.gen(function*() {
      const { conversation, requests, shared } = yield* begin()
      yield* conversation.clear({ kind: "askUser" })
      const other = yield* C.start({ shared, turns: ["Well."] })
      assert.deepStrictEqual(idsOf(yield* other.conversation.pending()), idsOf([requests[0]!, requests[3]!]))
      yield* Effect.flip(other.conversation.decide(Approval.answer(requests[1]!, "42")))
      yield* other.conversation.decide([Approval.approve(requests[0]!), Approval.deny(requests[3]!)])
      assert.deepStrictEqual(other.steps.map(([name]) => name), ["DeleteFile", "manager"])
    }))

  it.effect("does not take back what was answered, or settled by somebody else meanwhile", () =>
    Effect.gen(function*() {
      const store = yield* C.makeShared
      const { conversation, requests } = yield* begin({ shared: store })
      const [approval] = requests
      const { expiresAt, nonce } = ApprovalId.parse(approval!.approvalId)!
      const { approvalId, toolCallId, toolName } = approval!
      const journal = yield* ApprovalJournal.make({ store })
      yield* journal.end({ approvalId, nonce, expiresAt, toolCallId, toolName }, "denied", "no")
      assert.deepStrictEqual(idsOf(yield* conversation.clear()), idsOf(requests.slice(1)))
      assert.strictEqual(yield* stateOf(store, approval!), "denied")
    }))

  it.effect("leaves what was delivered: it was accepted, and its turn goes on with it", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation, steps } = yield* C.start({
        shared,
        turns: [[C.menu("external"), C.menu("timer")], "Paid."]
      })
      const [external, timer] = C.requestsOf(yield* conversation.send("Pay."))
      yield* deliver(shared, external!, { paid: "20" })
      assert.deepStrictEqual(idsOf(yield* conversation.clear()), idsOf([timer!]))
      assert.strictEqual(C.finished(yield* conversation.wake), "Paid.")
      assert.deepStrictEqual(steps.slice(2), [["external", { paid: 20 }]])
    }))

  it.effect("of what the model has gone on beside is told at the end, and a timer does not fire (law L7)", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({
        turns: [[C.menu("timer"), C.remove("a")], "Of course.", "I see.", "Bye."],
        approval: { onNewMessage: "keep" },
        strict: {}
      })
      yield* conversation.send("Remind me.")
      C.finished(yield* conversation.send("How are you?"))
      assert.lengthOf(yield* conversation.clear({ reason: "not needed" }), 2)
      yield* TestClock.adjust("3 hours")
      assert.isUndefined(yield* conversation.wake)
      assert.strictEqual(C.finished(yield* conversation.send("Well?")), "I see.")
      assert.deepStrictEqual(steps, [["start", "timer"]])
      const said = JSON.stringify((yield* C.prompts(script)).at(-1))
      assert.include(said, "Cancelled: not needed. Nothing ran")
      assert.include(said, "Cancelled while the tool waited")
      assert.strictEqual(C.finished(yield* conversation.send("Bye.")), "Bye.")
    }))

  it.effect("tells a provider that asks for itself, which knows of yes and no alone, with the reason", () =>
    Effect.gen(function*() {
      const script = yield* ScriptedModel.make({ turns: [H.asking(1), "Then not."], strict: H.allowed })
      const conversation = yield* Effect.provideServiceEffect(
        Conversation.make({ id: "clear-hosted", toolkit: Toolkit.make(H.Mcp) }),
        LanguageModel.LanguageModel,
        LanguageModel.make(script.params)
      )
      C.requestsOf(yield* conversation.send("Open an issue."))
      assert.lengthOf(yield* conversation.clear({ reason: "a duplicate" }), 1)
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.strictEqual(C.finished(yield* conversation.send("Well?")), "Then not.")
      assert.deepStrictEqual(H.approvals((yield* C.prompts(script)).at(-1)!), [
        "request mcpr_1",
        "deny mcpr_1 Cancelled: a duplicate. Nothing ran; it may be asked again."
      ])
    }))

  it.effect("is in the journal of the model's own layer", () =>
    Effect.gen(function*() {
      const { conversation, requests, shared } = yield* begin({ layered: true })
      yield* conversation.clear()
      assert.strictEqual(yield* stateOf(shared, requests[0]!), "cancelled")
    }))

  it.effect("is not remembered: the same call is asked about again", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.remove("a")], [C.remove("a", "again")], "Well."] })
      yield* conversation.send("Go.")
      yield* conversation.clear()
      const [again] = C.requestsOf(yield* conversation.send("Try again."))
      assert.deepStrictEqual([again?.toolCallId, again?.interaction], ["again", "approval"])
    }).pipe(Effect.provide(ApprovalMemory.layerSession())))
})
