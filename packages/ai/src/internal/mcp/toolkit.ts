/**
 * The tools of an MCP server as a toolkit: each with its definition, its gate, and a handler that looks again right
 * before the call whether the tool is still what was agreed to.
 */
import type * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Text from "../text.ts"
import * as LockedToolkit from "../tool/lockedToolkit.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Definition from "./definition.ts"
import { McpGuardError } from "./guardError.ts"
import * as Hints from "./hints.ts"
import * as Names from "./names.ts"
import * as Parameters from "./parameters.ts"
import * as McpResult from "./result.ts"

/**
 * A tool of an MCP server: its parameters are an object, of which its server's JSON Schema says more; its result is text.
 *
 * @category models
 * @since 0.1.0
 */
export interface McpTool extends
  Tool.Tool<string, {
    readonly parameters: Parameters.Parameters
    readonly success: typeof Schema.String
    readonly failure: typeof McpResult.Failure
    readonly failureMode: "return"
  }>
{}

/**
 * The tools of an MCP server, which are known at run time only, by their qualified names.
 *
 * @category models
 * @since 0.1.0
 */
export type Tools = Record<string, McpTool>

export interface Options {
  readonly name?: string | undefined
  readonly trust?: ReadonlyArray<string> | undefined
  readonly timeout?: Duration.Input | undefined
}

export const make = Effect.fnUntraced(function*(
  client: McpClient.McpClient,
  { name, timeout, trust = [] }: Options
): Effect.fn.Return<Toolkit.WithHandler<Tools>, McpClientError.McpClientError | McpGuardError> {
  const server = yield* serverOf(client, name, trust)
  const trusted = trust.some((one) => one === server.name)
  const named = yield* Effect.forEach(
    yield* client.listTools(),
    (listed) => Effect.map(Names.qualified(server.name, listed.name), (qualified) => ({ listed, qualified }))
  )
  const times = new Map<string, number>()
  for (const { qualified } of named) times.set(qualified, (times.get(qualified) ?? 0) + 1)
  const tools: Array<McpTool> = []
  const handlers: Record<string, ReturnType<typeof handlerOf>> = {}
  const leftOut: Array<LeftOut> = []
  for (const { listed, qualified } of named) {
    if (times.get(qualified)! > 1) {
      leftOut.push({ tool: listed.name, why: `two of them would be called ${Text.quote(qualified)}` })
      continue
    }
    const definition = Definition.make(server, listed)
    if (Result.isFailure(definition)) {
      leftOut.push({ tool: listed.name, why: `changes to it could not be detected (${definition.failure})` })
      continue
    }
    const tool = Tool.dynamic(qualified, {
      description: listed.description,
      parameters: Parameters.make(listed.inputSchema),
      success: Schema.String,
      failure: McpResult.Failure,
      failureMode: "return"
    }).annotate(Tool.Strict, false).annotate(Prepare.Definition, definition.success)
    // Not through `dynamic`, which would take it for a schema of effect's if the server makes it look like one.
    Object.assign(tool, { jsonSchema: listed.inputSchema })
    tools.push(Hints.apply(tool, server, listed, trusted))
    handlers[qualified] = handlerOf(client, server, listed, timeout)
  }
  yield* warnOf(client, server, leftOut)
  const toolkit: Toolkit.Toolkit<Tools> = LockedToolkit.lock(Toolkit.make(...tools))
  return yield* Effect.provideContext(toolkit, yield* toolkit.toHandlers(handlers))
})

/** A tool that is not in the toolkit, so that no consent to another can be taken for one to it. */
interface LeftOut {
  readonly tool: string
  readonly why: string
}

// Each turn lists the tools; only what is new is told.
const warned = new WeakMap<McpClient.McpClient, string>()

const warnOf = (
  client: McpClient.McpClient,
  { name }: Definition.Server,
  leftOut: ReadonlyArray<LeftOut>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const known = warned.get(client) ?? ""
    const all = [...new Set(leftOut.map(({ tool, why }) => `${Text.quote(tool)}, because ${why}`))]
    const more = all.length > maxTold ? `; and ${all.length - maxTold} more` : ""
    const told = all.slice(0, maxTold).join("; ") + more
    warned.set(client, told)
    return told === "" || told === known ? Effect.void : Effect.logWarning(
      `Assent: The MCP server ${
        Text.quote(name)
      } offers tools that are left out: ${told}. They cannot be called until` +
        " the server fixes them."
    )
  })

const maxTold = 3

// What a server calls itself proves nothing: it may name its tools, and is never trusted.
const serverOf = Effect.fnUntraced(function*(
  { serverInfo }: McpClient.McpClient,
  name: string | undefined,
  trust: ReadonlyArray<string>
): Effect.fn.Return<Definition.Server, McpGuardError> {
  const says = { name: serverInfo?.name, title: serverInfo?.title }
  if (name !== undefined) {
    if (!Names.isServerName(name)) return yield* new McpGuardError({ problem: "InvalidName", server: name })
    return { name, selfNamed: false, says }
  }
  const own = says.name === undefined ? undefined : Names.toServerName(says.name)
  if (own === undefined) return yield* new McpGuardError({ problem: "NameMissing", server: says.name ?? "" })
  if (trust.some((one) => Names.toServerName(one) === own)) {
    return yield* new McpGuardError({ problem: "SelfNamedTrust", server: says.name ?? "" })
  }
  return { name: own, selfNamed: true, says }
})

// Whatever let the call run, a person or a hint, was about the tool as it was listed. The protocol binds no call to a
// definition, so a server can still change one between the last listing and the call.
const handlerOf = (
  client: McpClient.McpClient,
  server: Definition.Server,
  listed: McpSchema.Tool,
  timeout: Duration.Input | undefined
) =>
(params: Parameters.Parameters["Type"]): Effect.Effect<string, McpResult.Failure> =>
  Effect.gen(function*() {
    const now = yield* Effect.mapError(client.listTools({ timeout }), (error) => McpResult.notListed(server, error))
    const changed = changeOf(server, listed, now)
    if (changed !== undefined) return yield* Effect.fail(McpResult.changed(server, changed))
    const result = yield* client.callTool({ tool: listed, arguments: params }, { timeout }).pipe(
      Effect.mapError((error) => McpResult.failed(server, error))
    )
    return yield* McpResult.read(server, result)
  })

const changeOf = (
  server: Definition.Server,
  listed: McpSchema.Tool,
  now: ReadonlyArray<McpSchema.Tool>
): string | undefined => {
  const found = now.filter(({ name }) => name === listed.name)
  const whose = Definition.spoken(server)
  if (found.length === 0) return `The tool is gone: ${whose} has removed or renamed it.`
  if (found.length > 1) return `There are now two tools of this name: ${whose} has added another one.`
  const changes = Definition.changes(listed, found[0]!)
  return changes.length === 0
    ? undefined
    : `The tool is no longer the same: ${whose} has changed its ${changes.join(" and its ")}.`
}
