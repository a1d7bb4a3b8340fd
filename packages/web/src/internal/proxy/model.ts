/** What goes over the wire. Of what is said and kept, what is named here goes out, and nothing else. */
import { Approval, Approver } from "@assent/ai"
import * as Schema from "effect/Schema"
import * as Errors from "./errors.ts"

// =============================================================================
// Parts of messages
// =============================================================================

const callFields = {
  id: Schema.String.annotate({ description: "The id of the call, which its result has too." }),
  name: Schema.String.annotate({ description: "The name of the tool." }),
  providerExecuted: Schema.Boolean.annotate({ description: "Whether the provider of the model runs it." })
}

/** A call of a tool. */
export const ToolCall = Schema.Struct({
  type: Schema.tag("tool-call"),
  ...callFields,
  params: Schema.Json
}).annotate({ identifier: "ToolCall", description: "A call of a tool." })

/** What a tool gave, and whose decision it was. */
export const ToolResult = Schema.Struct({
  type: Schema.tag("tool-result"),
  ...callFields,
  result: Schema.Json,
  isFailure: Schema.Boolean,
  preliminary: Schema.Boolean.annotate({ description: "Whether more comes of this call." }),
  approvalId: Schema.optionalKey(Schema.String).annotate({ description: "The request that it settles." }),
  decidedBy: Schema.optionalKey(Approver.DecidedBy),
  edits: Schema.optionalKey(Schema.Json).annotate({
    description: "How the parameters that ran differ from those that were proposed, as a JSON Patch."
  })
}).annotate({ identifier: "ToolResult", description: "What a tool gave, or why it did not run." })

/** Somebody is asked. */
export const ToolApprovalRequest = Schema.Struct({
  type: Schema.tag("tool-approval-request"),
  approvalId: Schema.String.annotate({ description: "The id to answer with." }),
  toolCallId: Schema.String,
  request: Schema.optionalKey(Approval.ApprovalRequest)
}).annotate({
  identifier: "ToolApprovalRequest",
  description: "Somebody is asked whether a call may run, or for a value."
})

/** A file, or the address of one. */
export const File = Schema.Struct({
  type: Schema.tag("file"),
  mediaType: Schema.String,
  data: Schema.String.annotate({ description: "In base64, or an address." }),
  fileName: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "File" })

const Text = Schema.Struct({ type: Schema.tag("text"), text: Schema.String }).annotate({ identifier: "Text" })

const Reasoning = Schema.Struct({ type: Schema.tag("reasoning"), text: Schema.String }).annotate({
  identifier: "Reasoning"
})

