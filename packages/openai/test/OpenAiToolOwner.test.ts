/**
 * Which tool of a toolkit an item of a response comes from.
 */
import * as Tool from "@assent/ai/Tool"
import * as OpenAiTool from "@assent/openai/OpenAiTool"
import { assert, describe, it } from "@effect/vitest"
import * as Tools from "../src/internal/tools/tools.ts"

const wiki = OpenAiTool.Mcp({ server_label: "wiki", server_url: "https://mcp.example.com/mcp" })

const Search = Tool.make("Search")

describe("whose an item is", () => {
  const tickets = OpenAiTool.Mcp({ name: "Tickets", server_label: "tickets", server_url: "https://b" })
  const search = OpenAiTool.WebSearchPreview({})
  const directory = Tools.directory([Search, wiki, tickets, search])

  it("a function's, by its name", () => {
    assert.deepStrictEqual(directory.ofFunction("Search"), { name: "Search", tool: Search })
    assert.deepStrictEqual(directory.ofFunction("Gone"), { name: "Gone", tool: undefined })
    // A function that the model names like a tool of OpenAI's is not that tool.
    assert.deepStrictEqual(directory.ofFunction("Tickets"), { name: "Tickets", tool: undefined })
  })

  it("a server's, by its label", () => {
    for (const type of ["mcp_call", "mcp_approval_request", "mcp_list_tools"]) {
      assert.deepStrictEqual(directory.ofItem({ type, server_label: "tickets" }), { name: "Tickets", tool: tickets })
      assert.deepStrictEqual(directory.ofItem({ type, server_label: "wiki" }), { name: "OpenAiMcp", tool: wiki })
    }
    assert.deepStrictEqual(directory.ofServer("gone"), { name: "OpenAiMcp", tool: undefined })
  })

  it("another's, by its kind", () => {
    assert.deepStrictEqual(directory.ofItem({ type: "web_search_call" }), {
      name: "OpenAiWebSearchPreview",
      tool: search
    })
    assert.deepStrictEqual(directory.ofItem({ type: "image_generation_call" }), {
      name: "OpenAiImageGeneration",
      tool: undefined
    })
    assert.isUndefined(directory.ofItem({ type: "message" }))
    assert.isUndefined(directory.ofItem({ type: "toString" }))
  })

  it("a label is that of a server alone", () => {
    assert.strictEqual(Tools.serverLabel(tickets), "tickets")
    assert.isUndefined(Tools.serverLabel(search))
    assert.isUndefined(Tools.serverLabel(Search))
  })
})
