/**
 * A guarded toolkit as tools of an MCP server: upstream registers it, and every call goes through our guard, which asks
 * the client's user unless the program has somebody else to ask.
 */
import * as AiError from "effect/ai/AiError"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import * as Approval from "../../Approval.ts"
import * as ApprovalController from "../../ApprovalController.ts"
import * as ApprovalMemory from "../../ApprovalMemory.ts"
import * as Guard from "../guard/guard.ts"
import * as Results from "../history/results.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Consent from "../tool/consent.ts"
import * as Handling from "../tool/handlers.ts"
import * as LockedToolkit from "../tool/lockedToolkit.ts"
import * as Elicitation from "./elicitation.ts"
import * as ElicitationRounds from "./rounds.ts"

type AnyTools = Guard.AnyTools

type Output = Stream.Stream<Tool.HandlerResult<Tool.Any>, unknown>

interface Handlers {
  readonly tools: AnyTools
  readonly handle: (
    name: string,
    params: unknown,
    toolCallId?: string,
    options?: SchemaAST.ParseOptions
  ) => Effect.Effect<Output, unknown>
}

/** Registers the toolkit with the server in the context, with a guard before its gated tools. */
export const register = <Tools extends AnyTools>(
  toolkit: Toolkit.Toolkit<Tools>,
  controller: ApprovalController.Service,
  options: Guard.Options
): Effect.Effect<void, never, McpServer.ToolkitRequirements<Tools>> => {
  // Upstream reads its tools, and runs it as an effect for what handles their calls; its handlers stay in the context.
  const built = Effect.flatMap(Handling.resolve(toolkit as unknown as Effect.Effect<Handlers>), (built) => {
    const problem = Handling.problemOf(built, { resolvesCalls: true })
    return problem === undefined ? Effect.succeed(built) : Effect.die(problem)
  })
  const guarded = Object.assign(Effect.map(built, (built) => guard(built, controller, options)), {
    tools: LockedToolkit.disclosed(toolkit.tools)
  })
  const calls = makeCalls()
  return Effect.updateService(
    McpServer.registerToolkit(guarded as unknown as Toolkit.Toolkit<Tools>),
    McpServer.McpServer,
    (server) => ({
      ...server,
      addTool: ({ handle, ...tool }) => server.addTool({ ...tool, handle: (payload) => calls(handle(payload)) })
    })
  )
}

const guard = (
  toolkit: Handlers,
  controller: ApprovalController.Service,
  options: Guard.Options
): Handlers => {
  const run: Handlers["handle"] = Effect.fnUntraced(function*(name, params, toolCallId, decoding) {
    const round = yield* ElicitationRounds.CurrentRound
    const brought = round === undefined ? undefined : yield* round.begin
    // The user's no to a question that nobody asks any more is a no (law L3).
    const refusal = brought === undefined ? undefined : Elicitation.refusalOf(brought)
    if (refusal !== undefined) return Stream.succeed(Results.denied({ id: toolCallId ?? "", name }, refusal))
    const outside = yield* Outside
    const handled = toolkit.handle(name, params, toolCallId, decoding)
    // Beside what the program provides there is only the consent, which the lock takes away from the handler.
    const consent = yield* Consent.Consent
    const within = consent === undefined ? outside : Context.add(outside, Consent.Consent, consent)
    return Stream.map(yield* Effect.updateContext(handled, (_: Context.Context<never>) => within), unsaid)
  })
  const inner = { tools: toolkit.tools, handle: run } as unknown as Toolkit.WithHandler<AnyTools>
  const guarded = Guard.guard(inner, options) as unknown as Handlers
  const handle: Handlers["handle"] = Effect.fnUntraced(function*(name, params, toolCallId, decoding) {
    const tool = Object.hasOwn(toolkit.tools, name) ? toolkit.tools[name] : undefined
    // A guard leaves out what the schema does not know; of a strict tool that is an error.
    if (tool !== undefined) yield* decodes(tool, params, decoding)
    const context = yield* Effect.context<never>()
    const within = yield* asking(context, controller)
    const ours = (_: Context.Context<never>) => within
    const output = yield* Effect.updateContext(guarded.handle(name, params, toolCallId, decoding), ours)
    // What was shown runs as its result is read.
    return Stream.map(
      Stream.updateContext(output, ours),
      (output) => asOfHandler(output, Context.get(context, CurrentCall))
    )
  })
  return { tools: guarded.tools, handle }
}

