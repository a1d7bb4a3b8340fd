/**
 * L2: what the model was told to be unknown is looked up again in each turn, and told when it is on record after all. The
 * journal here is made to say so; runs/death has processes that seem dead.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalError,
  ApprovalJournal,
  DeferredTool,
  Interaction,
  type Prompt,
  Tool
} from "../../src/index.ts"
import { ScriptedModel, StrictProvider } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Laws from "../laws/support.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

const lost = "The process ended; what it did is unknown. Check before calling again."

/** A journal in which a run is unknown until it is said how it ended. */
const journalOf = (journal: ApprovalJournal.Service) => {
  const finds: Array<string> = []
  let known: Partial<ApprovalJournal.Entry> = { state: "unknown", reason: lost }
  let begun: string | undefined
  let fails = false
  const entryOf = ({ toolCallId, toolName }: ApprovalJournal.Claim) =>
    new ApprovalJournal.Entry({ state: "unknown", toolName, toolCallId, at: 0, ...known })
  const service: ApprovalJournal.Service = {
    ...journal,
    find: (claim) =>
      Effect.suspend(() => {
        finds.push(claim.approvalId)
        if (fails) {
          return Effect.fail(
            ApprovalError.make(new ApprovalError.JournalUnavailable({ description: "The store is down." }))
          )
        }
        return claim.approvalId === begun ? Effect.succeed(entryOf(claim)) : journal.find(claim)
      }),
    run: (claim, options) =>
      begun === undefined
        ? Effect.sync(() => {
          begun = claim.approvalId
          return { entry: entryOf(claim), ran: undefined }
        })
        : journal.run(claim, options)
  }
  return {
    service,
    finds: () => finds.splice(0),
    fail: (now: boolean) => {
      fails = now
    },
    ends: (entry: Partial<ApprovalJournal.Entry>) => {
      known = entry
    }
  }
}

const recorded = (encodedResult: Schema.Json, isFailure = false) => ({
  state: isFailure ? "failed" : "done",
  recorded: new ApprovalJournal.Recorded({ isFailure, encodedResult })
} as const)

const paid = recorded(Laws.chargedEncoded(5))

/** A chat that was told that nobody knows what became of a charge. */
const told = Effect.fnUntraced(function*(mode: Laws.Mode, options: Partial<Laws.ConversationOptions> = {}) {
  const journal = journalOf(yield* ApprovalJournal.ApprovalJournal)
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, ApprovalJournal.ApprovalJournal, journal.service)
  const tools = yield* Laws.makeTools()
  const calls = [Laws.call("c1", "Charge", { amount: "5" })]
  const asked = yield* within(Laws.ask(mode, { toolkit: tools.toolkit, calls }))
  const script = yield* Laws.answering
  const with_ = { model: script.model, toolkit: tools.toolkit, ...options }
  const chat = yield* Laws.converse(mode, { ...with_, history: asked.history })
  const take = (prompt?: Prompt.RawInput, more?: Laws.CallOptions) => within(chat.take(prompt, more))
  const first = yield* take(Laws.answers(Approval.approve(asked.requests[0]!)))
  assert.strictEqual(Laws.failureReason(first.results[0]), lost)
  journal.finds()
  return {
    approvalId: asked.requests[0]!.approvalId,
    history: chat.history,
    /** Another chat that goes on from a history. */
    from: (history: Prompt.Prompt) =>
      Effect.map(
        Laws.converse(mode, { ...with_, history }),
        ({ take }) => (prompt: Prompt.RawInput) => within(take(prompt))
      ),
    journal,
    script,
    take,
    tools
  }
})

const toldLate = { tool: "Charge", toolCallId: "c1", isFailure: false, result: Laws.chargedEncoded(5) }

