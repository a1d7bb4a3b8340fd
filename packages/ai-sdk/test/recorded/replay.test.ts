/**
 * The replay of recordings, on answers of the played providers; `npm run replay` does it with what was recorded.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { providers } from "../providers/index.ts"
import type { Reply, Wire } from "../providers/strict.ts"
import type { Answer } from "./answer.ts"
import { differences } from "./answer.ts"
import * as EventStream from "./event-stream.ts"
import type { Exchange } from "./exchange.ts"
import { listed, repositories } from "./exchange.ts"
import { goOn } from "./goOn.ts"
import { read } from "./readers/index.ts"
import { replay } from "./replay.ts"

const exchange = (format: Exchange["format"], wire: Wire, status = 200): Exchange => ({
  ...wire,
  format,
  status,
  name: format,
  request: undefined
})

describe("a replayed answer", () => {
  for (const provider of providers) {
    const [first, second] = provider.ids
    const calls: Reply = {
      calls: [
        { id: first, name: "DeleteFile", params: { path: "/tmp/a", deep: { list: [1, null, "zwölf"] } } },
        { id: second, name: "SendMail", params: {} }
      ]
    }
    const text: Reply = { text: "Done, \"quoted\"\n— and in two lines." }

    for (const way of ["generate", "stream"] as const) {
      it(`of ${provider.name} is right over the bridge [${way}]`, async () => {
        for (const reply of [calls, text]) {
          const recorded = exchange(provider.format, provider[way](reply))
          const { ofPackage, verdict, ...rest } = await replay(recorded)
          assert.deepStrictEqual(rest, { differences: [], refused: undefined })
          assert.strictEqual(verdict, "right")
          // Google's package does not tell which model answered, and Bedrock has no word for it.
          assert.deepStrictEqual(ofPackage.map((each) => each.fact), provider.format === "google" ? ["model"] : [])
          const answer = read(recorded)
          assert.strictEqual(answer.finish, "calls" in reply ? "tool-calls" : "stop")
          assert.strictEqual(answer.usage.output, 5)
          if ("text" in reply) assert.strictEqual(answer.text, reply.text)
          else assert.deepStrictEqual(answer.calls, reply.calls)
        }
      })
    }

    it(`of ${provider.name} goes on with the request that the AI SDK makes`, async () => {
      for (const wire of [provider.generate(calls), provider.stream(calls), provider.stream(text)]) {
        const wentOn = await goOn(exchange(provider.format, wire))
        assert.isDefined(wentOn?.bridge)
        assert.deepStrictEqual(wentOn?.bridge, wentOn?.package)
        assert.include(JSON.stringify(wentOn?.bridge), "Go on.")
      }
    })

    it(`of ${provider.name} is an error where the provider refused`, async () => {
      const wire = { mediaType: "application/json", body: JSON.stringify({ error: { message: "Slow down." } }) }
      const { refused, verdict } = await replay(exchange(provider.format, wire, 429))
      assert.deepStrictEqual([verdict, refused], ["right", "status 429 → RateLimitError"])
    })
  }
})

describe("what is counted", () => {
  const answer: Answer = {
    text: "text",
    reasoning: "thought",
    signatures: ["signature"],
    calls: [{ id: "1", name: "Tool", params: { a: 1, b: [2] } }],
    hosted: [{ key: "2", value: { code: "1 + 1" } }],
    results: [{ key: "2", value: 2 }],
    asked: ["3"],
    sources: [{ key: "https://example.com/a b", value: "A" }],
    files: ["AAAA"],
    finish: "stop",
    usage: { input: 1, output: 2, cacheRead: 0, reasoning: 0 },
    id: "id",
    model: "model"
  }

  it("is nothing between an answer and itself, however its parameters and addresses are written", () => {
    const same: Answer = {
      ...answer,
      calls: [{ id: "1", name: "Tool", params: { b: [2], a: 1 } }],
      sources: [{ key: "https://example.com/a%20b", value: "A" }]
    }
    assert.deepStrictEqual(differences(answer, same), [])
  })

  it("is each thing that is missing or other, and a call that nobody made", () => {
    const counted = (changes: Partial<Answer>) =>
      differences(answer, { ...answer, ...changes }).map((each) => `${each.kind} ${each.fact}`)
    assert.deepStrictEqual(counted({ text: "" }), ["lost text"])
    assert.deepStrictEqual(counted({ text: "texttext" }), ["wrong text"])
    assert.deepStrictEqual(counted({ reasoning: "" }), ["lost reasoning"])
    assert.deepStrictEqual(counted({ signatures: [] }), ["lost signature 0"])
    assert.deepStrictEqual(counted({ calls: [] }), ["lost call 0 id", "lost call 0 name", "lost call 0 parameters"])
    assert.deepStrictEqual(counted({ calls: [...answer.calls, ...answer.calls] }), ["wrong call 1 name"])
    assert.deepStrictEqual(counted({ calls: [{ id: "1", name: "Tool", params: { a: 1, b: ["2"] } }] }), [
      "wrong call 0 parameters"
    ])
    assert.deepStrictEqual(counted({ hosted: [] }), ["lost hosted call 2", "lost value of hosted call 2"])
    assert.deepStrictEqual(counted({ results: [{ key: "2", value: 3 }] }), ["wrong value of hosted result 2"])
    assert.deepStrictEqual(counted({ asked: [] }), ["lost approval 3"])
    assert.deepStrictEqual(counted({ sources: [] }), [
      "lost source https://example.com/a%20b",
      "lost value of source https://example.com/a%20b"
    ])
    assert.deepStrictEqual(counted({ files: ["AAAB"] }), ["wrong file 0"])
    assert.deepStrictEqual(counted({ finish: "length" }), ["wrong finish"])
    assert.deepStrictEqual(counted({ usage: { input: 2, output: 2, cacheRead: 0 } }), [
      "wrong input tokens",
      "lost reasoning tokens"
    ])
    assert.deepStrictEqual(counted({ id: undefined, model: "other" }), ["lost response id", "wrong model"])
  })

  it("is out of the files that the page says", () => {
    const page = Fs.readFileSync(Path.join(import.meta.dirname, "README.md"), "utf8")
    const files = listed()
    const answers = (format: string) =>
      files.filter((file) => file.format === format).reduce((sum, file) => sum + file.which.split(",").length, 0)
    const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| +(\d+) \| +(\d+) \| `@ai-sdk/gmu)]
    assert.deepStrictEqual(
      Object.fromEntries(rows.map(([, format, count, sum]) => [format, [Number(count), Number(sum)]])),
      Object.fromEntries(
        [...new Set(files.map((file) => file.format))].map((format) => [
          format,
          [files.filter((file) => file.format === format).length, answers(format)]
        ])
      )
    )
    for (const [repository, commit] of Object.entries(repositories)) assert.include(page, `\`${repository}\``, commit)
    for (const commit of Object.values(repositories)) assert.include(page, commit)
  })
})

it("an event stream of Amazon's is read as it was written", () => {
  const lines = [
    "{\"messageStart\":{\"role\":\"assistant\"}}",
    "{\"metadata\":{\"usage\":{\"inputTokens\":1},\"text\":\"ü\"}}"
  ]
  assert.deepStrictEqual(
    EventStream.decode(EventStream.encode(lines)),
    lines.map((line) => JSON.parse(line) as unknown)
  )
})
