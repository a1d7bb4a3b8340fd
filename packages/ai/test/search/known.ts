/** Faults of the engine that are found and reported, so that a search goes on for others. To be empty again. */
import * as Hosted from "./hosted.ts"
import type * as Record from "./record.ts"
import * as View from "./view.ts"

interface Known {
  readonly law: string
  readonly why: string
  readonly isIt: (what: string, record: Record.Record) => boolean
}

export const known: ReadonlyArray<Known> = [
  {
    law: "Answers",
    why:
      "Chat.answer calls a request unknown that is settled and was never answered: LanguageModel.collectToolApprovals",
    isIt: (what) => what.includes("are UnknownApproval, not AlreadyDecided")
  },
  {
    law: "Answers",
    why: "Chat.answer takes answers for a hosted call that has its result: LanguageModel.collectToolApprovals",
    isIt: (what) => what.includes("are done, not AlreadyDecided: ask-hosted")
  },
  {
    law: "L6",
    why:
      "a result of a call left without one goes to an earlier call of its id, which waits: internal/transcript.ts earliest",
    isIt: (what) => /does not see that call call-\d waits/.test(what)
  },
  ...["L7", "L9"].map((law): Known => ({
    law,
    why:
      "a hosted call of a turn that resolves nothing gets no seal and is refused later: internal/generate.ts, stream.ts",
    isIt: (what, { hosted, plan: { options }, turns }) =>
      hosted.some(({ approvalId, turn }) =>
        // Nor does one whose request upstream puts into a chunk of its own, as it does for incremental prompts.
        (!turns[turn]!.plan.resolve || (options.incremental && options.way.endsWith("streamText"))) &&
        (what.includes(approvalId) || /is not the object|answers for the prov/.test(what))
      )
  })),
  {
    law: "L7",
    why: "a hosted call that two requests of a history ask about is denied twice: internal/turn.ts denyHosted",
    isIt: (what, { tampered }) => /\[duplicate-result\] the call "hosted-/.test(what) && tampered.length > 0
  },
  {
    law: "L8",
    why: "a run that is about to be claimed when its process is closed gets no grace: ApprovalJournal.make, finalizer",
    isIt: (what) => what.includes("without its grace")
  },
  ...["L7", "L9"].map((law): Known => ({
    law,
    why: "an answer after the result of a hosted call still reaches the provider: internal/providerPrompt.ts",
    isIt: (what, record) =>
      /the provider gets false|is not the object|nobody gave/.test(what) &&
      record.turns.some(({ prompt }) =>
        Hosted.toldIn(record, prompt).some(({ answers, hosted, result }) =>
          result !== undefined &&
          Hosted.partsOf(prompt).responses.filter(({ part }) => part.approvalId === hosted.approvalId).length >
            answers.length
        )
      )
  })),
  {
    law: "L9",
    why:
      "an approval with edited parameters in a history reaches the provider as a plain one: internal/hosted.ts settle",
    isIt: (what, { hosted, turns }) =>
      (what.includes("nobody gave")) &&
      turns.some(({ prompt }) =>
        Hosted.partsOf(prompt).responses.some((one) =>
          one.part.approved && !Hosted.isPlain(one) && hosted.some((other) => other.approvalId === one.part.approvalId)
        )
      )
  },
  {
    law: "L3",
    why: "a denial of a call that has a failed result in the history is not written down: internal/turn.ts unsettled",
    isIt: (what, { requests, turns }) =>
      what.includes("though a person said no") &&
      turns.some(({ prompt }) =>
        requests.some(({ approvalId, call }) =>
          View.answersOf(prompt, approvalId).denied &&
          prompt.content.some((message) =>
            message.role === "tool" &&
            message.content.some((part) => part.type === "tool-result" && part.id === call.id && part.isFailure)
          )
        )
      )
  }
]
