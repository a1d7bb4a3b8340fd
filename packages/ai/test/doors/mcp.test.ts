/**
 * L1 No side door, over MCP: every tool that needs approval, in every toolkit, served by either package's `McpServer`. Under
 * ours the user of the client is asked, or whoever the program says; effect/ai's does not start with a tool of ours, and
 * runs nothing of a toolkit of ours.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, type LogLevel } from "effect"
import { McpProtocol, McpTest } from "effect/ai"
import * as Assent from "../../src/index.ts"
import { Approval, ApprovalController } from "../../src/index.ts"
import * as Cells from "./cells.ts"

type Registrations = Layer.Layer<never, never, never>

const servers: Record<string, { readonly ours: boolean; readonly modules: Cells.Modules }> = {
  McpServer: { ours: true, modules: Assent },
  "effect/ai's McpServer": { ours: false, modules: Cells.upstream }
}

const ways: Record<string, (modules: Cells.Modules, kit: Cells.MadeKit["kit"]) => unknown> = {
  toolkit: ({ McpServer }, kit) => McpServer.toolkit(kit),
  registerToolkit: ({ McpServer }, kit) => Layer.effectDiscard(McpServer.registerToolkit(kit))
}

/** Calls the tool twice, as a client that cannot ask its user. */
const called = Effect.fnUntraced(function*(registrations: Registrations) {
  const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2025_11_25] })
  const call = client.callTool({ name: "Delete", arguments: { path: "a.txt" } })
  return JSON.stringify([yield* call, yield* call])
})

/** What is logged at a level, with the causes. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>, at: LogLevel.LogLevel) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ cause, logLevel, message }) => {
      if (logLevel === at) lines.push(`${message} ${cause}`)
    })
    return Effect.map(Effect.provide(effect, Logger.layer([logger])), (value) => [value, lines] as const)
  })

const approvesOnce = Effect.sync(() => {
  const answers = [Approval.approve, Approval.deny]
  return ApprovalController.layerInteractive((request) => answers.shift()!(request))
})

describe("L1 no side door, over MCP", () => {
  const tools = Cells.toolsOf(Assent)
  for (const [serverName, server] of Object.entries(servers)) {
    for (const [wayName, way] of Object.entries(ways)) {
      for (const story of ["asked", "approved once"]) {
        it.live(`L1 ${story}, through ${serverName}.${wayName}`, () =>
          Effect.gen(function*() {
            for (const [toolName, tool] of Object.entries(tools)) {
              for (
                const [kitName, { kit, ours }] of Object.entries(
                  Cells.kitsOf(Assent, tool.tool, toolName.endsWith("Tool.make"))
                )
              ) {
                if (!tool.ours && !ours && !server.ours) continue
                const cell = `${toolName} in ${kitName}`
                const ran: Array<string> = []
                const registrations = (way(server.modules, kit) as Registrations).pipe(
                  Layer.provide(Cells.handlersOf(kit, ran)),
                  Layer.provide(story === "asked" ? Layer.empty : Layer.unwrap(approvesOnce))
                )
                const [exit, lines] = yield* logged(Effect.exit(Effect.scoped(called(registrations))), "Error")
                if (tool.ours && (!ours || !server.ours)) {
                  assert.include(
                    String(Exit.isFailure(exit) && exit.cause),
                    "was put into a Toolkit of effect/ai, which would run it without approval: import Toolkit from @assent/ai," +
                      " and McpServer too if it is served over MCP.",
                    cell
                  )
                  assert.deepStrictEqual(ran, [], cell)
                  continue
                }
                const told = Exit.isSuccess(exit) ? exit.value : assert.fail(`${cell}: ${exit.cause}`)
                if (!server.ours) {
                  // The client is told nothing; who runs the server reads what to change.
                  assert.notInclude(told, "Assent", cell)
                  assert.strictEqual(lines.length, 2, cell)
                  for (const text of lines) {
                    assert.include(text, "WithoutConsent", cell)
                    assert.include(text, "McpServer from @assent/ai", cell)
                  }
                  assert.deepStrictEqual(ran, [], cell)
                } else if (story === "asked") {
                  assert.include(told, "does not offer the capability", cell)
                  assert.deepStrictEqual(ran, [], cell)
                } else {
                  assert.include(told, "deleted", cell)
                  assert.include(told, "execution-denied", cell)
                  assert.strictEqual(ran.length, 1, cell)
                }
              }
            }
          }))
      }
    }
  }
})
