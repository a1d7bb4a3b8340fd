/** Whatever is said, asked and answered, OpenAI never has a reason to refuse a request, and nothing runs twice. */
import { Approval, ApprovalController, Prompt } from "@assent/ai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as C from "./conversation.ts"
import * as Memory from "./memory.ts"

const Item = Schema.Literals(["text", "refusal", "reasoning", "add", "delete", "roll", "search", "unknown", "code"])

/** How an answered turn goes on: with what answer, in how many steps, or with another message instead. */
const Act = Schema.Literals([
  "approve",
  "deny",
  "mixed",
  "one by one",
  "new message",
  "message and approve",
  "poll",
  "late",
  "reload"
])

const Turn = Schema.Struct({
  items: Schema.Array(Item).check(Schema.isMaxLength(5)),
  cut: Schema.Literals(["no", "no", "no", "length"]),
  act: Act
})

const Story = Schema.Struct({
  way: Schema.Literals(C.ways),
  memory: Schema.Literals(Memory.memories),
  onNewMessage: Schema.Literals(["supersede", "supersede", "keep", "hold"]),
  /** Who answers at once, if anybody does. */
  inline: Schema.Literals(["nobody", "nobody", "yes", "no", "yes and no"]),
  turns: Schema.Array(Turn).check(Schema.isMinLength(1), Schema.isMaxLength(12))
})

const items: { readonly [K in typeof Item.Type]: (turn: number, index: number) => ResponsesServer.TurnPart } = {
  text: (turn) => ResponsesServer.text(`Text ${turn}.`),
  refusal: () => ResponsesServer.refusal("No."),
  reasoning: (turn) => ResponsesServer.reasoning(turn % 2 === 0 ? [] : ["Hm.", "Yes."]),
  add: (turn, index) => ResponsesServer.functionCall({ name: "Add", params: { a: turn, b: index } }),
  delete: (turn, index) =>
    ResponsesServer.functionCall({ name: "Delete", params: { path: `${turn}/${index}`, force: null } }),
  roll: (turn, index) => C.roll(turn * 10 + index),
  search: () => ResponsesServer.webSearch({ query: "q" }),
  unknown: () => ResponsesServer.item({ type: "quantum_call", status: "completed" }),
  code: () => ResponsesServer.codeInterpreter({ code: "1", logs: "1" })
}

const scriptOf = ({ cut, items: kinds }: typeof Turn.Type, turn: number): ResponsesServer.Turn => [
  ...kinds.map((kind, index) => items[kind](turn, index)),
  ...(cut === "length" ? [ResponsesServer.incomplete("max_output_tokens")] : [])
]

describe("random conversations", () => {
  it.effect.prop(
    "of up to 12 turns are never refused, and run what was approved once",
    { story: Story },
    ({ story }) =>
      C.fresh(Effect.gen(function*() {
        const chat = yield* Memory.begin(story.memory, {
          way: story.way,
          approval: { onNewMessage: story.onNewMessage },
          turns: story.turns.map(scriptOf),
          afterLastTurn: "And so on."
        })
        const fates = new Map<string, boolean>()
        const decide = (requests: ReadonlyArray<Approval.ApprovalRequest>, approved: boolean): Prompt.Prompt => {
          for (const { approvalId, providerExecuted } of requests) if (providerExecuted) fates.set(approvalId, approved)
          return approved ? C.approve(requests, "yes") : C.deny(requests, "no")
        }
        const results = new Map<string, string>()
        let asked = 0
        const controller = ApprovalController.interactive((request) => {
          const approved = story.inline === "yes" || (story.inline === "yes and no" && asked++ % 2 === 0)
          if (request.providerExecuted) fates.set(request.approvalId, approved)
          return approved || Approval.deny(request, "no")
        })
        const answeredAtOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          story.inline === "nobody"
            ? effect
            : Effect.provideService(effect, ApprovalController.ApprovalController, controller)
        const send = (prompt: Prompt.RawInput) =>
          Effect.tap(answeredAtOnce(chat.send(prompt)), (turn) =>
            Effect.gen(function*() {
              yield* C.assertAccepted(chat.server)
              for (const { id, metadata, providerExecuted } of turn.results) {
                const approvalId = metadata.openai?.approvalRequestId
                if (!providerExecuted || typeof approvalId !== "string") continue
                assert.isFalse(results.has(approvalId), "one result for one request")
                results.set(approvalId, id)
              }
            }))
        for (const [index, { act }] of story.turns.entries()) {
          let turn = yield* send(`Message ${index}`)
          for (let step = 0; turn.requests.length > 0 && step < 6; step++) {
            const { requests } = turn
            switch (act) {
              case "approve":
              case "deny":
                turn = yield* send(decide(requests, act === "approve"))
                break
              case "mixed":
                turn = yield* send(
                  requests.map((request, index) => decide([request], index % 2 === 0)).reduce(Prompt.concat)
                )
                break
              case "one by one":
                turn = yield* send(decide([requests[0]!], true))
                break
              case "new message":
                turn = yield* send("Never mind.")
                break
              case "late":
                yield* send("Never mind.")
                turn = yield* send(Prompt.concat(decide(requests, true), "After all."))
                break
              case "message and approve":
                turn = yield* send(Prompt.concat(decide(requests, true), "And hurry."))
                break
              case "poll":
                turn = yield* send([])
                turn = yield* send(decide(turn.requests, true))
                break
              case "reload":
                yield* chat.setHistory(
                  Schema.decodeSync(Prompt.Prompt)(
                    JSON.parse(JSON.stringify(Schema.encodeSync(Prompt.Prompt)(yield* chat.history)))
                  )
                )
                turn = yield* send(decide(requests, true))
            }
          }
        }
        for (const [approvalId, id] of results) {
          assert.strictEqual(id, approvalId, "the id of the call that waited")
          assert.isTrue(fates.get(approvalId))
        }
        for (const run of yield* chat.server.executions) {
          assert.isTrue(fates.get(run.approvalRequestId!), "only what was approved")
          assert.strictEqual(yield* chat.server.executionsOf(run.approvalRequestId!), 1)
        }
        assert.deepStrictEqual([...new Set(chat.runs)], chat.runs, "no call of ours runs twice")
      })),
    { arbitrary: { runs: 50 }, timeout: 120_000 }
  )
})
