/** How a turn ends, and how a conversation stands where none is taken. */
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as ConversationStore from "../../ConversationStore.ts"
import type * as Model from "../environment/model.ts"
import type * as Step from "../held/step.ts"
import type * as ConversationTurn from "../held/turn.ts"
import * as Cut from "../history/cut.ts"
import * as Parts from "../history/parts.ts"
import * as Deciding from "./deciding.ts"
import type * as Conversation from "./model.ts"
import * as Reading from "./reading.ts"

type Outcome = Conversation.Outcome<Model.AnyTools>

/** How a turn ends with a step, if it does. */
export const of = (turn: ConversationTurn.Turn, next: Step.Next): Outcome | undefined => {
  switch (next) {
    case "waits":
      return waiting(turn)
    case "is stopped":
      return { _tag: "Stopped", ...ended(turn) }
    case "is done":
      return { _tag: "Completed", ...ended(turn) }
    case "goes on":
      return undefined
  }
}

export const waiting = (turn: ConversationTurn.Turn): Outcome => ({
  _tag: "Waiting",
  ...ended(turn),
  requests: [...Deciding.pendingOf(turn), ...turn.nested]
})

export const limited = (turn: ConversationTurn.Turn, limit: "steps" | "tokens" | "time"): Outcome => ({
  _tag: "Limited",
  ...ended(turn),
  limit
})

const ended = ({ content, refused, steps, tokens }: ConversationTurn.Turn) => ({
  text: Parts.textOf(content),
  content: content as ReadonlyArray<Model.Part>, // the parts of whole responses, or of streams
  steps,
  tokens,
  refused
})

/** For what was to be done where nothing was. */
export const nothingToDo = { _tag: "Completed", text: "", content: [], steps: 0, tokens: 0, refused: [] } as const

/** How the conversation stands, where nobody says anything; `last` is how the last turn of this process ended. */
export const standing = (
  place: ConversationTurn.Place,
  kept: ConversationStore.Kept,
  last: Outcome | undefined
): Effect.Effect<Outcome, ConversationStore.ConversationError> =>
  Effect.map(Reading.pendingIn(place, kept), (requests): Outcome => {
    const said = { ...nothingToDo, text: Parts.lastText(kept.history) }
    return requests.length > 0 || Deciding.pendingOf(kept).length > 0 || kept.open.some(Reading.isOfAgents)
      ? { ...(last?._tag === "Waiting" ? last : said), _tag: "Waiting", requests, refused: [] }
      : last === undefined || last._tag === "Waiting"
      ? said
      : { ...last, refused: [] }
  })

export const full = new ConversationStore.ConversationError({
  reason: "Full",
  description:
    "The conversation has as many bytes as it may have (`maxBytes`). What the turn did is in the history, and the" +
    " model was not called again. What waits can still be denied, cancelled and cleared; to go on, begin another one."
})

/** Whether the model has had the last word, and everything has its result. */
export const isOver = ({ content }: Prompt.Prompt): boolean => {
  const last = content.at(-1)
  return last?.role === "assistant" && !Cut.isCut(last) &&
    last.content.every((part) => part.type !== "tool-call" || part.providerExecuted === true)
}