describe("a call that the model was told is unknown", () => {
  Laws.forEachMode("is looked up once a turn, and told once, in the same words from then on", function*(mode) {
    const { approvalId, journal, script, take } = yield* told(mode)
    assert.deepStrictEqual((yield* take("Well?")).results, [])
    assert.deepStrictEqual(journal.finds(), [approvalId])
    journal.ends(paid)
    const turn = yield* take("And now?")
    assert.deepStrictEqual(turn.results.map(({ id, result }) => [id, result]), [["c1", Laws.charged(5)]])
    assert.deepStrictEqual(turn.results[0]?.metadata.assent, { approvalId, told: lost, after: 2 })
    assert.deepStrictEqual(journal.finds(), [approvalId])
    assert.deepStrictEqual((yield* take("Thanks.")).results, [])
    assert.deepStrictEqual((yield* take("Bye.")).results, [])
    assert.deepStrictEqual(journal.finds(), [], "it is known")
    const prompts = (yield* script.requests).map(({ prompt }) => prompt)
    assert.deepStrictEqual(prompts.map((prompt) => C.lateIn(prompt).length), [0, 0, 1, 1, 1])
    for (const [index, prompt] of prompts.entries()) {
      assert.deepStrictEqual(StrictProvider.check(prompt), [])
      assert.deepStrictEqual(C.resultsOf(prompt).map(C.reasonOf), [lost])
      for (const [at, message] of (prompts[index - 1]?.content ?? []).entries()) {
        assert.isTrue(prompt.content[at] === message)
      }
    }
    assert.deepStrictEqual(C.lateIn(prompts.at(-1)!), [toldLate])
  })

  Laws.forEachMode(
    "is told that it failed, or that its result is no longer kept, where that is what is known",
    function*(mode) {
      for (
        const [entry, said] of [[recorded("no money", true), /no money/], [{ state: "done" }, /ran before/]] as const
      ) {
        const { journal, script, take } = yield* told(mode)
        journal.ends(entry)
        yield* take("Well?")
        assert.match(JSON.stringify(C.lateIn((yield* script.requests).at(-1)!.prompt)), said)
      }
    },
    ["generateText"]
  )

  Laws.forEachMode(
    "is told where nothing may run: without a toolkit, and in a turn that goes on from nothing",
    function*(mode) {
      const without = yield* told(mode)
      without.journal.ends(paid)
      const bare = yield* Laws.converse(mode, { model: without.script.model, history: yield* without.history })
      const service = without.journal.service
      yield* Effect.provideService(bare.take("Well?"), ApprovalJournal.ApprovalJournal, service)
      assert.deepStrictEqual(C.lateIn((yield* without.script.requests).at(-1)!.prompt), [toldLate])
      const other = yield* told(mode)
      other.journal.ends(paid)
      yield* other.take()
      assert.deepStrictEqual(C.lateIn((yield* other.script.requests).at(-1)!.prompt), [toldLate])
    }
  )

  Laws.forEachMode("is told in the turn after, where the journal cannot be read in one", function*(mode) {
    const { journal, script, take } = yield* told(mode)
    journal.ends(paid)
    journal.fail(true)
    assert.strictEqual((yield* take("Well?")).text, "done")
    journal.fail(false)
    assert.lengthOf((yield* take("And now?")).results, 1)
    assert.deepStrictEqual((yield* script.requests).map(({ prompt }) => C.lateIn(prompt).length), [0, 0, 1])
  })

  Laws.forEachMode("supersedes nothing: an open question of the same chat is answered after it", function*(mode) {
    const { from, history, journal, tools } = yield* told(mode)
    const asked = yield* Laws.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Laws.call("c2", "DeleteFile", { path: "a" })],
      history: yield* history
    })
    journal.ends(paid)
    const take = yield* from(asked.history)
    const waits = yield* take([])
    assert.deepStrictEqual(waits.results.map(({ id }) => id), ["c1"])
    assert.isTrue(waits.waiting)
    const approved = yield* take(Laws.answers(Approval.approve(asked.requests[0]!)))
    assert.deepStrictEqual(approved.results.map(({ id, isFailure }) => [id, isFailure]), [["c2", false]])
    assert.strictEqual(tools.count("DeleteFile"), 1)
  })
})

