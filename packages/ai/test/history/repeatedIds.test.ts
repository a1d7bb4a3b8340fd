/**
 * L13 ids that are used again: which of the calls of one id a result answers, and the ids that tell them apart.
 * `internal/history/repeatedIds.ts` against a list that is searched from end to end.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Prompt } from "../../src/index.ts"
import * as RepeatedIds from "../../src/internal/history/repeatedIds.ts"

interface Call extends RepeatedIds.Call {
  readonly requests: Array<string>
  result: unknown
}

const makeCall = (messageIndex: number, name = "X", id = "a"): Call => ({
  part: Prompt.toolCallPart({ id, name, params: {}, providerExecuted: false }),
  messageIndex,
  requests: [],
  result: undefined
})

const resultOf = (name: string) =>
  Prompt.toolResultPart({ id: "a", name, result: "done", isFailure: false, providerExecuted: false })

/** What `Repeated` says, without remembering anything. */
const search = (calls: ReadonlyArray<Call>, name: string, isEarlier: boolean, lastIndex: number): Call | undefined => {
  const open = calls.filter((call) => call.part.name === name && call.result === undefined)
  const first = open.find((call) => call.requests.length === 0)
  return isEarlier && first !== undefined && first.messageIndex < lastIndex ? first : open.at(-1)
}

const names = Schema.Literals(["X", "X", "Y"])

const Step = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("call"), name: names, sameMessage: Schema.Boolean }),
  Schema.Struct({ _tag: Schema.tag("ask"), which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })) }),
  Schema.Struct({ _tag: Schema.tag("result"), name: names, isEarlier: Schema.Boolean })
])

const Steps = Schema.Array(Step).check(Schema.isMinLength(8), Schema.isMaxLength(24))

describe("L13 ids that are used again", () => {
  it.prop(
    "L13 a result answers the latest open call of its name, or the earliest if it says so, whatever came before",
    { steps: Steps },
    ({ steps }) => {
      let at = 1
      const calls = [makeCall(at)]
      const repeated = new RepeatedIds.Repeated(calls[0]!)
      for (const step of steps) {
        switch (step._tag) {
          case "call": {
            const call = makeCall(step.sameMessage ? at : at += 2, step.name)
            calls.push(call)
            assert.strictEqual(repeated.add(call), repeated)
            assert.strictEqual(repeated.latest, call)
            break
          }
          case "ask":
            calls[step.which]?.requests.push("asked")
            break
          case "result": {
            const expected = search(calls, step.name, step.isEarlier, at)
            assert.strictEqual(repeated.answeredBy(resultOf(step.name), step.isEarlier, at), expected)
            if (expected !== undefined) expected.result = "done"
          }
        }
      }
    },
    { arbitrary: { runs: 1_000, seed: "repeated ids" } }
  )

  it("L13 a result too many, which says it is an earlier call's, takes nothing from the calls that come after it", () => {
    const first = makeCall(1)
    const repeated = new RepeatedIds.Repeated(first)
    first.result = "done"
    assert.isUndefined(repeated.answeredBy(resultOf("X"), true, 3))
    const [second, third] = [makeCall(5), makeCall(7)]
    repeated.add(second).add(third)
    assert.strictEqual(repeated.answeredBy(resultOf("X"), true, 7), second)
  })

  it("L13 an id has its name for itself once, and then one with a number that nobody has", () => {
    const uniqueId = RepeatedIds.makeUniqueIds()
    const given = ["a", "a", "a", "a_2", "b", "a_3", "a_3", "a", "", ""].map(uniqueId)
    assert.deepStrictEqual(given, ["a", "a_2", "a_3", "a_2_2", "b", "a_3_2", "a_3_3", "a_4", "", "_2"])
    assert.strictEqual(RepeatedIds.uniqueIdsAfter(makeCall(1))("a"), "a_2")
    assert.strictEqual(RepeatedIds.uniqueIdsAfter(makeCall(1))("b"), "b")
  })
})
