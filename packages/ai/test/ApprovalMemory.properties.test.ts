/**
 * ApprovalMemory against a list: random answers, calls, revocations and steps of the clock give what a plain list of
 * what was said would give; and what no order of them can do.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalMatcher, ApprovalMemory, Store } from "../src/index.ts"

// =============================================================================
// What may happen
// =============================================================================

const where = {
  conversation: Schema.Literals(["c1", "c2"]),
  principal: Schema.Literals(["ada", "bob"]),
  tool: Schema.Literals(["Write", "Delete"]),
  version: Schema.Literals(["v1", "v1", "v2"]),
  path: Schema.Literals(["src/a", "src/b", "etc/a"])
}

const Remember = Schema.TaggedStruct("Remember", {
  ...where,
  decision: Schema.Literals(["approved", "approved", "denied"]),
  covers: Schema.Literals(["this", "tool", "src"]),
  uses: Schema.UndefinedOr(Schema.Literals([1, 2])),
  expiresIn: Schema.UndefinedOr(Schema.Literals([2, 5])),
  /** Says again what was said before: it must change nothing. */
  again: Schema.Boolean
})

const Find = Schema.TaggedStruct("Find", { ...where, peek: Schema.Boolean })

const Revoke = Schema.TaggedStruct("Revoke", {
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 11 })),
  conversation: where.conversation,
  principal: where.principal
})

const Wait = Schema.TaggedStruct("Wait", { millis: Schema.Literals([1, 2, 5]) })

const Step = Schema.Union([Remember, Find, Find, Revoke, Wait])

const Story = Schema.Array(Step).check(Schema.isMaxLength(40))

type At = Pick<typeof Find.Type, keyof typeof where>

const callOf = ({ conversation, path, principal, tool, version }: At): ApprovalMemory.MemoryCall => ({
  scope: { principal, conversation },
  source: "local",
  toolName: tool,
  version,
  params: { path }
})

const coversOf = {
  this: undefined,
  tool: ApprovalMatcher.tool.description,
  src: ApprovalMatcher.path(["src/**"], { param: "path" }).description
}

// =============================================================================
// The list
// =============================================================================

interface Entry {
  readonly id: string
  readonly said: typeof Remember.Type
  readonly until: number
  uses: number
  revoked: boolean
}

const coversPath = ({ covers, path }: typeof Remember.Type, asked: string): boolean =>
  covers === "tool" || (covers === "this" ? path === asked : asked.startsWith("src/"))

/** What covers nothing of what was answered is not meant so. */
const isMeant = (said: typeof Remember.Type): boolean => coversPath(said, said.path)

const stands = (entry: Entry, now: number): boolean => !entry.revoked && entry.uses > 0 && now < entry.until

const speaking = (list: ReadonlyArray<Entry>, at: At, now: number): ReadonlyArray<Entry> =>
  list.filter((entry) =>
    stands(entry, now) && coversPath(entry.said, at.path) &&
    (["conversation", "principal", "tool"] as const).every((field) => entry.said[field] === at[field])
  )

const run = Effect.fnUntraced(function*(story: ReadonlyArray<typeof Step.Type>) {
  const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
  const list: Array<Entry> = []
  let now = 0
  for (const step of story) {
    switch (step._tag) {
      case "Wait": {
        now += step.millis
        yield* TestClock.adjust(step.millis)
        break
      }
      case "Remember": {
        // Said again: as it was said, or with more; neither counts.
        const earlier = step.again ? list.at(-1) : undefined
        const id = earlier?.id ?? `answer-${list.length}`
        const at = earlier?.said ?? step
        const covers = coversOf[step.covers]
        const remembered = yield* memory.remember({
          ...callOf(at),
          id,
          approvalId: id,
          toolCallId: "call",
          decision: step.decision,
          remember: {
            ...(covers === undefined ? undefined : { covers }),
            ...(step.uses === undefined ? undefined : { uses: step.uses }),
            ...(step.expiresIn === undefined ? undefined : { expiresIn: step.expiresIn })
          }
        })
        // An answer whose time is over is given once more only by the journal, which gives it once: not told of here.
        if (earlier !== undefined) {
          if (now >= earlier.until) return
          assert.isUndefined(remembered)
          break
        }
        assert.strictEqual(remembered !== undefined, isMeant(step))
        if (!isMeant(step)) break
        list.push({
          id,
          said: step,
          until: step.expiresIn === undefined ? Infinity : now + step.expiresIn,
          uses: step.uses === undefined || step.decision === "denied" ? Infinity : step.uses,
          revoked: false
        })
        break
      }
      case "Revoke": {
        const entry = list[step.which]
        const { conversation, principal } = step
        const expected = entry !== undefined && stands(entry, now) && entry.said.conversation === conversation &&
          entry.said.principal === principal
        assert.strictEqual(yield* memory.revoke({ principal, conversation }, `answer-${step.which}`), expected)
        if (expected) entry.revoked = true
        break
      }
      case "Find": {
        const found = yield* memory.find(callOf(step), { peek: step.peek })
        const all = speaking(list, step, now)
        const candidates = all.filter(({ said }) => said.version === step.version)
        const isDenial = ({ said }: Entry) => said.decision === "denied"
        // A denial of the tool as it was may still be meant, and an approval may not.
        const expected = [candidates.filter(isDenial), all.filter(isDenial), candidates]
          .find((entries) => entries.length > 0) ?? []
        if (expected.length === 0) {
          assert.isUndefined(found)
          break
        }
        const entry = expected.find(({ id }) => id === found?.id)
        assert.isDefined(entry, `${found?.id} does not cover ${JSON.stringify(step)}`)
        assert.strictEqual(found?.decision, entry.said.decision)
        if (!step.peek && entry.said.decision === "approved") entry.uses--
        assert.strictEqual(found?.uses ?? Infinity, entry.uses)
      }
    }
  }
  for (const principal of ["ada", "bob"] as const) {
    for (const conversation of ["c1", "c2"] as const) {
      const listed = yield* memory.list({ principal, conversation })
      const standing = list.filter((entry) =>
        stands(entry, now) && entry.said.principal === principal && entry.said.conversation === conversation
      )
      assert.deepStrictEqual(listed.map(({ id }) => id).toSorted(), standing.map(({ id }) => id).toSorted())
    }
  }
})