describe("L4 whoever forges the mark", () => {
  const forge = (history: Prompt.Prompt, assent: (own: object) => object) =>
    Laws.rewrite(history, (part) =>
      part.type === "tool-result"
        ? { ...part, options: { ...part.options, assent: assent(part.options.assent as object) as never } }
        : part)

  Laws.forEachMode("of another approval, or of none, has nothing looked up", function*(mode) {
    const { from, history, journal } = yield* told(mode)
    journal.ends(paid)
    for (const approvalId of ["forged", undefined]) {
      const take = yield* from(forge(yield* history, (own) => ({ ...own, approvalId })))
      assert.deepStrictEqual((yield* take("Well?")).results, [])
      assert.deepStrictEqual(journal.finds(), [])
    }
  }, ["generateText", "streamText"])

  Laws.forEachMode("for a request that is not sealed for its call has nothing looked up", function*(mode) {
    const { from, history, journal } = yield* told(mode)
    journal.ends(paid)
    const other = Laws.rewrite(
      yield* history,
      (part) => part.type === "tool-call" ? { ...part, params: { amount: "500" } } : part
    )
    assert.deepStrictEqual((yield* (yield* from(other))("Well?")).results, [])
    assert.deepStrictEqual(journal.finds(), [])
  }, ["generateText", "streamText"])

  Laws.forEachMode("on what was denied is told nothing", function*(mode) {
    const { from, history, journal } = yield* told(mode)
    journal.ends({ state: "denied", reason: "no" })
    const turn = yield* (yield* from(yield* history))("Well?")
    assert.deepStrictEqual([turn.results, turn.text], [[], "done"])
  }, ["generateText", "streamText"])
})

describe("a history without the mark", () => {
  Laws.forEachMode("costs no look at the journal", function*(mode) {
    const { from, history, journal } = yield* told(mode)
    const take = yield* from(
      Laws.rewrite(yield* history, (part) => part.type === "tool-result" ? { ...part, options: {} } : part)
    )
    yield* take("Well?")
    assert.deepStrictEqual(journal.finds(), [])
  }, ["generateText"])
})

const Publish = DeferredTool.from(
  Tool.make("Publish", { parameters: { page: Schema.Number }, success: Schema.String, needsApproval: true }),
  { interactions: { editor: Interaction.getApproval } }
)

/** A process that is blocked for a minute in one step of a tool that waits, and another one that is told so. */
const blockedIn = Effect.fnUntraced(function*(
  step: "start" | "editor",
  turn: (world: R.World) => Effect.Effect<unknown, unknown>
) {
  const hold = yield* R.makeHold
  const held = (name: typeof step) => name === step ? hold.wait : Effect.void
  const shared = yield* Processes.makeShared
  const blocked = Processes.make(shared)
  const options = {
    turns: [[ScriptedModel.toolCall({ id: "publish-1", name: "Publish", params: { page: 1 } })]],
    busyFor: "10 minutes",
    more: [Publish],
    handlers: {
      Publish: DeferredTool.handler(Publish, {
        start: () => Effect.andThen(held("start"), Publish.suspend.editor({ prompt: "May it go out?" })),
        resume: { editor: () => Effect.as(held("editor"), "published") }
      })
    }
  } as const
  const first = yield* R.make("send", { ...options, store: blocked.store, within: blocked.within })
  const next = yield* R.make("send", { ...options, turns: [], store: shared })
  const reader = yield* Effect.forkDetach(turn(first))
  yield* hold.entered
  blocked.block()
  const taken = yield* Effect.forkChild(next.say("And now?"))
  assert.isTrue(yield* R.endsWithin(taken, 9))
  yield* R.assertToldUnknown(next, "publish-1")
  yield* TestClock.adjust("51 seconds")
  yield* hold.release
  yield* blocked.goOn
  assert.isTrue(yield* R.endsWithin(reader, 30))
  const again = yield* Effect.forkChild(next.say("Well?"))
  assert.isTrue(yield* R.endsWithin(again, 10))
  yield* next.say("Thanks.")
  const told = (yield* next.script.requests).map(({ prompt }) => C.lateIn(prompt).map(({ result }) => result))
  assert.deepStrictEqual(told.slice(-2), [["published"], ["published"]])
})

describe("a run that waits, whose process is blocked for a minute", () => {
  it.effect("is told under the request that its results name, where it had waited before", () =>
    blockedIn("editor", ({ conversation, serving }) => {
      const approve = Effect.flatMap(
        conversation!.pending(),
        ([request]) => serving(conversation!.decide(Approval.approve(request!)))
      )
      return Effect.andThen(serving(conversation!.send("Go on.")), Effect.andThen(approve, approve))
    }))

  it.effect("is told though the history has no request of what it came to wait for", () =>
    blockedIn("start", ({ begin }) => begin))
})
