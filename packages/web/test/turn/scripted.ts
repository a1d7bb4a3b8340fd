/** A conversation that is written down: its history, what is open in it, and what its turns say. */
import type { Approval, Conversation as Kept, Prompt, Response } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Conversation, Turn } from "../../src/internal/turn/conversation.ts"
import { kept } from "../wire/parts.ts"

export interface Script {
  readonly history?: ReadonlyArray<Prompt.Message>
  readonly pending?: ReadonlyArray<Approval.ApprovalRequest>
  readonly states?: { readonly [approvalId: string]: Kept.RequestState }
  readonly going?: ReadonlyArray<Turn>
  readonly starts?: ReadonlyArray<Effect.Effect<Turn, unknown>>
}

export const turnOf = (
  messageId: string,
  parts: ReadonlyArray<Response.AnyPart> | Turn["parts"],
  outcome: Turn["outcome"] = Effect.succeed({ refused: [] })
): Turn => ({ messageId, parts: Stream.isStream(parts) ? parts : Stream.fromArray(parts), outcome })

/** What was said and decided in it is noted. */
export const conversationOf = ({ going = [], history = [], pending = [], starts = [], states = {} }: Script) => {
  const heard: Array<unknown> = []
  const turns = [...going]
  const left = [...starts]
  const conversation: Conversation = {
    read: Effect.succeed({ messages: kept(history), pending, isTurnTaken: false }),
    stateOf: (approvalId) => Effect.succeed(states[approvalId]),
    turn: Effect.sync(() => turns.shift()),
    start: (prompt, { answers, by, messageId }) => {
      heard.push([prompt, answers.map(({ approvalId }) => approvalId), by?.id, messageId])
      return left.shift() ?? Effect.succeed(turnOf("m99", []))
    },
    cancel: () => Effect.die("nothing is stopped here")
  }
  return { conversation, heard }
}
