/** What a record says, in the words of the laws. Written from the laws (DESIGN §5, RUNS), not from the engine. */
import type { Prompt } from "../../../src/index.ts"
import * as Notes from "../notes.ts"
import * as Record from "./record.ts"

/** Whether something ends when it has begun, and is not asked about. */
export const isUngated = ({ plan: { tool } }: Record.Call): boolean => tool === "Look"

export const isIdempotent = ({ plan: { tool } }: Record.Call): boolean => tool === "Sync"

/** Whether a process stood still at any moment from one to another. */
export const stoodStill = ({ blocks }: Record.Process, from: number, until: number): boolean =>
  blocks.some((block) => block.from.at <= until && (block.until?.at ?? Infinity) >= from)

/** Whether a process was gone, or being closed, by then. */
export const isGone = ({ closed, died }: Record.Process, by: number): boolean =>
  (died?.at ?? Infinity) <= by || (closed?.at ?? Infinity) <= by

/** Whether a handler came to an end of its own. */
export const hasEnded = ({ outcome }: Record.Run): boolean =>
  outcome === "succeeded" || outcome === "failed" || outcome === "died"

/** The state in which the journal has the call of a run from then on, as far as it was written by the run's process. */
export const recordedBy = (
  { fates }: Record.Record,
  { began, call, process }: Record.Run,
  by: number
): Record.Fate | undefined =>
  fates.findLast((fate) =>
    fate.callId === call.id && fate.process === process && fate.at > began.at && fate.at < by &&
    (fate.state === "done" || fate.state === "failed")
  )

/** When a turn came to an end that is not its own: its reader left, it failed, or its time was over. */
export const cutOf = ({ ended, left }: Record.Op): Record.Moment | undefined =>
  left ?? (ended?.how === "success" ? undefined : ended)

/** What a prompt says of a call: its results, where they stand and where they are told late. */
export const toldOf = (prompt: Prompt.Prompt, callId: string): ReadonlyArray<string> => [
  ...prompt.content.flatMap((message) =>
    message.role !== "tool" && message.role !== "assistant" ?
      [] :
      message.content.flatMap((part) =>
        part.type === "tool-result" && part.id === callId ? [JSON.stringify(part.result)] : []
      )
  ),
  ...Notes.lateIn(prompt).flatMap((late) => late.toolCallId === callId ? [JSON.stringify(late.result ?? late)] : [])
]

/** Whether a result says that the call did not run. */
export const saysNothingRan = (text: string): boolean => /Nothing ran|has not run|did not run/.test(text)

export const textOf = (prompt: Prompt.Prompt): string =>
  prompt.content.map((message) =>
    typeof message.content === "string" ? message.content : JSON.stringify(message.content)
  )
    .join("\n")

export const says = (texts: ReadonlyArray<string>, { number }: Record.Run): boolean =>
  texts.some((text) => text.includes(Record.markOf(number)))

export const name = ({ call, number }: Record.Run): string => `run ${number} (${call.id})`
