/** What the tests of `ApprovalMemory` share: calls, answers of which something is remembered, and what is known of a call. */
import { Effect } from "effect"
import type { ApprovalMemory } from "../src/index.ts"

export const call = (
  path: string,
  scope: ApprovalMemory.MemoryScope,
  more?: Partial<ApprovalMemory.MemoryCall>
): ApprovalMemory.MemoryCall => ({
  scope,
  source: "local",
  toolName: "WriteFile",
  version: "v1",
  params: { path },
  ...more
})

let answers = 0

/** Approved, unless it says otherwise. */
export const answered = (
  call: ApprovalMemory.MemoryCall,
  remember: ApprovalMemory.Remember,
  more?: Partial<ApprovalMemory.Answered>
): ApprovalMemory.Answered => {
  const id = `answer-${++answers}`
  return { ...call, id, approvalId: `approval-${id}`, toolCallId: "c1", decision: "approved", remember, ...more }
}

/** What is known of a call, without taking a use. */
export const said = (memory: ApprovalMemory.Service, looked: ApprovalMemory.MemoryCall) =>
  Effect.map(memory.find(looked, { peek: true }), (found) => found?.decision)

export const denied = { decision: "denied" } as const