const ToolApprovalResponse = Schema.Struct({
  type: Schema.tag("tool-approval-response"),
  approvalId: Schema.String,
  approved: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ToolApprovalResponse", description: "Somebody has answered a request." })

/** A part of a message of the history. */
export const MessagePart = Schema.Union([
  Text,
  Reasoning,
  File,
  ToolCall,
  ToolResult,
  ToolApprovalRequest,
  ToolApprovalResponse
]).annotate({ identifier: "MessagePart" })

/** A message of the history. Instructions to the model (`system`) are not among them. */
export const Message = Schema.Struct({
  id: Schema.String.annotate({ description: "The same whenever the history is read." }),
  role: Schema.Literals(["user", "assistant", "tool"]),
  content: Schema.Array(MessagePart)
}).annotate({ identifier: "Message" })

/** What was said, what is open, and whether a turn is being taken, as they stand at one moment. */
export const History = Schema.Struct({
  messages: Schema.Array(Message),
  pending: Schema.Array(Approval.ApprovalRequest).annotate({ description: "The requests that are open." }),
  isTurnTaken: Schema.Boolean.annotate({ description: "Whether a turn is being taken, which `follow` reads." })
}).annotate({
  identifier: "History",
  description: "What was said, what is open, and whether a turn is being taken, as they stand at one moment."
})

// =============================================================================
// Requests and answers
// =============================================================================

const stateFields = {
  approvalId: Schema.String,
  decidedBy: Schema.optionalKey(Approver.DecidedBy).annotate({
    description: "Who decided, as the program knows them."
  }),
  reason: Schema.optionalKey(Schema.String).annotate({ description: "Why it was denied, or what happened." }),
  result: Schema.optionalKey(Schema.Json).annotate({ description: "What the tool gave." }),
  isFailure: Schema.optionalKey(Schema.Boolean)
}

const State = Schema.Literals([
  "open",
  "answered",
  "running",
  "done",
  "failed",
  "denied",
  "expired",
  "cancelled",
  "superseded",
  "unknown"
]).annotate({ description: "`unknown`: nobody knows whether the tool has run." })

/** What became of a request. */
export const RequestState = Schema.Struct({
  ...stateFields,
  state: State,
  request: Schema.optionalKey(Approval.ApprovalRequest).annotate({ description: "As it was shown." })
}).annotate({ identifier: "RequestState", description: "What became of a request." })

/** What became of one answer. */
export const Fate = Schema.Struct({
  ...stateFields,
  state: Schema.optionalKey(State).annotate({ description: "How the request stands now." }),
  refused: Schema.optionalKey(Schema.Union(Errors.ofAnswer)).annotate({
    description: "Why the answer has no effect. Without it, it counts."
  })
}).annotate({ identifier: "Fate", description: "What became of one answer." })

const answers = Schema.Array(Fate).annotate({ description: "What became of each answer, in the order of the post." })

const Taken = Schema.Struct({
  answers,
  turnFailed: Schema.optionalKey(Schema.String).annotate({
    description: "A sentence, where the turn that follows has failed: a post that says nothing goes on with it."
  })
})

/** Every answer is settled, or refused. */
export const Decided = Schema.Struct({ ...Taken.fields, isRunning: Schema.Literal(false) }).annotate({
  identifier: "Decided",
  description: "What became of each answer. The turn may still be going on: `follow` reads it.",
  httpApiStatus: 200
})

/** The answers were taken, and something that was approved still runs. */
export const Accepted = Schema.Struct({ ...Taken.fields, isRunning: Schema.Literal(true) }).annotate({
  identifier: "Accepted",
  description: "The answers are taken, and what was approved still runs: `follow` reads what comes of it.",
  httpApiStatus: 202
})

const ShortAnswer = Schema.Struct({
  approvalId: Schema.String,
  approved: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String)
}).annotate({
  identifier: "ShortAnswer",
  description: "Yes or no.",
  examples: [{ approvalId: "ap_1", approved: true }, { approvalId: "ap_2", approved: false, reason: "Keep it." }]
})

/** A decision with the id of the request it answers, or a plain yes or no. */
export const Answer = Schema.Union([Approval.ApprovalAnswer, ShortAnswer]).annotate({
  identifier: "Answer",
  description: "A decision with the id of the request it answers. Who decides is never read from it."
})

export const maxAnswers = 100

/** One answer, which a status answers, or several, each with a fate of its own. */
export const DecidePayload = Schema.Union([
  Answer,
  Schema.Array(Answer).check(Schema.isMaxLength(maxAnswers))
]).annotate({ description: "One answer, or several of which each has a fate of its own." })

/** What is said, and what is answered with it. */
export const SendPayload = Schema.Struct({
  text: Schema.optionalKey(Schema.String).annotate({
    description: "What the user says. Without it, what was begun goes on."
  }),
  messageId: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256))).annotate({
    description: "The sender's own id of the message. What the history has under it is not said again."
  }),
  answers: Schema.optionalKey(Schema.Array(Answer).check(Schema.isMaxLength(maxAnswers))).annotate({
    description: "What is decided before anything is said. Each has a fate of its own, in `turn-end`."
  })
}).annotate({ identifier: "Send", examples: [{ text: "Clean up the logs.", messageId: "m-1" }] })

