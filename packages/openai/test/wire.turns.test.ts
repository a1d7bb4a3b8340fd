/**
 * A conversation of four turns with approvals at OpenAI and calls of ours beside them, byte by byte: what each turn sends is a
 * file in `turns/`. `UPDATE_FIXTURES=1 npm test -- wire.turns` writes the files anew.
 *
 * The strict server reads each of them: it refuses an answer to what it never asked, an answer or an item that it has already, a
 * call without its output, and reasoning without what followed it.
 */
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"
import * as Turns from "./turns/turns.ts"

const said = {
  approved: { title: "approved", answer: "The person approves.", decide: C.approve, reason: "go on", runs: 1 },
  denied: { title: "denied", answer: "The person denies.", decide: C.deny, reason: "not today", runs: 0 }
} as const

const script: ReadonlyArray<ResponsesServer.Turn> = [
  [
    ResponsesServer.reasoning(["Two dice, a sum and a file."]),
    ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } }),
    ResponsesServer.functionCall({ name: "Delete", params: { path: "a.txt", force: null } }),
    C.roll(6),
    C.roll(20)
  ],
  [ResponsesServer.reasoning(), ResponsesServer.text("One more."), C.roll(100)],
  "That is all.",
  "You are welcome."
]

const tell = Effect.fnUntraced(
  function*(way: C.Way, store: boolean, tracked: boolean, answer: (typeof said)[keyof typeof said]) {
    const chat = yield* C.start({
      way,
      tracked,
      turns: script,
      ...(store ? undefined : { config: { store: false } })
    })
    const asked = yield* chat.send("Roll twice, add 1 and 2, and delete a.txt.")
    assert.strictEqual(asked.requests.length, 3)
    const again = yield* chat.send(answer.decide(asked.requests, answer.reason))
    assert.strictEqual(again.requests.length, 1)
    const done = yield* chat.send(answer.decide(again.requests, answer.reason))
    assert.strictEqual(done.text, "That is all.")
    yield* chat.send("Thanks.")

    yield* C.assertAccepted(chat.server)
    for (const { approvalId, providerExecuted } of [...asked.requests, ...again.requests]) {
      if (providerExecuted) assert.strictEqual(yield* chat.server.executionsOf(approvalId), answer.runs)
    }
    assert.deepStrictEqual(chat.runs, ["add 1 2", ...(answer.runs === 0 ? [] : ["delete a.txt"])])
    const after = ["The user asks.", answer.answer, answer.answer, "The user thanks."]
    return (yield* chat.server.requests).map(({ bytes }, index): Turns.Turn => ({
      after: after[index]!,
      body: new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    }))
  }
)

const words = { generateText: "generate", streamText: "stream" } as const

for (const store of [true, false]) {
  for (const tracked of [false, true]) {
    for (const answer of Object.values(said)) {
      const setting = `${store ? "stored" : "unstored"}-${tracked ? "tracked" : "untracked"}`
      describe(`${setting}, ${answer.title}`, () => {
        for (const way of C.ways) {
          const method = way.endsWith("streamText") ? "streamText" : "generateText"
          const name = `${setting}-${words[method]}-${answer.title}`
          it.live(`${name}.txt is what is sent [${way}]`, () =>
            C.fresh(Effect.gen(function*() {
              const turns = yield* tell(way, store, tracked, answer)
              for (const { body } of turns) assert.strictEqual(Turns.unfold(Turns.fold(body)), body)
              const title = `${method}, store ${store}, ${
                tracked ? "with" : "without"
              } ResponseIdTracker, ${answer.title}`
              const text = Turns.render(title, turns)
              // A chat sends what a program sends that keeps the history by itself.
              if (process.env["UPDATE_FIXTURES"] === "1" && way === method) Turns.write(name, text)
              assert.strictEqual(
                text,
                Turns.read(name),
                "UPDATE_FIXTURES=1 npm test -- wire.turns writes it anew"
              )
            })))
        }
      })
    }
  }
}
