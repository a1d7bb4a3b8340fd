import { type Tool, Toolkit } from "@assent/ai"
import { OpenAiTool } from "@assent/openai"
import { Effect, Redacted, type Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"

type ModeOf<T> = T extends Tool.Tool<infer _Name, infer Config, infer _R> ? Config["failureMode"] : never
type Parameters<T extends Tool.Any> = Tool.Parameters<T>
type Success<T extends Tool.Any> = Tool.Success<T>

describe("OpenAiTool", () => {
  it("Mcp: its name, parameters and result", () => {
    const wiki = OpenAiTool.Mcp({ server_label: "wiki", server_url: "https://mcp.example.com" })
    const tickets = OpenAiTool.Mcp({ name: "Tickets", server_label: "tickets", tunnel_id: "t" })
    expectTypeOf(wiki.name).toEqualTypeOf<"OpenAiMcp">()
    expectTypeOf(wiki.id).toEqualTypeOf<"openai.mcp">()
    expectTypeOf(tickets.name).toEqualTypeOf<"Tickets">()
    expectTypeOf<Parameters<typeof wiki>>().toEqualTypeOf<{
      readonly server_label: string
      readonly name: string
      readonly arguments: unknown
    }>()
    expectTypeOf<Success<typeof wiki>["output"]>().toEqualTypeOf<string | null | undefined>()
    expectTypeOf(Toolkit.make(wiki, tickets).tools).toHaveProperty("Tickets")
    // @ts-expect-error A server has a label.
    void OpenAiTool.Mcp({ server_url: "https://mcp.example.com" })
    // @ts-expect-error Not a connector.
    void OpenAiTool.Mcp({ server_label: "x", connector_id: "connector_fax" })
    // @ts-expect-error Not a way to ask.
    void OpenAiTool.Mcp({ server_label: "x", require_approval: "sometimes" })
    void OpenAiTool.Mcp({
      server_label: "x",
      authorization: Redacted.make("t"),
      headers: { a: "b", c: Redacted.make("d") }
    })
  })

  it("tools that OpenAI runs need no handler", () => {
    const kit = Toolkit.make(
      OpenAiTool.Mcp({ server_label: "wiki" }),
      OpenAiTool.WebSearch({}),
      OpenAiTool.WebSearchPreview({}),
      OpenAiTool.FileSearch({ vector_store_ids: [] }),
      OpenAiTool.CodeInterpreter({ container: { type: "auto" } }),
      OpenAiTool.ImageGeneration({})
    )
    expectTypeOf<Toolkit.HandlersFrom<Toolkit.Tools<typeof kit>>>().toEqualTypeOf<{}>()
    // @ts-expect-error It has stores to search.
    void OpenAiTool.FileSearch({})
    // @ts-expect-error Not a size.
    void OpenAiTool.WebSearch({ search_context_size: "huge" })
  })

  it("tools on the user's machine need a handler with their types", () => {
    const kit = Toolkit.make(OpenAiTool.Shell({}), OpenAiTool.LocalShell({}), OpenAiTool.ApplyPatch({}))
    void kit.toLayer({
      OpenAiShell: ({ action }) => {
        expectTypeOf(action.commands).toEqualTypeOf<ReadonlyArray<string>>()
        return Effect.succeed({ output: [{ stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } }] })
      },
      OpenAiLocalShell: ({ action }) => Effect.succeed({ output: action.command.join(" ") }),
      OpenAiApplyPatch: ({ operation }) =>
        Effect.succeed({ status: operation.type === "delete_file" ? "failed" : "completed", output: operation.path })
    })
    // @ts-expect-error Three handlers.
    void kit.toLayer({ OpenAiLocalShell: () => Effect.succeed({ output: "" }) })
  })

  it("a gate gets the parameters", () => {
    const shell = OpenAiTool.Shell({
      failureMode: "return",
      needsApproval: ({ action }) => {
        expectTypeOf(action.timeout_ms).toEqualTypeOf<number | null>()
        return Effect.succeed(action.commands.length > 1)
      }
    })
    expectTypeOf<ModeOf<typeof shell>>().toEqualTypeOf<"return">()
    expectTypeOf(shell.failureSchema).toEqualTypeOf<typeof Schema.Never>()
    const asking = OpenAiTool.Shell({})
    expectTypeOf<ModeOf<typeof asking>>().toEqualTypeOf<"error">()
    // @ts-expect-error Not an answer.
    void OpenAiTool.Shell({ needsApproval: () => "maybe" })
  })

  it("any of them", () => {
    expectTypeOf(OpenAiTool.Mcp({ server_label: "x" })).toExtend<OpenAiTool.OpenAiTool>()
    expectTypeOf(OpenAiTool.Mcp({ name: "Own", server_label: "x" })).toExtend<OpenAiTool.OpenAiTool>()
    expectTypeOf<OpenAiTool.OpenAiTool>().toExtend<Tool.Any>()
  })
})