/** The value that a tool waits for. */
export const AnswerPayload = Schema.Struct({
  approvalId: Schema.String,
  answer: Schema.Json.annotate({ description: "What `awaited.answerSchema` of the request says." }),
  note: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "AnswerToTool", examples: [{ approvalId: "ap_1", answer: { seat: "7a" } }] })

/** Why what goes on is cancelled. */
export const CancelPayload = Schema.Struct({
  reason: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1_000))).annotate({
    description: "What the model is told."
  })
}).annotate({ identifier: "Cancel" })

// =============================================================================
// What a turn says
// =============================================================================

const deltas = <const Kind extends string>(kind: Kind) =>
  [
    Schema.Struct({ type: Schema.tag(`${kind}-start` as const), id: Schema.String }),
    Schema.Struct({ type: Schema.tag(`${kind}-delta` as const), id: Schema.String, delta: Schema.String }),
    Schema.Struct({ type: Schema.tag(`${kind}-end` as const), id: Schema.String })
  ] as const

/** One of the things that a turn says. */
export const Part = Schema.Union([
  Schema.Struct({
    type: Schema.tag("turn-start"),
    messageId: Schema.String.annotate({
      description: "The id that the first message of the turn has, or will have, in the history."
    })
  }).annotate({ identifier: "TurnStart", description: "The turn has begun, and what was posted is written." }),
  ...deltas("text"),
  ...deltas("reasoning"),
  Schema.Struct({ type: Schema.tag("tool-params-start"), id: Schema.String, name: Schema.String }),
  Schema.Struct({ type: Schema.tag("tool-params-delta"), id: Schema.String, delta: Schema.String }),
  Schema.Struct({ type: Schema.tag("tool-params-end"), id: Schema.String }),
  ToolCall,
  ToolResult,
  ToolApprovalRequest,
  File,
  Schema.Struct({
    type: Schema.tag("source"),
    id: Schema.String,
    title: Schema.String,
    url: Schema.optionalKey(Schema.String).annotate({ description: "An address of the web (http or https)." }),
    mediaType: Schema.optionalKey(Schema.String),
    fileName: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "Source", description: "Where something that was said comes from." }),
  Schema.Struct({
    type: Schema.tag("finish"),
    reason: Schema.String,
    inputTokens: Schema.optionalKey(Schema.Finite),
    outputTokens: Schema.optionalKey(Schema.Finite)
  }).annotate({ identifier: "Finish", description: "The model has ended one of its answers; more may follow." }),
  Schema.Struct({ type: Schema.tag("error"), message: Schema.String }).annotate({
    identifier: "ModelError",
    description: "The provider of the model has told of an error, and goes on."
  }),
  Schema.Struct({ type: Schema.tag("heartbeat") }).annotate({
    identifier: "Heartbeat",
    description: "The turn goes on. It says so from time to time, so that nothing in between ends the connection."
  }),
  Schema.Struct({
    type: Schema.tag("turn-end"),
    outcome: Schema.Literals(["Completed", "Waiting", "Limited", "Stopped"]).annotate({
      description: "`Waiting`: somebody is asked. `Stopped`: a denial ended it. `Limited`: it was too long."
    }),
    text: Schema.String.annotate({ description: "What the model said last." }),
    pending: Schema.Array(Approval.ApprovalRequest).annotate({ description: "The requests that are open." }),
    answers
  }).annotate({ identifier: "TurnEnd", description: "How the turn ended, as its last event." })
]).annotate({ identifier: "Part", description: "One of the things that a turn says, discriminated by `type`." })

export type Part = typeof Part.Type

export type Message = typeof Message.Type

export type MessagePart = typeof MessagePart.Type

export type ToolCall = typeof ToolCall.Type

export type ToolResult = typeof ToolResult.Type

export type ToolApprovalRequest = typeof ToolApprovalRequest.Type

export type File = typeof File.Type

export type History = typeof History.Type

export type RequestState = typeof RequestState.Type

export type Fate = typeof Fate.Type

export type Decided = typeof Decided.Type

export type Accepted = typeof Accepted.Type

export type Answer = typeof Answer.Type
