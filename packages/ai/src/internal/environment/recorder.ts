/**
 * Who keeps what is said in a turn before anything of it runs: a turn that is left, cancelled or killed is told of what ran
 * by the next one (law L2). What is noted is what the model said, the requests of calls that somebody here is asked about,
 * and results; so the next turn finds a call in its history, and what became of it in the journal.
 */
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

export interface Recorder {
  /** In the order in which it came. Nothing is written yet. */
  readonly note: (parts: ReadonlyArray<Response.AnyPart>) => void
  /** The same, of a request that somebody here is asked about: it is open for nobody else, unless it is noted as well. */
  readonly asks: (request: Response.ToolApprovalRequestPart) => void
  /** Writes what was noted, before a call runs or somebody is asked. Where it cannot be written, nothing runs. */
  readonly keep: Effect.Effect<void, unknown>
  /** The turn fails with everything that was noted, for whoever gets that error to keep (law L12). */
  readonly failsWithAll: () => void
}

/** For a turn whose history is kept by nobody here. */
export const none: Recorder = { note: () => {}, asks: () => {}, keep: Effect.void, failsWithAll: () => {} }

/** It is of the one history that a turn is taken with: the engine takes it away from everything that runs in the turn. */
export const Recorder: Context.Reference<Recorder> = Context.Reference<Recorder>("@assent/ai/internal/Recorder", {
  defaultValue: () => none
})

/** What was noted of a turn, or of a step of one. */
export interface Record extends Recorder {
  readonly parts: ReadonlyArray<Response.AnyPart>
  /** The ids of requests that are open for nobody else. */
  readonly asked: ReadonlySet<string>
  /** How many of the parts are written: of a turn of which nothing is, its reader knows all there is. */
  readonly kept: number
  /** Whether the turn's own error has it all. */
  readonly isInError: boolean
}

/** One write after the other, and none for nothing. `hear` is told of what is noted, as it is. */
export const make = <E>(
  write: (parts: ReadonlyArray<Response.AnyPart>) => Effect.Effect<void, E>,
  hear: (parts: ReadonlyArray<Response.AnyPart>) => void = () => {}
): Record => {
  const permit = Semaphore.makeUnsafe(1)
  const parts: Array<Response.AnyPart> = []
  const asked = new Set<string>()
  let kept = 0
  let isInError = false
  return {
    parts,
    asked,
    get kept() {
      return kept
    },
    get isInError() {
      return isInError
    },
    failsWithAll: () => {
      isInError = true
    },
    note: (noted) => {
      for (const part of noted) {
        // Nobody has answered here: it goes out, and is for whoever can.
        const at = part.type === "tool-approval-request" && asked.delete(part.approvalId)
          ? parts.findIndex((one) => one.type === part.type && one.approvalId === part.approvalId)
          : -1
        if (at < 0) parts.push(part)
        else parts[at] = part
      }
      hear(noted)
    },
    asks: (request) => {
      asked.add(request.approvalId)
      parts.push(request)
    },
    keep: permit.withPermit(Effect.suspend(() => {
      const count = parts.length
      return kept === count ? Effect.void : Effect.map(write(parts), () => {
        kept = count
      })
    }))
  }
}
