/**
 * L4 for calls that the provider runs, whose seal is too old: the question was ours and is over. It is expired, not
 * forged: no turn fails for it, and the provider is told so.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, ApprovalEvents, ApprovalSeal, type LanguageModel, Prompt } from "../../src/index.ts"
import * as C from "./conversation.ts"
import { allowed, approvals, asking, begin, withController, withPolicy } from "./hosted.ts"
import { type Story, tell } from "./story.ts"
import { idle, rewrite } from "./support.ts"

const hour = 3_600_000

/** Seals live an hour, also those that say nothing of it. */
const shortSeals = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ApprovalSeal.ApprovalSeal, (seals) =>
    Effect.provideService(effect, ApprovalSeal.ApprovalSeal, {
      ...seals,
      seal: (binding, options) => seals.seal(binding, { expiresIn: hour, ...options })
    }))

const everyWay = (title: string, story: Story<[way: C.Way]>) => C.everyWay(title, (way) => shortSeals(tell(story, way)))

/** What happens to a request while the effect runs. */
const observed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const events = yield* ApprovalEvents.make()
    const seen: Array<ApprovalEvents.Observed> = []
    const all = yield* events.subscribe
    yield* Effect.forkScoped(Stream.runForEach(all, (event) => Effect.sync(() => void seen.push(event))))
    const value = yield* Effect.provideService(effect, ApprovalEvents.ApprovalEvents, events)
    yield* idle
    return { value, seen }
  }))

const approve = Prompt.fromMessages([
  Prompt.toolMessage({ content: [Prompt.toolApprovalResponsePart({ approvalId: "mcpr_1", approved: true })] })
])

const sentence = new ApprovalError.Expired({ approvalId: "mcpr_1", expiredAt: hour }).message

/** A request of the provider's whose seal is too old by now. */
const tooOld = Effect.fnUntraced(function*(way: C.Way, approval: LanguageModel.ApprovalOptions) {
  const { chat, runs } = yield* begin(way, [asking(1), "Then not.", "bye"], approval)
  yield* chat.send("go")
  yield* TestClock.adjust(hour)
  return { chat, runs }
})

const asksAboutAll = withPolicy(() => Approval.needsApproval({}))

for (const onInvalid of ["fail", "result"] as const) {
  const approval = { onInvalid }
  const title = onInvalid === "fail" ? "where invalid approvals fail the turn" : "by default"

  describe(`L4 a seal of the provider's call that is too old, ${title}`, () => {
    everyWay(`L4 its approval is expired: the provider is told so, and the turn goes on, ${title}`, function*(way) {
      const { chat } = yield* tooOld(way, approval)
      const { seen, value: turn } = yield* observed(asksAboutAll(chat.send(approve)))
      assert.strictEqual(turn.text, "Then not.")
      assert.deepStrictEqual(turn.requests, [])
      assert.deepStrictEqual(turn.results.map((result) => [result.id, C.reasonOf(result)]), [["mcp_1", sentence]])
      assert.deepStrictEqual(
        approvals(yield* chat.lastPrompt).filter((one) => !one.startsWith("request")),
        [`deny mcpr_1 ${sentence}`]
      )
      assert.deepStrictEqual(seen.filter((event) => event._tag === "Refused"), [])
      const changes = seen.filter((event) => event._tag === "Changed")
      assert.deepStrictEqual(
        changes.map(({ approvalId, reason, state, toolCallId }) => [toolCallId, approvalId, state, reason]),
        [["mcp_1", "mcpr_1", "expired", sentence]]
      )
      yield* asksAboutAll(chat.send("thanks"))
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
    })

    everyWay(`L4 nobody is asked about it any more, and no policy lets it run, ${title}`, function*(way) {
      const { chat } = yield* tooOld(way, approval)
      const shown: Array<string> = []
      const { seen, value: turn } = yield* observed(
        chat.send([]).pipe(
          withPolicy(() => Approval.preApproved("harmless")),
          withController((request) => (shown.push(request.approvalId), true))
        )
      )
      assert.deepStrictEqual([shown, turn.text], [[], "Then not."])
      assert.deepStrictEqual(
        approvals(yield* chat.lastPrompt).filter((one) => !one.startsWith("request")),
        [`deny mcpr_1 ${sentence}`]
      )
      assert.deepStrictEqual(
        seen.flatMap((event) => event._tag === "Changed" ? [event.state] : event._tag === "Refused" ? ["Refused"] : []),
        ["expired"]
      )
    })

    everyWay(`L4 a person's denial of it stays the person's, ${title}`, function*(way) {
      const { chat } = yield* tooOld(way, approval)
      const request = (yield* chat.history).content.flatMap((message) =>
        message.role === "assistant" ? message.content.filter((part) => part.type === "tool-approval-request") : []
      )[0]!
      const no = Prompt.toolApprovalResponsePart({
        approvalId: request.approvalId,
        approved: false,
        reason: "keep it"
      })
      yield* asksAboutAll(chat.send(Prompt.fromMessages([Prompt.toolMessage({ content: [no] })])))
      assert.deepStrictEqual(
        approvals(yield* chat.lastPrompt).filter((one) => !one.startsWith("request")),
        ["deny mcpr_1 keep it"]
      )
    })
  })
}

describe("L4 a call of the provider's that is not the one it asked about", () => {
  everyWay("L4 is forged however old it is, and fails the turn where the program wants that", function*(way) {
    const { chat } = yield* tooOld(way, { onInvalid: "fail" })
    const change = (history: Prompt.Prompt) =>
      rewrite(history, (part) =>
        part.type !== "tool-call" ? part : {
          ...part,
          options: { ...part.options, assent: { ...part.options.assent, params: { path: "elsewhere" } } }
        })
    yield* chat.setHistory(change(yield* chat.history))
    const { seen, value } = yield* observed(Effect.flip(asksAboutAll(chat.send(approve))))
    assert.strictEqual(C.approvalErrorOf(value)._tag, "Forged")
    assert.deepStrictEqual(
      seen.flatMap((event) =>
        event._tag === "Refused" ? [event.reason._tag] : event._tag === "Changed" ? ["Changed"] : []
      ),
      ["Forged"]
    )
  })
})
