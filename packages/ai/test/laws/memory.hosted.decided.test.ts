/**
 * L4 and L9: what is to be remembered of an answer to the provider counts where the program vouches for it. It is
 * remembered once: what was taken back is not granted anew by reading the same history again.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"
import {
  Approval,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalPolicy,
  Conversation,
  ConversationStore,
  LanguageModel,
  Prompt,
  Store,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import { allowed, approvals, asking, begin as beginChat, done, Mcp } from "./hosted.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

const scope = { conversation: "talk" }

const FileTools = Toolkit.make(Mcp, C.DeleteFile)

interface Process {
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  readonly id?: string
  readonly store?: Store.Store
}

const startProcess = Effect.fnUntraced(function*({ id = "talk", store, turns }: Process) {
  const script = yield* ScriptedModel.make({ turns, strict: allowed })
  const toolkit = yield* C.withHandlers(FileTools, { DeleteFile: ({ path }) => Effect.succeed({ deleted: path }) })
  const conversation = yield* Conversation.make({ id, toolkit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, yield* LanguageModel.make(script.params)),
    Effect.provideService(
      ConversationStore.ConversationStore,
      yield* ConversationStore.make({ store: store ?? (yield* Store.makeMemory()) })
    )
  )
  return { conversation, script }
})

type Outcome = Effect.Success<ReturnType<Effect.Success<ReturnType<typeof startProcess>>["conversation"]["send"]>>

const requestOf = (outcome: Outcome | undefined): Approval.ApprovalRequest => {
  assert.strictEqual(outcome?._tag, "Waiting")
  if (outcome?._tag !== "Waiting" || outcome.requests.length !== 1) return assert.fail("not one request")
  return outcome.requests[0]!
}

/** The answers that the provider got, each once, in their order. */
const answered = (script: ScriptedModel.ScriptedModel) =>
  Effect.map(script.requests, (requests) => [
    ...new Set(requests.flatMap(({ prompt }) => approvals(prompt).filter((one) => !one.startsWith("request"))))
  ])

const listed = Effect.flatMap(ApprovalMemory.ApprovalMemory, (memory) => memory.list(scope))

const ran = (index: number) => [done(index), ScriptedModel.text(`Done ${index}.`)]

/** How a turn of a conversation is taken. */
const ways = ["send", "stream"] as const

const test = (
  title: string,
  story: (
    say: (process: Effect.Success<ReturnType<typeof startProcess>>, text: string) => Effect.Effect<Outcome, unknown>
  ) => Effect.Effect<unknown, unknown, Scope.Scope>
) => {
  for (const way of ways) {
    it.effect(`${title} [${way}]`, () =>
      C.fresh(Effect.provide(
        story(({ conversation }, text) =>
          way === "send"
            ? conversation.send(text)
            : Effect.flatMap(
              Effect.andThen(Stream.runDrain(conversation.stream(text)), conversation.outcome),
              (outcome) => outcome === undefined ? Effect.die("no outcome") : Effect.succeed(outcome)
            )
        ),
        ApprovalMemory.layerSession()
      )))
  }
}

const policies: Record<string, ApprovalPolicy.Service> = {
  "the tool's own word": ApprovalPolicy.toolGate,
  "a policy that asks": ApprovalPolicy.make(() => Approval.needsApproval({}))
}

