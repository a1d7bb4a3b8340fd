/**
 * The laws of DESIGN §5, each as a check of what happened. A law also says which plans concern it, so that a generator
 * that no longer meets them is found out.
 */
import * as Justify from "./justify.ts"
import * as Answers from "./lawsOfAnswers.ts"
import * as Guarded from "./lawsOfGuarded.ts"
import * as Hosted from "./lawsOfHosted.ts"
import * as Nested from "./lawsOfNested.ts"
import * as Remembered from "./lawsOfRemembered.ts"
import * as Runs from "./lawsOfRuns.ts"
import * as Text from "./lawsOfText.ts"
import * as Turns from "./lawsOfTurns.ts"
import * as Waiting from "./lawsOfWaiting.ts"
import * as WaitingTurns from "./lawsOfWaitingTurns.ts"
import * as Predictions from "./predictions.ts"
import * as PredictionsOfWaiting from "./predictionsOfWaiting.ts"
import type * as Record from "./record.ts"
import type * as Searching from "./searching.ts"

/** What happened, with what it means. */
export interface Case {
  readonly record: Record.Record
  readonly justified: ReadonlyArray<Justify.Justified>
  readonly predictions: ReadonlyArray<Predictions.Prediction>
  readonly predictionsOfWaiting: ReadonlyArray<PredictionsOfWaiting.Prediction>
}

export type Law = Searching.Law<Case>

export const laws: ReadonlyArray<Law> = [
  Runs.L1,
  Runs.L2,
  Runs.L3,
  Runs.L4,
  Turns.L5,
  Turns.L6,
  Turns.L7,
  Turns.L8,
  Hosted.L9,
  Turns.L10,
  Runs.L11,
  Turns.L12,
  Text.L13,
  Text.L14,
  Text.L15,
  Runs.Liveness,
  Answers.Answers,
  Answers.Storage,
  Waiting.L2,
  Waiting.L3,
  Waiting.L4,
  WaitingTurns.L5,
  WaitingTurns.L6,
  WaitingTurns.L8,
  WaitingTurns.L10,
  Waiting.L11,
  Waiting.L13,
  WaitingTurns.L14,
  Guarded.Guarded,
  Nested.Nested,
  Remembered.Uses,
  Remembered.Denials,
  Remembered.Siblings,
  Remembered.Liveness
]

export const makeCase = (record: Record.Record): Case => ({
  record,
  justified: Justify.justify(record),
  predictions: Predictions.predict(record),
  predictionsOfWaiting: PredictionsOfWaiting.predict(record)
})
