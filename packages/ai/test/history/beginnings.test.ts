/**
 * What was read of the beginning of a history is known again. Nothing may follow from that: however a history came about,
 * it is read as one that was never seen before.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Prompt } from "../../src/index.ts"
import * as Beginnings from "../../src/internal/history/beginnings.ts"
import * as Cut from "../../src/internal/history/cut.ts"
import * as Transcript from "../../src/internal/history/transcript.ts"
import { assistant, build, callPart, History, openOf, resultPart, tool } from "./histories.ts"

type Messages = ReadonlyArray<Prompt.Message>

const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const said = (text: string) => assistant(Prompt.textPart({ text }))

/** Long enough to be remembered. */
const beginning = (): Messages =>
  Array.from({ length: 6 }, (_, index): Messages => [
    user(`${index}`),
    assistant(
      callPart(`c${index}`, "X"),
      Prompt.toolApprovalRequestPart({ approvalId: `s${index}`, toolCallId: `c${index}` })
    ),
    tool(
      Prompt.toolApprovalResponsePart({ approvalId: `s${index}`, approved: true }),
      resultPart(`c${index}`, "X", { approvalId: `s${index}` })
    ),
    said("so"),
    assistant(callPart("a", "X")),
    tool(resultPart("a", "X", undefined))
  ]).flat()

const readingOf = (messages: Messages) => {
  const { changes, lateDenials, ...transcript } = Transcript.read(messages)
  return {
    ...openOf({ ...transcript, changes, lateDenials }),
    changes: changes === undefined ? undefined : [...changes],
    lateDenials: lateDenials.map(({ at, call, denial }) => ({ at, denial, part: call.part, result: call.result }))
  }
}

describe("the beginning of a history", () => {
  it.effect.prop(
    "L7 L13 that was read before is read the same, whatever follows it",
    { first: History, then: History, other: History },
    ({ first, other, then }) =>
      Effect.sync(() => {
        const trunk = [...beginning(), ...build(first)]
        readingOf(beginning())
        readingOf(trunk)
        for (const more of [then, other, [...then, ...other]]) {
          const grown = readingOf([...trunk, ...build(more)])
          assert.deepStrictEqual(grown, readingOf([...beginning(), ...build(first), ...build(more)]))
        }
      }),
    { timeout: 30_000, arbitrary: { runs: 300, seed: "beginnings" } }
  )

  it("is known by its messages, and to nobody who has others", () => {
    const messages = beginning()
    assert.isUndefined(Beginnings.find(messages))
    Transcript.read(messages)
    assert.strictEqual(Beginnings.find([...messages, user("more")])?.length, messages.length)
    assert.isUndefined(Beginnings.find(messages.with(3, said("another"))))
    assert.isUndefined(Beginnings.find(messages.slice(1)))
    assert.isUndefined(Beginnings.find([user("before"), ...messages]))
  })

  it("goes on with the history: what was known of less of it is given up", () => {
    const messages = [...beginning(), ...beginning()]
    const half = messages.slice(0, messages.length / 2)
    Transcript.read(half)
    Transcript.read(messages)
    assert.isUndefined(Beginnings.find(half))
    assert.strictEqual(Beginnings.find(messages)?.length, messages.length)
  })

  it("L7 is read again when a message of it was found to be cut short", () => {
    const asked = user("go on")
    const messages = [...beginning(), asked, said("I beg")]
    const history = Prompt.fromMessages([...messages, user("and?")])
    assert.strictEqual(Transcript.read(history.content).changes?.[messages.length - 1], Transcript.stands)
    Cut.note(Prompt.fromMessages(messages.slice(0, -1)))
    Cut.begin(history)
    assert.strictEqual(Transcript.read(history.content).changes?.[messages.length - 1], Transcript.changes)
  })

  it("does not hide what is no message behind it", () => {
    const messages = beginning()
    Transcript.read(messages)
    const broken: Messages = JSON.parse("[{\"role\":\"user\"}]")
    assert.throws(() => Transcript.read([...messages, ...broken]), TypeError)
    assert.throws(() => Transcript.read([...messages, JSON.parse("null")]), TypeError)
  })
})