describe("ApprovalMemory over random stories", () => {
  it.effect.prop(
    "it says what a list of what was said would say",
    { story: Story },
    ({ story }) => run(story),
    { timeout: 60_000, arbitrary: { runs: 400, seed: "memory" } }
  )

  // Dense: one conversation, one tool, few paths, so that much meets.
  it.effect.prop(
    "it says what a list would say, also where everything meets in one conversation",
    { story: Story },
    ({ story }) =>
      run(
        story.map((step) =>
          step._tag === "Wait" ? step : { ...step, conversation: "c1", principal: "ada", tool: "Write", version: "v1" }
        )
      ),
    { timeout: 60_000, arbitrary: { runs: 400, seed: "memory, dense" } }
  )
})

// =============================================================================
// What no order can do
// =============================================================================

const grant = (params: Schema.Json, more: Partial<ApprovalMemory.Answered>): ApprovalMemory.Answered => ({
  ...callOf({ conversation: "c1", principal: "ada", tool: "Write", version: "v1", path: "src/a" }),
  params,
  id: "id",
  approvalId: "id",
  toolCallId: "call",
  decision: "approved",
  remember: "session",
  ...more
})

describe("ApprovalMemory, whatever the order", () => {
  it.effect.prop(
    "a remembered denial is never undone by a wider approval",
    {
      before: Schema.Array(Remember).check(Schema.isMaxLength(8)),
      after: Schema.Array(Remember).check(Schema.isMaxLength(8)),
      denial: Remember
    },
    ({ after, before, denial }) =>
      Effect.gen(function*() {
        const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
        const { params } = callOf(denial)
        const approve = (said: typeof Remember.Type, id: string) =>
          memory.remember(grant(callOf({ ...said, path: "src/a" }).params, {
            ...callOf({ ...denial, path: said.path }),
            id,
            remember: { covers: coversOf.tool }
          }))
        for (const [index, said] of before.entries()) yield* approve(said, `before-${index}`)
        yield* memory.remember(grant(params, { ...callOf(denial), id: "no", decision: "denied" }))
        for (const [index, said] of after.entries()) yield* approve(said, `after-${index}`)
        for (const peek of [true, false]) {
          assert.strictEqual((yield* memory.find(callOf(denial), { peek }))?.id, "no")
        }
      }),
    { timeout: 60_000, arbitrary: { runs: 100, seed: "denial" } }
  )

  it.effect.prop(
    "an approval of one set of arguments never covers another",
    { one: Schema.Json, other: Schema.Json },
    ({ one, other }) =>
      Effect.gen(function*() {
        for (const remember of ["session", {}, { uses: 3 }] as const) {
          const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
          const remembered = yield* memory.remember(grant(one, { remember }))
          // What is no text of JSON, as half a character, is never sealed, and here it covers nothing (law L4).
          assert.strictEqual(remembered !== undefined, isWhole(one), JSON.stringify(one))
          assert.strictEqual((yield* memory.find(grant(one, {}))) !== undefined, isWhole(one))
          assert.strictEqual((yield* memory.find(grant(other, {}))) !== undefined, isWhole(one) && isSame(one, other))
          for (const near of neighbours(one)) {
            assert.isUndefined(yield* memory.find(grant(near, {})), JSON.stringify([one, near]))
          }
        }
      }),
    { timeout: 60_000, arbitrary: { runs: 300, seed: "arguments" } }
  )
})

/** Whether two values are one JSON, whatever the order of names. */
const isSame = (left: Schema.Json, right: Schema.Json): boolean =>
  JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))

const sorted = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return ["array", json.map(sorted)]
  if (typeof json !== "object" || json === null) return json
  const entries = Object.entries(json).toSorted(([left], [right]) => left < right ? -1 : 1)
  return ["object", entries.map(([name, value]) => [name, sorted(value)])]
}

const isWhole = (json: Schema.Json): boolean =>
  typeof json === "string"
    ? isWholeText(json)
    : typeof json !== "object" || json === null ||
      Object.entries(json).every(([name, value]) => isWholeText(name) && isWhole(value))

/** Values that look much like another one and are not it. */
const neighbours = (json: Schema.Json): ReadonlyArray<Schema.Json> => {
  const wrapped: ReadonlyArray<Schema.Json> = [[json], { value: json }, JSON.stringify(json)]
  if (typeof json === "string") return [...wrapped, `${json} `, `${json}\u0000`, [json, json]]
  if (typeof json !== "object" || json === null) return [...wrapped, String(json)]
  if (Array.isArray(json)) return [...wrapped, [...json, null], { ...json }]
  const entries = Object.entries(json)
  return [
    ...wrapped,
    { ...json, "another name": null },
    ...(entries.length === 0 ? [] : [{}, Object.fromEntries(entries.slice(1)), entries])
  ]
}

const isWholeText = (text: string): boolean => !/\p{Surrogate}/u.test(text)
