/**
 * Several toolkits with their handlers as one.
 */
import * as AiError from "effect/ai/AiError"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Text from "../text.ts"
import * as Handling from "./handlers.ts"

type AnyTools = Record<string, Tool.Any>

type Handling<Tools extends AnyTools, E, R> =
  | Toolkit.WithHandler<Tools>
  | Effect.Effect<Toolkit.WithHandler<Tools>, E, R>

export type Joined<Self extends AnyTools, That extends AnyTools> = string extends keyof Self | keyof That
  ? Record<string, Self[keyof Self] | That[keyof That]>
  : Toolkit.SimplifyRecord<Self & That>

export class ToolNameClash extends Schema.TaggedError<ToolNameClash>()("ToolNameClash", {
  toolName: Schema.String
}) {
  override get message(): string {
    return `Two toolkits have a tool called ${
      Text.quote(this.toolName)
    }, so nobody could say which of them was approved.` +
      " Give one of them another name; names of an MCP server's tools begin with the name that you give the server:" +
      " McpApproval.guard(client, { name: \"files\" })."
  }
}

export const join = <Self extends AnyTools, That extends AnyTools, E, R, E2, R2>(
  self: Handling<Self, E, R>,
  that: Handling<That, E2, R2>
): Effect.Effect<Toolkit.WithHandler<Joined<Self, That>>, E | E2 | ToolNameClash, R | R2> =>
  Effect.gen(function*() {
    const [first, second] = yield* Effect.all([handlersOf(self), handlersOf(that)], { concurrency: "unbounded" })
    for (const toolName of Object.keys(second.tools)) {
      if (Object.hasOwn(first.tools, toolName)) return yield* new ToolNameClash({ toolName })
    }
    // A name may be `__proto__`, which is an ordinary one.
    const tools = Object.fromEntries([...Object.entries(first.tools), ...Object.entries(second.tools)])
    const handle: Handlers["handle"] = (name, ...rest) =>
      Object.hasOwn(first.tools, name)
        ? first.handle(name, ...rest)
        : Object.hasOwn(second.tools, name)
        ? second.handle(name, ...rest)
        : Effect.fail(notFound(name, tools))
    return { tools, handle } as unknown as Toolkit.WithHandler<Joined<Self, That>> // the tools of both, and their handlers
  })

/** A toolkit with its handlers, whatever they need. */
interface Handlers {
  readonly tools: AnyTools
  readonly handle: (name: string, ...rest: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
}

const handlersOf = <Tools extends AnyTools, E, R>(toolkit: Handling<Tools, E, R>): Effect.Effect<Handlers, E, R> =>
  // The services of its handlers are in the type of what handles a call.
  Handling.resolve(toolkit) as unknown as Effect.Effect<Handlers, E, R>

const notFound = (toolName: string, tools: AnyTools): AiError.AiError =>
  AiError.make({
    module: "Toolkit",
    method: `${toolName}.handle`,
    reason: new AiError.ToolNotFoundError({ toolName, availableTools: Object.keys(tools) })
  })
