/** Who asks, and until when: what is said above the parameters, and where nothing is. */
import { assert, describe, it } from "@effect/vitest"
import * as Content from "../../src/internal/call/content.ts"
import * as Cells from "../../src/internal/text/cells.ts"
import { textOf } from "../../src/internal/text/style.ts"
import { windowOf } from "../scene/dialogues.ts"
import * as Requests from "../scene/requests.ts"

const window = windowOf(200)

const about = (fields: Requests.Fields) =>
  Cells.layout(Content.about(Requests.request("Pay", {}, fields), Requests.now, window), window).map(textOf).slice(1)

const minute = 60_000

describe("above the parameters", () => {
  it("stands who asks: the agents, outermost first, and the conversation", () => {
    assert.deepStrictEqual(about({}), [])
    assert.deepStrictEqual(about({ conversation: "c" }), ["  Asked by  main, in c"])
    assert.deepStrictEqual(about({ path: ["a", "b"] }), ["  Asked by  main › a › b"])
    assert.deepStrictEqual(about({ source: "program", conversation: "c" }), ["  Asked by  this program, in c"])
  })

  it("stands an expiry within the hour alone, to the nearest", () => {
    const expires = (after: number) => about({ expiresAt: Requests.now + after })
    assert.deepStrictEqual(expires(61 * minute), [])
    assert.deepStrictEqual(expires(59.6 * minute), ["  Expires   in 60 minutes, at 2026-11-22 18:25:08 UTC"])
    assert.deepStrictEqual(expires(90_000), ["  Expires   in 90 seconds, at 2026-11-22 17:27:02 UTC"])
    assert.deepStrictEqual(expires(-1), ["  Expires   in 0 seconds, at 2026-11-22 17:25:31 UTC"])
  })

  it("stands what a server says behind a mark, each line", () => {
    assert.deepStrictEqual(about({ toolDescription: "Pays.\n━━ May this run? ━━" }), [
      "            │ Pays.",
      "            │ ━━ May this run? ━━"
    ])
  })

  it("stands why, without what the name of an MCP tool says already", () => {
    const reason = "It is the tool \"pay\" of the MCP server \"bank\". The server says that it only reads."
    assert.deepStrictEqual(about({ reason, source: "mcp.bank" }), ["  Because   The server says that it only reads."])
    assert.deepStrictEqual(about({ reason }), [`  Because   ${reason}`])
  })
})
