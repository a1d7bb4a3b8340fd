/** What is offered for more than once: which calls it covers, in which order, and that its sentence says all of it. */
import { ApprovalMatcher } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as TextPart from "../src/internal/matcher/textPart.ts"

const sentences = (params: Schema.Json, toolName = "Tool"): ReadonlyArray<string> =>
  ApprovalMatcher.suggest({ toolName, params }).map(({ sentence }) => sentence)

describe("suggest", () => {
  it("offers the folder of a path with the other parameters as they are", () => {
    const [, folder] = ApprovalMatcher.suggest({ toolName: "Run", params: { dir: "src/ui", script: "npm test" } })
    assert.strictEqual(folder!.sentence, "calls whose dir matches `src/**`, with script='npm test' as here")
    assert.isTrue(folder!.matcher.covers({ dir: "src/other", script: "npm test" }))
    for (
      const params of [
        { dir: "src/other", script: "rm -rf /" },
        { dir: "src/other" },
        { dir: "src/other", script: ["npm test"] },
        { dir: "src/other", script: "npm test", env: "A=1" },
        { dir: "lib/ui", script: "npm test" }
      ]
    ) assert.isFalse(folder!.matcher.covers(params), JSON.stringify(params))
  })

  it("lets what is written into a file be any, and says so; a folder's neighbour is not what is written", () => {
    assert.deepStrictEqual(sentences({ path: "src/a.ts", content: "one" }, "WriteFile"), [
      "only this call: content='one', path='src/a.ts'",
      "calls whose path matches `src/**`, with any content",
      "every call of WriteFile, whatever its parameters"
    ])
    assert.strictEqual(
      sentences({ path: "src/a.ts", new_string: "1", old_string: "2", mode: 420 })[1],
      "calls whose path matches `src/**`, with mode=420 as here and any new_string and old_string"
    )
    assert.strictEqual(
      sentences({ folder: "src/a", text: "x" })[1],
      "calls whose folder matches `src/**`, with text='x' as here"
    )
  })

  it("offers a folder of one of two paths, with the other as it is", () => {
    assert.deepStrictEqual(sentences({ fromPath: "src/a", toPath: "lib/b" }).slice(1, -1), [
      "calls whose fromPath matches `src/**`, with toPath='lib/b' as here"
    ])
  })

  it("offers no folder of what only begins as a folder's name does", () => {
    assert.lengthOf(sentences({ direction: "north/west" }), 2)
  })

  it("says of a key what it is", () => {
    const matcher = ApprovalMatcher.key(() => "main", { name: "branch" })({ ref: "main" })
    const [, offered] = ApprovalMatcher.suggest({ toolName: "Push", params: { ref: "main" } }, {}, [matcher])
    assert.strictEqual(offered!.sentence, "calls whose branch is \"main\"")
  })

  it("says nothing of a call that is long or has lines: it is shown", () => {
    for (const content of ["a\nb", "a".repeat(500)]) {
      assert.strictEqual(sentences({ content })[0], "only this call, with just these parameters")
    }
    assert.strictEqual(sentences({})[0], "only this call, without parameters")
    assert.deepStrictEqual(sentences(["a"]), ["only this call: [\"a\"]", "every call of Tool, whatever its parameters"])
  })

  it("offers nothing that would take a page to be told", () => {
    assert.lengthOf(sentences({ dir: "src/ui", query: "x".repeat(2_000) }), 2)
  })

  it("offers nothing of a program that has a mistake, though it covers the call", () => {
    const matcher = ApprovalMatcher.path(["src/**", "a//b"], { param: "path" })
    const call = { toolName: "Tool", params: { path: "src/a" } }
    assert.isTrue(matcher.covers(call.params))
    const offered = ApprovalMatcher.suggest(call, {}, [matcher])
    assert.isFalse(offered.some((one) => ApprovalMatcher.equals(one.matcher, matcher)))
  })

  it("says the whole of long patterns", () => {
    const besides = Array.from({ length: 40 }, (_, index) => `src/${"x".repeat(250)}${index}/**`)
    const matcher = ApprovalMatcher.path([...besides.slice(0, 3), "*"], { param: "path" })
    const [, offered] = ApprovalMatcher.suggest({ toolName: "Tool", params: { path: "a" } }, {}, [matcher])
    for (const glob of besides.slice(0, 3)) assert.include(offered!.sentence, glob)
  })

  it("escapes what a model wrote, and keeps a text from passing for another parameter", () => {
    assert.strictEqual(sentences({ a: "1', b='2\u202e" })[0], "only this call: a='1\\', b=\\'2\\u202e'")
  })

  it("refuses links where the program knows them", () => {
    const isLink = (path: string) => path === "src/link"
    const call = { toolName: "Tool", params: { path: "src/a" } }
    const [, folder] = ApprovalMatcher.suggest(call, { isLink })
    assert.strictEqual(folder!.sentence, "calls whose path matches `src/**` and has no symbolic link")
    assert.isFalse(folder!.matcher.covers({ path: "src/link" }))
    assert.lengthOf(ApprovalMatcher.suggest({ toolName: "Tool", params: { path: "src/link" } }, { isLink }), 2)
  })

  const Value = Schema.NullOr(Schema.Literals(["src/a.ts", "src/ui/b", "lib/c", "x", "", "a\nb", true, 1]))
  const Name = Schema.Literals(["path", "dir", "outFile", "content", "text", "mode", "query", "__proto__"])
  const Params = Schema.Array(Schema.Tuple([Name, Value])).check(Schema.isMaxLength(4))
  const Others = Schema.Array(Params).check(Schema.isMaxLength(12))
  const runs = { arbitrary: { runs: 300, seed: "suggest" } }

  it.prop("covers the call by each, and by each no more than by the next; the last alone is every call", [
    Params,
    Others
  ], ([entries, near]) => {
    const call = Object.fromEntries(entries)
    const offered = ApprovalMatcher.suggest({ toolName: "Tool", params: call })
    assert.isAtLeast(offered.length, 2)
    for (const { matcher } of offered) assert.isTrue(matcher.covers(call))
    // Those that are near it say more than those that have nothing to do with it.
    const others = near.flatMap((entries) => [
      Object.fromEntries(entries),
      { ...call, ...Object.fromEntries(entries.slice(0, 1)) },
      Object.fromEntries(Object.entries(call).slice(1))
    ])
    for (const [index, { matcher }] of offered.slice(0, -1).entries()) {
      const next = offered[index + 1]!.matcher
      for (const other of others) assert.isTrue(!matcher.covers(other) || next.covers(other))
    }
    assert.deepStrictEqual(
      offered.map(({ isWidest }) => isWidest === true),
      offered.map((_, index) => index === offered.length - 1)
    )
  }, runs)

  it.prop(
    "tells every value and name on which it depends, and is the same matcher when it is stored",
    [Params],
    ([entries]) => {
      const call = Object.fromEntries(entries)
      for (const { matcher, sentence } of ApprovalMatcher.suggest({ toolName: "Tool", params: call })) {
        const stored: unknown = JSON.parse(JSON.stringify(matcher.description))
        const again = ApprovalMatcher.fromDescription(Schema.decodeUnknownSync(ApprovalMatcher.Description)(stored))
        assert.isTrue(ApprovalMatcher.equals(matcher, again))
        if (matcher.description._tag !== "Path") continue
        const { globs, others = "any", param, same = {} } = matcher.description
        for (const text of [...globs, param, ...others, ...Object.keys(same)]) assert.include(sentence, text)
        // Whatever stands in the call is one of these, so nothing is granted that is not told.
        assert.sameMembers([param, ...others, ...Object.keys(same)], Object.keys(call))
      }
    },
    runs
  )
})

