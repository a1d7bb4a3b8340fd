/**
 * The tools, the model and the processes of a tree of agents. One toolkit serves every level, and one model: what an agent does
 * follows from its task, which is the key of its place in the tree. What tools do is written to a log that no process takes
 * with it.
 */
import {
  AgentTool,
  Approval,
  ApprovalJournal,
  ApprovalPresentation,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  DeferredTool,
  Interaction,
  LanguageModel,
  type Prompt,
  type Store,
  SuspensionStore,
  Tool,
  Toolkit,
  Webhook
} from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Effect, Layer, type Redacted, Schema, type Scope } from "effect"
import type { AnyToolkit } from "../laws/support.ts"
import * as Tree from "./tree.ts"

// =============================================================================
// Tools
// =============================================================================

export const presentationOf = (key: string): Approval.ApprovalPresentation =>
  ApprovalPresentation.text(`Pay what ${key} says`)

const Pay = Tool.make("Pay", {
  parameters: { key: Schema.String },
  success: Schema.String,
  needsApproval: ({ key }) => Approval.needsApproval({ presentation: presentationOf(key) })
})

const Look = Tool.make("Look", { parameters: { key: Schema.String }, success: Schema.String })

export const Ask = DeferredTool.make("Ask", {
  parameters: { key: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { text: Interaction.askUser }
})

export const Wait = DeferredTool.make("Wait", {
  parameters: { key: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { hour: Interaction.timer }
})

export const Hook = DeferredTool.make("Hook", {
  parameters: { key: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { called: Interaction.webhook(Schema.Struct({ said: Schema.String })) }
})

const agentOptions = {
  description: "Does a task.",
  parameters: { task: Schema.String },
  success: Schema.String,
  needsApproval: ({ task }: { readonly task: string }) => task.endsWith("!")
} as const

const Agent = AgentTool.make("Agent", agentOptions)
const Clerk = AgentTool.make("Clerk", agentOptions)

const Team = DeferredTool.make("Team", {
  parameters: { tasks: Schema.Array(Schema.String) },
  success: Schema.String,
  interactions: {}
})

const kit = Toolkit.make(Pay, Look, Ask, Wait, Hook, Agent, Clerk, Team)

export interface ToolOptions {
  /** Told of everything that a tool does. */
  readonly does: (what: string) => void
  /** Done before it does it. */
  readonly before?: ((what: string) => Effect.Effect<void>) | undefined
  readonly limits?: Conversation.Options<any>["limits"]
  readonly tell?: "nothing" | "steps" | "deltas" | undefined
  /** Given the token of each webhook that is waited for. */
  readonly onToken?: ((token: Redacted.Redacted) => void) | undefined
}

/** The toolkit of every level. */
export const makeToolkit = (
  { before = () => Effect.void, does, limits, onToken = () => {}, tell }: ToolOptions
): Effect.Effect<AnyToolkit> =>
  Effect.gen(function*() {
    const doing = (what: string): Effect.Effect<string> =>
      Effect.andThen(before(what), Effect.sync(() => (does(what), what)))
    // The agents of this toolkit have this toolkit.
    const toolkit: Effect.Effect<AnyToolkit> = Effect.suspend(() => Effect.succeed(made))
    const prompt = ({ task }: { readonly task: string }) => promptOf(task.replace("!", ""))
    const options = { toolkit, prompt, limits, tell }
    // Agents of any tools may need and fail with anything. These need nothing.
    const member = (task: string, index: number) =>
      AgentTool.converse(Tree.memberName(index), { toolkit, limits, tell })(promptOf(task)) as unknown as Effect.Effect<
        { readonly text: string }
      >
    const handlerOf = (tool: typeof Agent | typeof Clerk) => AgentTool.handler(tool, options) as never
    const layer = kit.toLayer({
      Pay: ({ key }) => doing(`paid:${key}`),
      Look: ({ key }) => doing(`saw:${key}`),
      Ask: DeferredTool.handler(Ask, {
        start: ({ key }) => Effect.andThen(doing(`ask:${key}`), Ask.suspend.text({ prompt: `${key}?` }, key)),
        resume: { text: (text, key) => doing(`heard:${key}:${text}`) }
      }),
      Wait: DeferredTool.handler(Wait, {
        start: ({ key }) => Wait.suspend.hour({ after: "1 hour" }, key),
        resume: { hour: (_, key) => doing(`woke:${key}`) }
      }),
      Hook: DeferredTool.handler(Hook, {
        start: ({ key }) =>
          Effect.flatMap(
            Effect.tap(Webhook.makeToken, (token) => Effect.sync(() => onToken(token))),
            (token) => Hook.suspend.called({ token }, key)
          ),
        resume: { called: ({ said }, key) => doing(`called:${key}:${said}`) }
      }),
      Agent: handlerOf(Agent),
      Clerk: handlerOf(Clerk),
      Team: DeferredTool.handler(Team, {
        start: ({ tasks }) =>
          Effect.forEach(tasks, member, { concurrency: "unbounded" }).pipe(
            Effect.map((ended) => `{${ended.map(({ text }) => text).join(" ")}}`)
          ),
        resume: {}
      })
    })
    // Any tools, which need nothing.
    const made = (yield* Effect.provide(kit, layer)) as unknown as AnyToolkit
    return made
  })

// =============================================================================
// The model
// =============================================================================

export const promptOf = (key: string): string => `Task ${key}`

const textOf = (message: Prompt.Message): string =>
  message.role === "user" ? message.content.map((part) => part.type === "text" ? part.text : "").join("") : ""

type ToolCall = ReturnType<typeof ScriptedModel.toolCall>

const toolCall = (call: Tree.Call, key: string, id: string): ToolCall => {
  switch (call._tag) {
    case "Agent":
      return ScriptedModel.toolCall({ id, name: call.name, params: { task: Tree.taskOf(key, call.isGated) } })
    case "Team":
      return ScriptedModel.toolCall({
        id,
        name: "Team",
        params: { tasks: call.agents.map((_, index) => Tree.memberKey(key, index)) }
      })
    default:
      return ScriptedModel.toolCall({ id, name: call._tag, params: { key } })
  }
}

/** The key of the agent whose prompt this is. */
export const agentOf = ({ content }: Prompt.Prompt): string =>
  content.map(textOf).findLast((text) => text.startsWith("Task "))?.slice("Task ".length) ?? "nobody"

/**
 * Answers as the agent whose task it reads: its next calls, or in the end what came of all of them. Of a call
 * that may be repeated, as it reads, `asksAgain` says whether it has to be.
 */
export const answerAs =
  (agents: ReadonlyMap<string, Tree.Agent>, asksAgain: (what: string) => boolean = () => false) =>
  ({ prompt: { content } }: { readonly prompt: Prompt.Prompt }): string | ReadonlyArray<ToolCall> => {
    const begins = content.findLastIndex((message) => textOf(message).startsWith("Task "))
    const key = textOf(content[begins]!).slice("Task ".length)
    const steps = agents.get(key)?.steps
    if (steps === undefined) throw new Error(`there is no agent ${key}`)
    const since = content.slice(begins + 1)
    if (since.some((message) => message.role === "user" && !textOf(message).startsWith("<late-tool-result>"))) {
      return "Something else."
    }
    const results = since.flatMap((message) => message.role === "tool" ? message.content : []).filter((part) =>
      part.type === "tool-result"
    )
    const said: Array<string> = []
    for (const [step, calls] of steps.entries()) {
      const found = calls.map((_, index) => results.findLast(({ id }) => id === Tree.callId(step, index)))
      const missing = calls.flatMap((call, index) => {
        const result = found[index]
        const isMissing = result === undefined ||
          (result.isFailure && /again/.test(JSON.stringify(result.result)) &&
            asksAgain(Tree.callKey(key, step, index)))
        return isMissing ? [toolCall(call, Tree.callKey(key, step, index), Tree.callId(step, index))] : []
      })
      if (missing.length > 0) return missing
      said.push(...found.map((result) => result!.isFailure ? "no" : String(result!.result)))
    }
    return `[${said.join(" ")}]`
  }

/** The same, with other parameters in its calls of a tool. */
export const answerWith = (
  agents: ReadonlyMap<string, Tree.Agent>,
  tool: string,
  params: object
): ScriptedModel.Turn => {
  const answer = answerAs(agents)
  return (request) => {
    const turn = answer(request)
    return typeof turn === "string" ? turn : turn.map((call) => call.name === tool ? { ...call, params } : call)
  }
}

// =============================================================================
// Processes
// =============================================================================

export type Conversing = Conversation.Conversation<Record<string, any>>

/** The conversation of an id. Its tools are any tools, and so are what they need: nothing. */
export const conversationOf = (options: Conversation.Options<any>) =>
  Conversation.make(options) as Effect.Effect<Conversing, never, LanguageModel.LanguageModel>

export interface Process {
  readonly conversation: Conversing
  /** Another object of the same conversation in the same process. */
  readonly again: Effect.Effect<Conversing>
  readonly toolkit: AnyToolkit
  readonly script: ScriptedModel.ScriptedModel
  /** Puts the services of this process around an effect. */
  readonly serving: <A, E>(effect: Effect.Effect<A, E, any>) => Effect.Effect<A, E>
}

export interface ProcessOptions extends ToolOptions, Partial<Omit<Conversation.Options<any>, "limits" | "toolkit">> {
  readonly store: Store.Store
  readonly agents: ReadonlyMap<string, Tree.Agent>
  /** What the model does instead, where that is to be seen. */
  readonly model?: ScriptedModel.Turn | undefined
  readonly approval?: LanguageModel.ApprovalOptions | undefined
  /** Of the outermost conversation alone. */
  readonly outerLimits?: Conversation.Options<any>["limits"]
  readonly scope?: Approval.ApprovalScope | undefined
}

const key = "the key of the tests of agents, 32 bytes"

/** A process: everything is its own but the store, and it ends with the scope. */
export const makeProcess = (
  { agents, approval, before, does, id = "c1", limits, model, onToken, outerLimits, scope = {}, store, tell, ...rest }:
    ProcessOptions
): Effect.Effect<Process, never, Scope.Scope> =>
  Effect.gen(function*() {
    const script = yield* ScriptedModel.make({ turns: [], afterLastTurn: model ?? answerAs(agents) })
    const toolkit = yield* makeToolkit({ does, before, limits, onToken, tell })
    const journal = yield* ApprovalJournal.make({ store, heartbeat: "1 second", grace: 0 })
    const conversations = yield* ConversationStore.make({ store, heartbeat: "1 second" })
    const seal = yield* Effect.orDie(Layer.build(ApprovalSeal.layer({ key })))
    const service = approval === undefined ? script.model : LanguageModel.withApproval(script.model, approval)
    const serving: Process["serving"] = (effect) =>
      effect.pipe(
        Effect.provideService(LanguageModel.LanguageModel, service),
        Effect.provideService(ConversationStore.ConversationStore, conversations),
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
        Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
        Effect.provideService(Approval.Scope, scope),
        Effect.provideContext(seal)
        // The tools are any tools, and so are what they need: nothing.
      ) as Effect.Effect<any, any>
    const again = serving(conversationOf({ id, toolkit, limits: outerLimits, ...rest }))
    return { conversation: yield* again, again, toolkit, script, serving }
  })
