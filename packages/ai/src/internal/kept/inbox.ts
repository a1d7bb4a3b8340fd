/** The requests that conversations wait for, as rows of one inbox. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import type * as Store from "../../Store.ts"
import * as Within from "../agent/within.ts"
import { definedFields } from "../fields.ts"
import * as ApprovalId from "../seal/approvalId.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Ended from "./ended.ts"
import * as Rows from "./rows.ts"

/**
 * Which open requests: those of which every field is as given. `conversation` is the program's id of one, of that tenant and
 * that principal; `kind` is `"approval"`, `"hosted"` for what a provider asks about its own call, or the kind of interaction
 * that a tool waits for; `issuedBefore` is in milliseconds since 1970-01-01T00:00Z.
 *
 * @category options
 * @since 0.1.0
 */
export interface Filter {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly conversation?: string | undefined
  readonly toolName?: string | undefined
  readonly kind?: "approval" | "hosted" | Approval.InteractionKind | undefined
  readonly issuedBefore?: number | undefined
}

/**
 * An open request, and whose conversation asks it: with its scope, `Conversation.make` makes the conversation that decides.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenRequest {
  readonly request: Approval.ApprovalRequest
  readonly scope: Approval.ApprovalScope
}

/**
 * A page, the oldest first. `next` leads to the one after it; `undefined` on the last.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly requests: ReadonlyArray<OpenRequest>
  readonly next: string | undefined
}

/** What is to be opened and closed with a write. */
export interface Changes {
  readonly opened: ReadonlyArray<Store.RequestName & { readonly request: string }>
  readonly closed: ReadonlyArray<Closed>
}

/** What is asked no more. What was answered is told of when it is decided, but for what the journal knows by another name. */
export interface Closed {
  readonly nonces: ReadonlyArray<string>
  readonly ended?: Store.Ended
}

const none: Changes = { opened: [], closed: [] }

/** What waits, as it did before and as it does now; what is the same object has not changed. */
export const changes = (
  key: Rows.Key,
  before: Rows.Kept | undefined,
  after: Rows.Kept
): Effect.Effect<Changes, Schema.SchemaError> => {
  if (before?.open === after.open && before.answered === after.answered) return Effect.succeed(none)
  const was = waitingIn(before)
  const is = waitingIn(after)
  const opened = [...is.values()].filter((request) => was.get(request.approvalId) !== request)
  const closed = [...was.values()].filter(({ approvalId }) => !is.has(approvalId))
  if (opened.length === 0 && closed.length === 0) return Effect.succeed(none)
  return Effect.gen(function*() {
    return {
      opened: inOrder(yield* Effect.forEach(opened, (request) => rowOf(key, request)), ({ nonce }) => nonce),
      closed: yield* closedOf(key, closed, after)
    }
  })
}

const closedOf = Effect.fnUntraced(function*(
  key: Rows.Key,
  requests: ReadonlyArray<Approval.ApprovalRequest>,
  { answered, deciders, history }: Rows.Kept
): Effect.fn.Return<ReadonlyArray<Closed>> {
  const decided: Array<string> = []
  const withdrawn: Array<string> = []
  const closed: Array<Closed> = []
  const isAnswered = new Set(answered)
  for (const { approvalId } of requests) {
    const nonce = yield* nonceOf(key, approvalId)
    if (!isAnswered.has(approvalId)) withdrawn.push(nonce)
    else if (isSealed(approvalId)) decided.push(nonce)
    else {
      const answer = history.content.findLast(({ role }) => role === "tool")
      const said = answer?.role === "tool"
        ? answer.content.findLast((part) => part.type === "tool-approval-response" && part.approvalId === approvalId)
        : undefined
      const { approved, reason } = said?.type === "tool-approval-response"
        ? said
        : { approved: true, reason: undefined }
      const decidedBy = deciders[approvalId]
      closed.push({
        nonces: [nonce],
        ended: Ended.encode(approved ? "approved" : "denied", definedFields({ decidedBy, reason }))
      })
    }
  }
  if (withdrawn.length > 0) closed.push({ nonces: sorted(withdrawn), ended: { state: "withdrawn" } })
  return decided.length === 0 ? closed : [{ nonces: sorted(decided) }, ...closed]
})

const isSealed = (approvalId: string): boolean => ApprovalId.parse(approvalId) !== undefined

const waitingIn = (kept: Rows.Kept | undefined): ReadonlyMap<string, Approval.ApprovalRequest> => {
  const answered = new Set(kept?.answered)
  return new Map(
    kept?.open.flatMap((request) =>
      // What waits in agents is asked there.
      answered.has(request.approvalId) || request.interaction === "nested" ? [] : [[request.approvalId, request]]
    )
  )
}

const sorted = (nonces: ReadonlyArray<string>): ReadonlyArray<string> => inOrder(nonces, (nonce) => nonce)

// Whoever locks rows locks them in one order.
const inOrder = <A>(rows: ReadonlyArray<A>, nonceOf: (row: A) => string): ReadonlyArray<A> =>
  rows.toSorted((a, b) => nonceOf(a) < nonceOf(b) ? -1 : 1)

// What the provider asks has no seal of ours, and an id that another conversation may see too.
const nonceOf = (key: Rows.Key, approvalId: string): Effect.Effect<string> => {
  const sealed = ApprovalId.parse(approvalId)
  return sealed === undefined
    ? Effect.map(Cryptography.sha256(JSON.stringify([key.id, approvalId])), (digest) => `hosted/${digest}`)
    : Effect.succeed(sealed.nonce)
}

// As it is known outside.
const shownAs = ({ name, principal, within }: Rows.Key, request: Approval.ApprovalRequest): Approval.ApprovalRequest =>
  within !== undefined
    ? Within.shownOutside(within, request)
    // What a provider asks says nothing of where.
    : request.conversation !== undefined
    ? request
    : new Approval.ApprovalRequest({ ...request, conversation: name, ...definedFields({ principal }) })

const rowOf = Effect.fnUntraced(function*(
  key: Rows.Key,
  request: Approval.ApprovalRequest
): Effect.fn.Return<Store.RequestName & { readonly request: string }, Schema.SchemaError> {
  const { approvalId, expiresAt, interaction, issuedAt, providerExecuted, toolCallId, toolName } = request
  const { id, principal, tenant, within } = key
  const shown = shownAs(key, request)
  return {
    nonce: yield* nonceOf(key, approvalId),
    approvalId,
    toolName,
    toolCallId,
    kind: providerExecuted ? "hosted" : interaction,
    conversation: id,
    ...Within.belongs(within, id),
    issuedAt: issuedAt ?? (yield* Clock.currentTimeMillis),
    request: JSON.stringify(yield* Effect.fromResult(Rows.encodeRequest(shown))),
    ...definedFields({ tenant, principal, expiresAt })
  }
})

/** A row as it was opened; `undefined` for one of a run that waits without a conversation, or one that cannot be read. */
export const openRequest = (row: Store.RequestRow): OpenRequest | undefined => {
  const request = row.request === undefined ? undefined : Rows.readRequest(row.request)
  if (request === undefined) return undefined
  const { conversation } = request
  return { request, scope: definedFields({ tenant: row.tenant, principal: row.principal, conversation }) }
}
