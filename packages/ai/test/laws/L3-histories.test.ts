/**
 * L2 and L3 over random histories: answers in any order and number, in one message or several, over the same history
 * again and again. What a request becomes is what the first history that speaks of it says, and deny wins in there.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, Prompt } from "../../src/index.ts"
import * as Support from "./support.ts"

const Word = Schema.Struct({
  request: Schema.Literals([0, 1, 2]),
  approved: Schema.Boolean,
  newMessage: Schema.Boolean
})

const Story = Schema.Array(Schema.Array(Word).check(Schema.isMaxLength(4))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(5)
)

type Fate = "open" | "done" | "denied"

const ids = ["c1", "c2", "c3"]

/** The law, as a function: what each request is after a history with these words. */
const decide = (fates: ReadonlyArray<Fate>, words: ReadonlyArray<typeof Word.Type>): ReadonlyArray<Fate> =>
  fates.map((fate, index) => {
    const own = words.filter((word) => word.request === index)
    if (fate !== "open" || own.length === 0) return fate
    return own.every((word) => word.approved) ? "done" : "denied"
  })

const toPrompt = (words: ReadonlyArray<typeof Word.Type>, requests: ReadonlyArray<Approval.ApprovalRequest>) => {
  let prompt = Prompt.empty
  let open: Array<Approval.ApprovalAnswer> = []
  const close = () => {
    prompt = Prompt.concat(prompt, Support.answers(...open))
    open = []
  }
  for (const { approved, newMessage, request } of words) {
    if (newMessage) close()
    open.push(approved ? Approval.approve(requests[request]!) : Approval.deny(requests[request]!, "no"))
  }
  close()
  return prompt
}

const ask = (mode: Support.Mode, tools: Support.Tools) =>
  Support.ask(mode, {
    toolkit: tools.toolkit,
    calls: ids.map((id) => Support.call(id, "DeleteFile", { path: id }))
  })

const ran = (tools: Support.Tools) => tools.runs.map((run) => (run.params as { path: string }).path).toSorted()

describe("L2 L3 over random histories", () => {
  for (const mode of Support.modes) {
    it.effect.prop(
      `L2 L3 the same history with any answers, again and again, has the fates of the law [${mode}]`,
      [Story],
      ([story]) =>
        Support.fresh(Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const asked = yield* ask(mode, tools)
          const { model } = yield* Support.answering
          let fates: ReadonlyArray<Fate> = ids.map(() => "open")
          for (const words of story) {
            fates = decide(fates, words)
            const turn = yield* Support.reply(mode, { asked, model, tools }, toPrompt(words, asked.requests))
            const results = ids.map((id) => turn.results.filter((result) => result.id === id))
            const open = turn.requests.map((request) => request.toolCallId)
            assert.deepStrictEqual<ReadonlyArray<string>>(
              ids.map((id, index) => {
                const [result, ...more] = results[index]!
                if (more.length > 0) return "several results"
                if (result === undefined) return open.includes(id) ? "open" : "lost"
                return open.includes(id) ? "both" : result.isFailure ? "denied" : "done"
              }),
              fates
            )
            assert.deepStrictEqual(ran(tools), ids.filter((_, index) => fates[index] === "done"))
            // The model is called when nothing is open, and only then (law L5).
            assert.strictEqual(turn.text, fates.includes("open") ? "" : "done")
          }
        })),
      { timeout: 20_000, arbitrary: { runs: 30, seed: "L3" } }
    )

    it.effect.prop(
      `L2 L3 one conversation with any answers has the fates of the law, and one result for each call [${mode}]`,
      [Story],
      ([story]) =>
        Support.fresh(Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const asked = yield* ask(mode, tools)
          const script = yield* Support.answering
          const chat = yield* Support.converse(mode, {
            model: script.model,
            toolkit: tools.toolkit,
            history: asked.history
          })
          let fates: ReadonlyArray<Fate> = ids.map(() => "open")
          for (const words of story) {
            // To say nothing once everything is settled is to let the model go on from its own words.
            if (words.length === 0 && !fates.includes("open")) continue
            fates = decide(fates, words)
            const turn = yield* chat.take(toPrompt(words, asked.requests))
            assert.deepStrictEqual(ran(tools), ids.filter((_, index) => fates[index] === "done"))
            assert.deepStrictEqual(
              turn.requests.map((request) => request.toolCallId),
              ids.filter((_, index) => fates[index] === "open")
            )
            const results = Support.partsOf(turn.history).filter((part) => part.type === "tool-result")
            // An answer that comes again is given the result again.
            assert.deepStrictEqual(
              [...new Set(results.map((result) => `${result.id} ${result.isFailure ? "denied" : "done"}`))].toSorted(),
              ids.flatMap((id, index) => fates[index] === "open" ? [] : [`${id} ${fates[index]!}`])
            )
            if (!fates.includes("open")) {
              const sent = yield* Support.sentResults(script)
              assert.deepStrictEqual(sent.map((result) => result.id), ids)
            }
          }
        })),
      { timeout: 20_000, arbitrary: { runs: 30, seed: "L3" } }
    )
  }
})
