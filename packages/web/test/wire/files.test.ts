/** Files that a page posts: their bytes or their addresses get into a history, and nothing else does. */
import { Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Body from "../../src/internal/wire/body.ts"
import * as Files from "../../src/internal/wire/files.ts"

const file = (url: unknown, mediaType: unknown = "text/plain", others: object = {}) => ({
  type: "file",
  mediaType,
  url,
  ...others
})

const read = (part: unknown) => Result.getOrThrow(Files.read(part))

const part = (fields: Pick<Prompt.FilePart, "data" | "fileName" | "mediaType">) => Prompt.makePart("file", fields)

const bytes = (text: string) => new TextEncoder().encode(text)

describe("files", () => {
  it("of a data: URL their bytes are kept, and of an address the address", () => {
    const hello = part({ mediaType: "text/plain", data: bytes("Hällo") })
    assert.deepStrictEqual(read(file("data:text/plain;base64,SMOkbGxv")), hello)
    assert.deepStrictEqual(read(file("DATA:text/plain;charset=utf-8;BASE64,SMOkbGxv")), hello)
    assert.deepStrictEqual(read(file("data:,H%C3%A4llo")), hello)
    assert.deepStrictEqual(
      read(file("https://example.com/a.png?size=1", "image/png", { filename: "a.png" })),
      part({ mediaType: "image/png", fileName: "a.png", data: new URL("https://example.com/a.png?size=1") })
    )
  })

  it("a browser that does not know a file's type leaves it out, and the data: URL may know it", () => {
    const typeOf = (url: string, mediaType: string) => read(file(url, mediaType)).mediaType
    assert.strictEqual(typeOf("data:image/png;base64,AAAA", ""), "image/png")
    assert.strictEqual(typeOf("data:;base64,AAAA", ""), "application/octet-stream")
    assert.strictEqual(typeOf("https://example.com/a", ""), "application/octet-stream")
    assert.strictEqual(typeOf("https://example.com/a", "image"), "image")
  })

  it("are on a page as they were", () => {
    for (const url of ["data:image/png;base64,AAAA", "https://example.com/a.png"]) {
      const given = file(url, "image/png", { filename: "a.png" })
      assert.deepStrictEqual(Files.toPart(read(given)), given as never)
    }
  })

  it("what is neither is refused in a sentence: least of all is it taken for a file that a provider keeps", () => {
    const refused: ReadonlyArray<unknown> = [
      file("file-abc123"),
      file("file:///etc/passwd"),
      file("blob:https://example.com/1"),
      file("javascript:alert(1)"),
      file("ftp://example.com/a"),
      file("https://"),
      file("//example.com/a"),
      file(""),
      file(7),
      file("data:text/plain;base64"),
      file("data:text/plain;base64,%"),
      file("data:text/plain,%ff"),
      file("https://example.com/a", "text/plain\r\nx: y"),
      file("https://example.com/a", "x".repeat(200)),
      file("https://example.com/a", 7),
      file("https://example.com/a", "text/plain", { filename: "x".repeat(1_001) }),
      file("https://example.com/a", "text/plain", { providerReference: { openai: "file-abc123" } }),
      { type: "file" }
    ]
    for (const one of refused) {
      const sentence = Result.getOrThrow(Result.flip(Files.read(one)))
      assert.match(sentence, /^A file is given with its media type/, JSON.stringify(one))
    }
    assert.strictEqual(Result.getOrThrow(Result.flip(Files.read(file("data:text/plain,")))), "The file is empty.")
  })

  it.effect("stand in a message where they are, and may be all of it", () =>
    Effect.gen(function*() {
      const post = (...parts: ReadonlyArray<unknown>) =>
        Body.read({ id: "chat", messages: [{ id: "u1", role: "user", parts }] })
      const { said } = yield* post(file("data:,a"), { type: "text", text: "Look." }, file("https://example.com/b"))
      assert.deepStrictEqual(said?.content.map(({ type }) => type), ["file", "text", "file"])
      assert.deepStrictEqual((yield* post(file("data:,a"))).said?.content.length, 1)
      const { sentence } = yield* Effect.flip(post({ type: "text", text: "Look." }, file("blob:1")))
      assert.match(sentence, /^A file/)
    }))
})
