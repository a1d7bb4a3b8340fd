/** Whether a call's result comes late: the model has gone on beside what was asked, and was told something in its place. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Words from "../decide/words.ts"
import type * as Environment from "../environment/environment.ts"
import * as Late from "../history/late.ts"
import * as Passing from "../history/passing.ts"
import * as Results from "../history/results.ts"
import type * as Transcript from "../history/transcript.ts"
import * as Suspension from "./suspension.ts"
import * as Wait from "./wait.ts"

/** `undefined` where the model has not gone on. */
export const read = (
  { suspensions }: Environment.Environment,
  transcript: Transcript.Transcript,
  { messageIndex, requests }: Transcript.TranscriptCall
): Effect.Effect<Late.Told | undefined> => {
  const after = Late.countAfter(transcript.messages, messageIndex)
  if (after === 0) return Effect.undefined
  // One that was answered in time may have been passed over all the same: its reader left, or its tools were not there.
  const passed = requests.findLast((request) => Passing.wasPassedOver(transcript, request)) ?? requests.at(-1)
  if (passed === undefined) return Effect.undefined
  return Effect.map(Effect.result(suspensions.find(passed.part.approvalId)), (found) => {
    const told = Result.isSuccess(found) && found.success !== undefined
      ? Wait.waiting(found.success)
      : Suspension.isIdOf(passed.part.approvalId)
      ? Words.begunAndWaits
      : Results.waitingReason
    return { told, after }
  })
}
