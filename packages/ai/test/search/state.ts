/** What there is at a moment while a plan is carried out: the conversation, its processes, and what is in force. */
import { Effect } from "effect"
import type { ResponseIdTracker } from "effect/ai"
import { type Approval, ApprovalSeal, type Chat, type Prompt } from "../../src/index.ts"
import type * as Plan from "./plan.ts"
import type * as Process from "./process.ts"
import * as Record from "./record.ts"
import type * as Storage from "./storage.ts"

export interface World {
  readonly record: Record.Record
  readonly plan: Plan.Plan
  readonly storage: Storage.Storage
  readonly seals: Map<string, ApprovalSeal.Service>
  readonly tracker: ResponseIdTracker.Service
  readonly judged: Set<string>
  readonly processes: Array<Process.Process>
  readonly snapshots: Array<Prompt.Prompt>
  /** Requests that the person has seen, the oldest first. */
  readonly seen: Array<Approval.ApprovalRequest>
  process: Process.Process
  history: Prompt.Prompt
  /** The chat that holds the history, where a chat does. */
  chat: Chat.Chat | undefined
  circumstances: Record.Circumstances
  tampered: boolean
  step: number
  /** Fresh call ids are counted. */
  calls: number
}
export const beginning = Date.UTC(2026, 0, 1)
export const scopes: ReadonlyArray<Approval.ApprovalScope> = [{ conversation: "one" }, {
  conversation: "two",
  principal: "eve"
}]
const keyText = (key: number): string => `${Record.secrets.key} ${key} ${"x".repeat(16)}`

export const initial: Record.Circumstances = {
  policy: "default",
  gate: "ask",
  controller: "defer",
  revision: 0,
  drift: {},
  scope: 0,
  memory: false,
  keys: [{ key: 0, until: Infinity }],
  key: 0
}

export const isChat = (plan: Plan.Plan): boolean => plan.options.way.startsWith("Chat.")

export const isStream = (plan: Plan.Plan): boolean => plan.options.way.endsWith("streamText")

// =============================================================================
// Keys
// =============================================================================

export const keysAfter = Effect.fnUntraced(
  function*({ key, keys }: Record.Circumstances, how: "rotate" | "replace" | "restore") {
    const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const next = Math.max(...keys.map((one) => one.key)) + 1
    switch (how) {
      case "restore":
        return { key: 0, keys: [{ key: 0, until: Infinity }] }
      case "replace":
        return { key: next, keys: [{ key: next, until: Infinity }] }
      case "rotate": {
        const until = now + 24 * 60 * 60_000
        return {
          key: next,
          keys: [
            { key: next, until: Infinity },
            ...keys.map((one) => one.key === key ? { ...one, until } : one)
          ]
        }
      }
    }
  }
)

export const sealOf = Effect.fnUntraced(function*(world: World) {
  const { key, keys } = world.circumstances
  const name = Record.canonical([key, keys])
  const known = world.seals.get(name)
  if (known !== undefined) return known
  const seal = yield* Effect.orDie(ApprovalSeal.make({
    key: keyText(key),
    keyId: `key-${key}`,
    previousKeys: keys.filter((one) => one.key !== key).map((one) => ({
      key: keyText(one.key),
      keyId: `key-${one.key}`,
      until: Number.isFinite(one.until) ? one.until : beginning * 2
    }))
  }))
  world.seals.set(name, seal)
  return seal
})
