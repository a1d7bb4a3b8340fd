/** A call that stands in a history without a result, with everything the history says of it. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Standing from "../decide/standing.ts"
import type * as Environment from "../environment/environment.ts"
import * as Stopping from "../history/stopping.ts"
import * as Transcript from "../history/transcript.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Presentation from "../tool/presentation.ts"
import * as Answering from "./answering.ts"
import { type Asked, type Case, make, question, standing } from "./file.ts"
import * as Late from "./late.ts"
import type * as Order from "./order.ts"
import * as Proof from "./proof.ts"
import * as Remembering from "./remembering.ts"
import * as Request from "./request.ts"
import * as Suspension from "./suspension.ts"
import * as Tools from "./tools.ts"
import * as Verdict from "./verdict.ts"

export interface Subject {
  readonly environment: Environment.Environment
  readonly transcript: Transcript.Transcript
  /** `undefined` on a turn without a toolkit. */
  readonly tools: Tools.Tools | undefined
  /** False when the caller resolves tool calls itself: then nothing is asked, claimed or run. */
  readonly resolvesCalls: boolean
}

/** The lines in which calls of one turn are looked up, asked about, and run. */
export interface Lines {
  readonly recalling: Order.Turn
  readonly runs: Order.Line
}

/** What is known of the call before anything is looked up. */
export const read = Effect.fnUntraced(function*(
  subject: Subject,
  call: Transcript.TranscriptCall,
  lines: Lines
): Effect.fn.Return<Case> {
  const { environment, resolvesCalls, tools, transcript } = subject
  const { part } = call
  const tool = Tools.toolOf(tools, part.name)
  const prepared = yield* prepare(tool, part)
  const responses = call.requests.flatMap((request) => request.responses)
  const denial = responses.find((response) => !response.approved)
  const givenOf = Answering.givenOf(environment, transcript.messages)
  const checked = call.requests.length === 0
    ? Result.succeed([])
    : yield* Proof.verify(environment, call, prepared)
  const root = call.requests[0]?.part.approvalId
  const questions: Array<Asked> = []
  for (const verified of Result.isSuccess(checked) ? checked.success : []) {
    const drift = tools === undefined ? undefined : yield* Proof.drift(part.name, tool, prepared, verified)
    const expired = yield* Proof.expiry(verified.sealed)
    questions.push({ ...verified, given: verified.request.responses.map(givenOf), expired, drift })
  }
  const encoded = prepared ?? unprepared(part)
  const late = yield* Late.read(environment, transcript, call)
  return {
    file: make({
      environment,
      call: Request.named(part),
      tools,
      messages: transcript.messages,
      history: { transcript, call },
      judge: Verdict.judge(environment, part.name, transcript.messages),
      subject: Effect.suspend(() => Remembering.subjectOf(prepared!)),
      request: ({ sealed }, shown) => Request.makeRequest(environment, sealed, encoded, shown),
      prepared,
      failure: Result.isFailure(checked) ? checked.failure : undefined,
      root,
      questions,
      late,
      stops: Stopping.isStoppedBy(transcript, responses),
      denial: denial === undefined ? undefined : givenOf(denial),
      ...lines
    }),
    standing: standing(environment, {
      way: "history",
      tool: Tools.factOf(environment.policy, tools, tool, prepared !== undefined),
      powers: resolvesCalls ? "asks" : "reads",
      trusted: responses.length === 0
        ? environment.trustsAnswers
        : responses.every((response) => Answering.isTrusted(environment, response)),
      ...(Transcript.wasAskedInline(call) ? { onNewMessage: "supersede" } : undefined),
      denied: isDenied(call.requests, questions),
      questions: call.requests.length === 0
        ? "none"
        : Result.isFailure(checked)
        ? "forged"
        : questions.map(({ drift, expired, given, request, sealed }) =>
          question({
            answers: given.map(({ response }) => answerOf(response!)),
            suspension: Suspension.isSealed(sealed),
            own: undefined,
            fate: undefined,
            expired: expired !== undefined,
            passedOver: transcript.lastUserIndex > request!.messageIndex,
            named: Presentation.namesIn(sealed),
            shown: Presentation.shownIn(sealed) === undefined || Suspension.isSealed(sealed) ? "nothing" : undefined,
            drifted: drift !== undefined
          })
        )
    })
  }
})

// Where a request names who may decide, a no is looked at as an answer to that one, and to another one it is nobody's.
const isDenied = (requests: Transcript.TranscriptCall["requests"], questions: ReadonlyArray<Asked>): boolean =>
  !questions.some(({ sealed }) => Presentation.namesIn(sealed)) &&
  requests.some(({ responses }) => responses.some(({ approved }) => !approved))

const answerOf = (response: Prompt.ToolApprovalResponsePart): Standing.Answer =>
  !response.approved ? Standing.no : Transcript.isEdit(response) ? Standing.edit : Standing.yes

export const prepare = (
  tool: Tool.Any | undefined,
  part: Prompt.ToolCallPart
): Effect.Effect<Prepare.Prepared | undefined> =>
  tool === undefined
    ? Effect.undefined
    : Effect.matchEager(Prepare.prepare(tool, part), { onFailure: () => undefined, onSuccess: (prepared) => prepared })

const unprepared = (part: Prompt.ToolCallPart): Request.Named & { readonly encoded: Schema.Json } => {
  const canonical = Canonical.canonicalize(part.params)
  return { ...Request.named(part), encoded: Result.isSuccess(canonical) ? JSON.parse(canonical.success) : null }
}
