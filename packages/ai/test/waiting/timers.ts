/** Timers that are due, as they are kept. */
import { Effect } from "effect"
import { Approval, ApprovalSeal, SuspensionStore } from "../../src/index.ts"

/** Keeps as many calls of a tool that are due one after the other, a second apart: `c0` first. Gives their ids. */
export const fill = Effect.fnUntraced(function*(
  store: SuspensionStore.Service,
  toolName: string,
  count: number,
  more?: { readonly expiresAt: number }
) {
  const seal = yield* ApprovalSeal.ApprovalSeal
  const ids: Array<string> = []
  for (let index = 0; index < count; index++) {
    const toolCallId = `c${index}`
    const { approvalId, expiresAt } = yield* seal.seal({
      source: "local",
      toolName,
      toolCallId,
      schemaFingerprint: "v1",
      params: "{}",
      scope: {}
    })
    yield* store.put(
      new SuspensionStore.Suspension({
        approvalId,
        toolName,
        toolCallId,
        awaited: new Approval.Awaited({ name: "timer", kind: "timer", answerSchema: {}, dueAt: (index + 1) * 1_000 }),
        state: null,
        stateVersion: 1,
        params: {},
        scope: {},
        issuedAt: 0,
        expiresAt,
        ...more
      })
    )
    ids.push(approvalId)
  }
  return ids
})