// As upstream says that parameters do not fit, so that the client is told.
const decodes = (tool: Tool.Any, params: unknown, options: SchemaAST.ParseOptions | undefined) => {
  if (!Schema.isSchema(tool.parametersSchema)) return Effect.void
  // The services of the schema are the tool's own requirements.
  const schema = tool.parametersSchema as Schema.Codec<unknown>
  return Effect.catch(Effect.asVoid(Schema.decodeUnknownEffect(schema)(params, options)), ({ message }) => {
    const reason = new AiError.ToolParameterValidationError({ toolName: tool.name, description: message })
    const error = AiError.make({ module: "Toolkit", method: `${tool.name}.handle`, reason })
    return Effect.failCause(Cause.annotate(Cause.fail(error), Context.make(Toolkit.FailureOrigin, "parameters")))
  })
}

// Upstream shows no client what a tool says to a model alone, so that what is left is what our guard says.
const unsaid = ({ modelOutput: _, ...output }: Tool.HandlerResult<Tool.Any>): Tool.HandlerResult<Tool.Any> => output

// Upstream shows a failure that no handler gave as an internal error, without its reason.
const asOfHandler = (output: Tool.HandlerResult<Tool.Any>, call: Call): Tool.HandlerResult<Tool.Any> => {
  const [said] = output.modelOutput ?? []
  if (said?.type === "text") call.said = said.text
  return output.isFailure && output.failureOrigin === undefined ? { ...output, failureOrigin: "handler" } : output
}

// =============================================================================
// Calls
// =============================================================================

/** What our guard says of a call beside its result: that it ran as it was edited. */
interface Call {
  said?: string
}

const CurrentCall = Context.Reference<Call>("~@assent/ai/internal/elicitationToolkit/Call", {
  defaultValue: () => ({})
})

/** How the calls of a registration are handled: with what was said of them, and in rounds where they cannot be asked. */
const makeCalls = () => {
  const rounds = ElicitationRounds.make()
  return <A extends McpSchema.CallToolResult | McpSchema.InputRequired, E>(
    handled: Effect.Effect<A, E, McpSchema.McpRequestContext>
  ) =>
    rounds(Effect.suspend(() => {
      const call: Call = {}
      return Effect.map(
        Effect.provideService(handled, CurrentCall, call),
        (result) =>
          call.said === undefined || result instanceof McpSchema.InputRequired ? result : withText(result, call.said)
      )
    }))
}

const withText = (result: McpSchema.CallToolResult, text: string): McpSchema.CallToolResult =>
  new McpSchema.CallToolResult({ ...result, content: [...result.content, { type: "text", text }] })

// =============================================================================
// Who is asked, and for whom it is remembered
// =============================================================================

/**
 * The context of the call as it was before it was made ours. A handler finds what the program provides, and nothing of
 * ours: its own questions are the program's business.
 */
const Outside = Context.Reference<Context.Context<never>>("~@assent/ai/internal/elicitationToolkit/Outside", {
  defaultValue: () => Context.empty()
})

const withoutRound = Context.omit(ElicitationRounds.CurrentRound)

const asking = Effect.fnUntraced(function*(
  context: Context.Context<never>,
  controller: ApprovalController.Service
): Effect.fn.Return<Context.Context<never>> {
  const scope = Context.get(context, Approval.Scope)
  const within = Context.add(context, Outside, withoutRound(context))
  const answering = context.mapUnsafe.has(ApprovalController.ApprovalController.key)
    ? within
    : Context.add(within, ApprovalController.ApprovalController, controller)
  if (scope.conversation !== undefined) return answering
  const session = yield* conversationOf(context)
  // What one client's user wants remembered is of no other client, and of a client without a session nothing is.
  return session === undefined
    ? Context.add(answering, ApprovalMemory.ApprovalMemory, ApprovalMemory.none)
    : Context.add(answering, Approval.Scope, { ...scope, conversation: session })
})

const conversations = new WeakMap<object, string>()

const conversationOf = Effect.fnUntraced(function*(
  context: Context.Context<never>
): Effect.fn.Return<string | undefined> {
  const session = Elicitation.sessionOf(context)
  if (session === undefined) return undefined
  const made = `mcp-${yield* Cryptography.randomToken(16)}`
  const conversation = conversations.get(session) ?? made
  conversations.set(session, conversation)
  return conversation
})
