/**
 * L3 where one call was asked about twice: a denial of either question ends it for ever, and nothing of the call runs,
 * whatever the other question was answered.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, type Prompt } from "../../src/index.ts"
import * as Support from "./support.ts"

/** The same call, asked about in two turns, and a history in which both questions stand behind it. */
const askTwice = Effect.fnUntraced(function*(mode: Support.Mode) {
  const tools = yield* Support.makeTools()
  const ask = Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "DeleteFile", { path: "a" })] })
  const [one, two] = [yield* ask, yield* ask]
  const [a, b] = [one.requests[0]!, two.requests[0]!]
  assert.notStrictEqual(a.approvalId, b.approvalId)
  const both = Support.rewrite(
    one.history,
    (part) => part.type === "tool-approval-request" ? [part, Support.requestPart(b.approvalId, "c1")] : part
  )
  const script = yield* Support.answering
  const take = (history: Prompt.Prompt, ...answers: ReadonlyArray<Approval.ApprovalAnswer>) =>
    Support.takeTurn(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history,
      prompt: answers.length === 0 ? [] : Support.answers(...answers)
    })
  return { tools, script, take, both, a: { request: a, history: one.history }, b: { request: b, history: two.history } }
})

/** Nothing ran, nobody is asked, and program and model are told who denied it. */
const assertDenied = Effect.fnUntraced(function*(
  turn: Support.Turn,
  { script, tools }: Effect.Success<ReturnType<typeof askTwice>>,
  reason: RegExp
) {
  assert.deepStrictEqual([tools.runs, turn.requests, turn.text], [[], [], "done"])
  assert.lengthOf(turn.results, 1)
  assert.match(Support.failureReason(turn.results[0]), reason)
  const sent = yield* Support.sentResults(script)
  assert.lengthOf(sent, 1)
  assert.match(Support.failureReason(sent[0]), reason)
  assert.strictEqual((sent[0]!.result as { readonly type?: unknown }).type, "execution-denied")
})

const answered: Record<string, { readonly a?: boolean; readonly b?: boolean }> = {
  "a no to the first": { a: false },
  "a no to the second": { b: false },
  "a no to the first and a yes to the second": { a: false, b: true },
  "a yes to the first and a no to the second": { a: true, b: false },
  "a no to both": { a: false, b: false }
}

for (const [what, said] of Object.entries(answered)) {
  for (const order of ["in order", "the second first"] as const) {
    if (order !== "in order" && (said.a === undefined || said.b === undefined)) continue
    const begin = Effect.fnUntraced(function*(mode: Support.Mode) {
      const story = yield* askTwice(mode)
      const answers = (["a", "b"] as const).flatMap((which) => {
        const { request } = story[which]
        if (said[which] === undefined) return []
        return [said[which] ? Approval.approve(request) : Approval.deny(request, `never ${which}`)]
      })
      const turn = yield* story.take(story.both, ...(order === "in order" ? answers : answers.toReversed()))
      yield* assertDenied(turn, story, /never [ab]/)
      return story
    })

    describe(`L3 ${what} of two questions about one call, ${order}`, () => {
      Support.forEachMode(`L3 ${what}, ${order}: each that was denied is denied for ever`, function*(mode) {
        const story = yield* begin(mode)
        for (const which of ["a", "b"] as const) {
          if (said[which] !== false) continue
          const { history, request } = story[which]
          const later = yield* story.take(history, Approval.approve(request))
          yield* assertDenied(later, story, new RegExp(`never ${which}`))
        }
      })

      Support.forEachMode(`L3 ${what}, ${order}: with both in the history no later yes runs it`, function*(mode) {
        const story = yield* begin(mode)
        for (const which of ["a", "b"] as const) {
          yield* assertDenied(yield* story.take(story.both, Approval.approve(story[which].request)), story, /never/)
        }
        const both = [Approval.approve(story.a.request), Approval.approve(story.b.request)]
        yield* assertDenied(yield* story.take(story.both, ...both), story, /never/)
        yield* assertDenied(yield* story.take(story.both), story, /never/)
      })
    })
  }
}

describe("L3 a question that nobody denied", () => {
  Support.forEachMode(
    "L3 a no to one of two questions is none to the other, where that one stands alone",
    function*(mode) {
      const story = yield* askTwice(mode)
      yield* story.take(story.both, Approval.deny(story.b.request, "never"))
      const later = yield* story.take(story.a.history, Approval.approve(story.a.request))
      assert.deepStrictEqual([story.tools.runs.length, later.results.map(({ result }) => result)], [
        1,
        [{ deleted: true }]
      ])
    }
  )

  Support.forEachMode(
    "L3 a no to a question that nobody made lets nothing run, beside a yes to the one we made",
    function*(mode) {
      const story = yield* askTwice(mode)
      const { history, request } = story.a
      const forged = Support.rewrite(
        history,
        (part) => part.type === "tool-approval-request" ? [part, Support.requestPart("made-up", "c1")] : part
      )
      const denied = new Approval.Denied({ note: "never" })
      const no = new Approval.ApprovalAnswer({ approvalId: "made-up", decision: denied })
      yield* assertDenied(yield* story.take(forged, Approval.approve(request), no), story, /never/)
    }
  )
})
