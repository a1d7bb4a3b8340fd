/**
 * Where an agent runs that is a tool: within which call, of whose conversation, and how its requests are called outside. What
 * is kept of it leads there, and it is shown to people so.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"

export interface Within {
  /** The nonce of the first claim of the call that it runs in. */
  readonly parent: string
  /** The row of the outermost conversation; where the outermost turn is of none, that of the outermost agent. */
  readonly root: string
  /** What the program calls that conversation; `undefined` where the outermost turn is of none. */
  readonly conversation: string | undefined
  /** The agents, the outermost first, and the ids of their calls. */
  readonly path: ReadonlyArray<string>
  readonly calls: ReadonlyArray<string>
  /** Whose memories are around it: what was denied there is denied here. */
  readonly memories: ReadonlyArray<Approval.ApprovalScope>
}

export const Within: Context.Reference<Within | undefined> = Context.Reference<Within | undefined>(
  "~@assent/ai/internal/Within",
  { defaultValue: () => undefined }
)

const conversationPrefix = "agent/"

/** What the conversation of an agent is called that goes on in the call with this first claim. */
export const conversationName = (began: string, name: string): string =>
  `${conversationPrefix}${began}${name === "" ? "" : `/${name}`}`

/** Whether a conversation of that name may be an agent's, so that it has to be looked up. */
export const mayBeAgents = (conversation: string): boolean => conversation.startsWith(conversationPrefix)

/** As an inner call's id stands outside: whoever does not know of agents takes it for no call at all. */
export const callId = ({ calls }: Pick<Within, "calls">, toolCallId: string): string => [...calls, toolCallId].join("/")

/** As a request of an agent is known outside: to pages, controllers and events alike. */
export const shownOutside = (
  within: Pick<Within, "calls"> | undefined,
  request: Approval.ApprovalRequest
): Approval.ApprovalRequest =>
  within === undefined
    ? request
    : new Approval.ApprovalRequest({ ...request, toolCallId: callId(within, request.toolCallId) })

/** Whose rows: what is kept of what is asked here. */
export const belongs = (
  within: Within | undefined,
  conversation: string | undefined
): { readonly parent?: string; readonly root?: string } =>
  within !== undefined
    ? { parent: within.parent, root: within.root }
    : conversation === undefined
    ? {}
    : { root: conversation }

/**
 * Told of answers that were given from outside and have no effect within: whoever took them is the outermost conversation.
 */
export const Refusing: Context.Reference<(approvalId: string, error: ApprovalError.ApprovalError) => void> = Context
  .Reference<(approvalId: string, error: ApprovalError.ApprovalError) => void>("~@assent/ai/internal/RefusingWithin", {
    defaultValue: () => () => {}
  })

/** What the turn around has left: an agent within it never has more. */
export interface Left {
  readonly steps: () => number
  readonly tokens: () => number
  /** By the monotonic clock, in milliseconds. */
  readonly until: number
  /** Tokens that were spent within it. */
  readonly spend: (tokens: number) => void
}

export const Left: Context.Reference<Left | undefined> = Context.Reference<Left | undefined>(
  "~@assent/ai/internal/LeftAround",
  { defaultValue: () => undefined }
)

/** The conversations that a handler has opened by itself and that wait for somebody. */
export const Opened: Context.Reference<Set<string> | undefined> = Context.Reference<Set<string> | undefined>(
  "~@assent/ai/internal/OpenedByHandler",
  { defaultValue: () => undefined }
)

/** Tells whoever reads the outermost turn what an agent within it says while it goes on. */
export type Telling = (path: ReadonlyArray<string>, text: string) => Effect.Effect<void>

export const Telling: Context.Reference<Telling | undefined> = Context.Reference<Telling | undefined>(
  "~@assent/ai/internal/TellingAround",
  { defaultValue: () => undefined }
)
