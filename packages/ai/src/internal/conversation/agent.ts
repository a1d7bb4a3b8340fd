/** An agent within a call: its conversation is known by the call's first claim, and goes on wherever that is taken up. */
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ConversationStore from "../../ConversationStore.ts"
import * as DeferredTool from "../../DeferredTool.ts"
import * as Within from "../agent/within.ts"
import { EnclosingTurn } from "../environment/enclosingTurn.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Handlers from "../tool/handlers.ts"
import * as Conversations from "./conversation.ts"
import type * as Conversation from "./model.ts"

type AnyTools = Record<string, Tool.Any>

interface Options<Tools extends AnyTools, E, R> {
  readonly toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
  readonly model?: LanguageModel.LanguageModel | undefined
  readonly instructions?: string | undefined
  readonly limits?: Conversation.Options<Tools>["limits"]
  readonly tell?: "nothing" | "steps" | "deltas" | undefined
}

/** How an agent ended that did not have to wait. */
type Ended = Exclude<Conversation.Outcome<AnyTools>, Conversation.Waiting<AnyTools>>

const begun =
  <Tools extends AnyTools, E, R>(name: string, options: Options<Tools, E, R>) =>
  (prompt: Prompt.RawInput): Effect.Effect<Ended, unknown, R> =>
    Effect.gen(function*() {
      const made = yield* Deferral.CurrentMade
      if (made?.began === undefined) return yield* Effect.die(new Error(nowhere))
      const { began, toolCallId, toolName } = made
      const outer = yield* Within.Within
      const scope = yield* Approval.Scope
      const id = Within.conversationName(began, name)
      const root = outer?.root ?? (yield* ConversationStore.keyOf(scope.conversation ?? id, scope)).id
      const within: Within.Within = {
        parent: began,
        root,
        conversation: outer === undefined ? scope.conversation : outer.conversation,
        path: [...outer?.path ?? [], toolName, ...(name === "" ? [] : [name])],
        calls: [...outer?.calls ?? [], toolCallId],
        memories: (yield* EnclosingTurn)?.memories ?? []
      }
      const { instructions, limits, model, tell, toolkit } = options
      const goes = Conversations.goOn({ id, toolkit, instructions, limits, tell }, within, prompt)
      const refusing = yield* Within.Refusing
      const told = Effect.tap(goes, ({ refused }) =>
        Effect.sync(() => {
          for (const { approvalId, error } of refused) refusing(approvalId, error)
        }))
      const outcome = yield* Deferral.runAgent(
        made,
        model === undefined ? told : Effect.provideService(told, LanguageModel.LanguageModel, model),
        ({ _tag }) => _tag === "Waiting"
      )
      return outcome as Ended // one that waits does not come here
    })

const nowhere =
  "An agent goes on only in the handler of an AgentTool or of a DeferredTool, under the engine of @assent/ai: there its call is" +
  " known again when somebody has answered. Call AgentTool.converse in the effect that `start` or `resume` gives."

// Of an agent that came to no end of its own.
const unended = (name: string, outcome: Exclude<Ended, { _tag: "Completed" }>): Effect.Effect<never> =>
  outcome._tag === "Limited"
    ? Deferral.unended(`The agent "${name}" came to its limit of ${outcome.limit} before its end. What it did stands.`)
    : Deferral.unended(`A person stopped the agent "${name}". What it did before stands.`, true)

/** See `AgentTool.converse`. */
export const converse: <Tools extends AnyTools, E, R>(
  name: string,
  options: Options<Tools, E, R>
) => (prompt: Prompt.RawInput) => Effect.Effect<
  Conversation.Completed<Tools> | Conversation.Limited<Tools>,
  | E
  | LanguageModel.ExtractError<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
  | ApprovalError.ApprovalError
  | ConversationStore.ConversationError,
  R | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
> = (name, options) => (prompt) =>
  // What it says, and its errors and services, are those of its toolkit, which only the caller's types know.
  Effect.flatMap(begun(name, options)(prompt), (outcome): Effect.Effect<unknown, unknown> =>
    outcome._tag === "Stopped" ? unended(name, outcome) : Effect.succeed(outcome)) as Effect.Effect<never, never, never>

// As a handler may fail.
const asAiError = (error: unknown): unknown =>
  error instanceof ApprovalError.ApprovalError
    ? ApprovalError.toAiError(error, "handler", "AgentTool")
    : error instanceof ConversationStore.ConversationError
    ? AiError.make({
      module: "AgentTool",
      method: "handler",
      reason: new AiError.UnknownError({ description: error.message })
    })
    : error

/** See `AgentTool.handler`. */
export const handler = <T extends DeferredTool.Any, Tools extends AnyTools, E, R, Failed, Services>(
  tool: T,
  { prompt, result = textOf, ...options }: Options<Tools, E, R> & {
    readonly prompt: (params: Tool.Parameters<T>) => Prompt.RawInput
    readonly result?:
      | ((completed: Conversation.Completed<Tools>) => Effect.Effect<unknown, unknown, unknown>)
      | undefined
  }
): (params: Tool.Parameters<T>, context: Toolkit.HandlerContext<T>) => Effect.Effect<
  Tool.Success<T>,
  Failed,
  Services
> => {
  const start = (params: Tool.Parameters<T>) =>
    Effect.mapError(
      Effect.flatMap(begun("", options)(prompt(params)), (outcome): Effect.Effect<unknown, unknown, unknown> =>
        outcome._tag === "Completed"
          ? Handlers.running(
            tool.name,
            result(outcome as unknown as Conversation.Completed<Tools>),
            "result: (completed)"
          )
          : unended(tool.name, outcome)),
      asAiError
    )
  // It declares no interactions, so it has nothing but its beginning. Its types are those of the agent and its result.
  return DeferredTool.handler(tool, { start, resume: {} } as unknown as DeferredTool.Handlers<T>) as never
}

const textOf = ({ text }: { readonly text: string }): Effect.Effect<unknown> => Effect.succeed(text)

/** What such a tool gives, where it does not say. */
export const successOf = <Success extends Schema.Constraint>(success: Success | undefined): Success =>
  // The type parameter's default is that of a text.
  success ?? Schema.String as unknown as Success

// Not said in the types of what a program may declare: a run whose process has died may begin again, because all that it does
// its agents do, once.
const nothing: { readonly interactions: {} } & Pick<Deferral.Options, "repeats"> = { interactions: {}, repeats: true }

export const repeatable: { readonly interactions: {} } = nothing