describe("parameters that stay the same", () => {
  const matcher = ApprovalMatcher.path(["src/**"], {
    param: "path",
    others: ["content"],
    same: { mode: { a: 1, b: [2] } }
  })

  it("are compared by value, whatever the order of names", () => {
    assert.isTrue(matcher.covers({ path: "src/a", mode: { b: [2], a: 1 } }))
    assert.isTrue(matcher.covers({ path: "src/a", mode: { b: [2], a: 1 }, content: "x" }))
    assert.isFalse(matcher.covers({ path: "src/a", mode: { b: [2] } }))
    assert.isFalse(matcher.covers({ path: "src/a", mode: "{\"a\":1,\"b\":[2]}" }))
    assert.isFalse(matcher.covers({ path: "src/a" }))
    assert.isFalse(matcher.covers({ path: "src/a", mode: undefined }))
    assert.isFalse(matcher.covers({
      path: "src/a",
      get mode() {
        return { a: 1, b: [2] }
      }
    }))
  })

  it("are in the sentence, and none is no word", () => {
    assert.strictEqual(
      ApprovalMatcher.toSentence(matcher, "Tool"),
      "any call of Tool whose path matches `src/**`, with mode={\"a\":1,\"b\":[2]}, with any content"
    )
    assert.isTrue(
      ApprovalMatcher.equals(
        ApprovalMatcher.path(["src/**"], { param: "path", same: {} }),
        ApprovalMatcher.path(["src/**"], { param: "path" })
      )
    )
  })

  it("may be covered by whoever forbids, whatever they are", () => {
    assert.isTrue(matcher.mayCover({ path: "src/a", mode: 1 }))
    assert.isFalse(matcher.mayCover({ path: "lib/a", mode: 1 }))
  })

  it("are no part of what rules about one parameter are read by together", () => {
    assert.isUndefined(TextPart.of(matcher))
    assert.isDefined(TextPart.of(ApprovalMatcher.path(["src/**"], { param: "path", same: {} })))
  })
})
