/** What tests of answers with a text share: every way of taking such a turn. */
import { it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ApprovalError, type Conversation, ConversationStore, type Prompt } from "../../src/index.ts"
import { type Story, tell } from "../laws/story.ts"
import type * as C from "./support.ts"

export type Say = (
  { conversation }: C.Started,
  prompt: Prompt.RawInput,
  options: Conversation.TurnOptions
) => Effect.Effect<C.Outcome, unknown>

export const ways: Record<string, Say> = {
  send: ({ conversation }, prompt, options) => conversation.send(prompt, options),
  stream: ({ conversation }, prompt, options) =>
    Effect.andThen(
      Stream.runDrain(conversation.stream(prompt, options)),
      Effect.map(conversation.outcome, (outcome) => outcome!)
    ),
  start: ({ conversation }, prompt, options) =>
    Effect.flatMap(conversation.start(prompt, options), ({ outcome }) => outcome)
}

export const eachWay = (title: string, test: Story<[say: Say]>) => {
  for (const [way, say] of Object.entries(ways)) it.effect(`${title} [${way}]`, () => tell(test, say))
}

export const reasonOf = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.map(Effect.flip(effect), (error) =>
    error instanceof ApprovalError.ApprovalError
      ? error.reason._tag
      : error instanceof ConversationStore.ConversationError
      ? error.reason
      : error)

export const refusedOf = ({ refused }: C.Outcome) =>
  refused.map(({ approvalId, error }) => [approvalId, error.reason._tag])
