/**
 * Random answers through proxies that do what proxies do: no text is doubled, no call is lost, and what cannot be read is an
 * `AiError`. `RUNS=5000 npm test -- proxies` looks further, and `SEED=1` at one answer.
 */
import { AiError } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Edge from "./edges/edge.ts"
import { compare } from "./proxies/compare.ts"
import * as Proxy from "./proxies/proxy.ts"
import * as Random from "./proxies/random.ts"
import type { Json } from "./recorded/facts.ts"
import * as Program from "./recorded/program.ts"
import * as Reader from "./recorded/reader.ts"

const runs = Number(process.env["RUNS"] ?? 30)
const only = process.env["SEED"]
const seeds = only === undefined ? Array.from({ length: runs }, (_, index) => index) : [Number(only)]

/** What a program sees of each answer. */
const every = (
  make: (random: Random.Random) => Proxy.Answer,
  check: (answer: Proxy.Answer, exit: Exit.Exit<Program.Seen, unknown>, where: string) => void
) =>
  Effect.gen(function*() {
    for (const seed of seeds) {
      const answer = make(Random.make(seed))
      const { body } = answer.wire
      const where = `SEED=${seed}\n${typeof body === "string" ? body : new TextDecoder().decode(body)}`
      check(answer, yield* Effect.exit(Program.see(answer.wire, Reader.ofBody(answer.response))), where)
    }
  })

const isTold = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.every((reason) => Cause.isFailReason(reason) && AiError.isAiError(reason.error))

describe("an answer through a proxy", () => {
  it.effect(
    "is what the model said, once, and OpenAI gets it back in its order",
    () =>
      every(Proxy.answer, (answer, exit, where) => {
        if (Exit.isFailure(exit)) return assert.fail(`${where}\n${Cause.pretty(exit.cause)}`)
        assert.deepStrictEqual(compare(answer, exit.value), [], where)
      }),
    600_000
  )

  const call = (number: number, fields: Json = {}): Json => ({
    type: "function_call",
    id: `fc_${number}`,
    call_id: `call_${number}`,
    name: "add",
    arguments: `{"a":${number}}`,
    ...fields
  })
  const search = (id: string): Json => ({
    type: "web_search_call",
    id,
    status: "completed",
    action: { type: "search", query: id }
  })
  const reasoning = { type: "reasoning", id: "rs_1", summary: [] }
  const called = [
    Edge.added(2, call(2, { arguments: "" })),
    Edge.added(1, call(1, { arguments: "" })),
    Edge.done(2, call(2))
  ]
  const ends: Record<string, readonly [events: ReadonlyArray<Json>, output: ReadonlyArray<Json>]> = {
    "whose calls end in another order": [[Edge.done(0, reasoning), ...called], [reasoning, call(1), call(2)]],
    "whose response leaves an item out": [[Edge.done(0, reasoning), ...called], [call(1), call(2)]],
    "whose calls have other ids at the end": [
      [Edge.added(1, search("b")), Edge.added(0, search("a")), Edge.done(1, search("c"))],
      [search("d"), search("e")]
    ]
  }

  for (const [title, [events, output]] of Object.entries(ends)) {
    it.effect(`${title} has each of them once`, () =>
      Effect.gen(function*() {
        const { wire } = Edge.stream("calls", events, {}, Edge.response(output))
        const { facts } = yield* Program.see(wire, Reader.ofBody(Edge.response([reasoning, ...output])))
        const seen = [...facts].filter(([fact]) => /^(call \d+ id|hosted call)/.test(fact)).map(([fact, value]) =>
          typeof value === "string" ? value : fact
        )
        assert.deepStrictEqual(
          seen,
          title.includes("other ids") ? ["hosted call c", "hosted call d"] : ["call_2", "call_1"]
        )
      }))
  }

  it.effect(
    "that is cut off anywhere is an error",
    () => every(Proxy.cut, (_, exit, where) => assert.isTrue(isTold(exit), where)),
    600_000
  )

  it.effect(
    "that is garbled anywhere is an answer or an error, and never a defect",
    () => every(Proxy.garbled, (_, exit, where) => assert.isTrue(Exit.isSuccess(exit) || isTold(exit), where)),
    600_000
  )
})