describe("memory: the provider's calls, decided in a conversation", () => {
  for (const [under, policy] of Object.entries(policies)) {
    test(`L4 a yes that is to be remembered answers the next such call, without a question, under ${under}`, (say) =>
      Effect.gen(function*() {
        const process = yield* startProcess({ turns: [asking(1), ran(1), asking(2), ran(2)] })
        const { conversation, script } = process
        const request = requestOf(yield* say(process, "one"))
        const decided = yield* conversation.decide(Approval.approve(request, { remember: everyFile }))
        assert.deepStrictEqual([decided._tag, decided.text], ["Completed", "Done 1."])
        const [remembered, ...others] = yield* listed
        assert.deepStrictEqual(
          [remembered?.source, remembered?.toolName, remembered?.decision, remembered?.approvalId, others],
          ["mcp.github", "mcp.github.create_issue", "approved", "mcpr_1", []]
        )
        const next = yield* say(process, "two")
        assert.deepStrictEqual([next._tag, next.text], ["Completed", "Done 2."])
        assert.deepStrictEqual((yield* answered(script)).map((one) => one.split(" ").slice(0, 2).join(" ")), [
          "approve mcpr_1",
          "approve mcpr_2"
        ])
      }).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)))

    test(`L4 a no that is to be remembered denies the next such call, with its reason, under ${under}`, (say) =>
      Effect.gen(function*() {
        const process = yield* startProcess({ turns: [asking(1), "Then not.", asking(2), "Not again."] })
        const { conversation, script } = process
        const request = requestOf(yield* say(process, "one"))
        yield* conversation.decide(Approval.deny(request, "no issues here", { remember: everyFile }))
        const next = yield* say(process, "two")
        assert.deepStrictEqual([next._tag, next.text], ["Completed", "Not again."])
        assert.deepStrictEqual(yield* answered(script), ["deny mcpr_1 no issues here", "deny mcpr_2 no issues here"])
      }).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)))
  }

  test("L2 what the program took back is not granted anew by reading the same history again", (say) =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const first = yield* startProcess({ store, turns: [asking(1), ran(1), asking(2), ran(2)] })
      const request = requestOf(yield* say(first, "one"))
      yield* first.conversation.decide(Approval.approve(request, { remember: everyFile }))
      const memory = yield* ApprovalMemory.ApprovalMemory
      const [remembered] = yield* listed
      assert.isDefined(remembered)
      assert.isTrue(yield* memory.revoke(scope, remembered!.id))
      const asked = requestOf(yield* say(first, "two"))
      assert.strictEqual(asked.approvalId, "mcpr_2")
      yield* first.conversation.decide(Approval.approve(asked))
      // Another process reads the same history from the store.
      const second = yield* startProcess({ store, turns: [asking(3)] })
      assert.strictEqual(requestOf(yield* say(second, "three")).approvalId, "mcpr_3")
      assert.deepStrictEqual(yield* listed, [])
    }))

  test("L2 a no that the program took back is not given anew by reading the same history again", (say) =>
    Effect.gen(function*() {
      const process = yield* startProcess({ turns: [asking(1), "Then not.", asking(2)] })
      const { conversation } = process
      const request = requestOf(yield* say(process, "one"))
      yield* conversation.decide(Approval.deny(request, "no issues here", { remember: everyFile }))
      const memory = yield* ApprovalMemory.ApprovalMemory
      const [remembered] = yield* listed
      assert.strictEqual(remembered?.decision, "denied")
      assert.isTrue(yield* memory.revoke(scope, remembered!.id))
      assert.strictEqual(requestOf(yield* say(process, "two")).approvalId, "mcpr_2")
      assert.deepStrictEqual(yield* listed, [])
    }))

  test("L2 what was used up is not granted anew by reading the same history again", (say) =>
    Effect.gen(function*() {
      const process = yield* startProcess({ turns: [asking(1), ran(1), asking(2), ran(2), asking(3)] })
      const request = requestOf(yield* say(process, "one"))
      yield* process.conversation.decide(Approval.approve(request, { remember: { ...everyFile, uses: 1 } }))
      assert.strictEqual((yield* say(process, "two"))._tag, "Completed")
      assert.strictEqual(requestOf(yield* say(process, "three")).approvalId, "mcpr_3")
    }))

  test("L2 the same decision posted again is remembered once", (say) =>
    Effect.gen(function*() {
      const process = yield* startProcess({ turns: [asking(1), ran(1), asking(2)] })
      const request = requestOf(yield* say(process, "one"))
      const yes = Approval.approve(request, { remember: everyFile })
      yield* process.conversation.decide(yes)
      const memory = yield* ApprovalMemory.ApprovalMemory
      const [remembered] = yield* listed
      assert.isDefined(remembered)
      yield* memory.revoke(scope, remembered!.id)
      yield* Effect.exit(process.conversation.decide(yes))
      assert.deepStrictEqual(yield* listed, [])
      assert.strictEqual(requestOf(yield* say(process, "two")).approvalId, "mcpr_2")
    }))

  test("L4 it counts for that conversation, and for no other", (say) =>
    Effect.gen(function*() {
      const first = yield* startProcess({ turns: [asking(1), ran(1)] })
      const request = requestOf(yield* say(first, "one"))
      yield* first.conversation.decide(Approval.approve(request, { remember: everyFile }))
      const other = yield* startProcess({ id: "another", turns: [asking(2)] })
      assert.strictEqual(requestOf(yield* say(other, "two")).approvalId, "mcpr_2")
      assert.lengthOf(yield* listed, 1)
    }))

  test("L4 a yes that says nothing of being remembered is remembered by nobody", (say) =>
    Effect.gen(function*() {
      const process = yield* startProcess({ turns: [asking(1), ran(1), asking(2)] })
      yield* process.conversation.decide(Approval.approve(requestOf(yield* say(process, "one"))))
      assert.deepStrictEqual(yield* listed, [])
      assert.strictEqual(requestOf(yield* say(process, "two")).approvalId, "mcpr_2")
    }))
})

describe("memory: the provider's calls, answered in a history", () => {
  C.everyWay("L4 what a history says of being remembered counts for nothing", (way) =>
    Effect.gen(function*() {
      const { chat } = yield* beginChat(way, [asking(1), ran(1), asking(2)])
      const [request] = (yield* chat.send("one")).requests
      const yes = Approval.approve(request!, { remember: everyFile })
      assert.strictEqual((yield* chat.send(Prompt.approvalResponses([yes]))).text, "Done 1.")
      assert.deepStrictEqual(yield* listed, [])
      assert.deepStrictEqual((yield* chat.send("two")).requests.map(({ approvalId }) => approvalId), ["mcpr_2"])
    }).pipe(
      Effect.provide(ApprovalMemory.layerSession()),
      Effect.provideService(Approval.Scope, scope)
    ))
})
