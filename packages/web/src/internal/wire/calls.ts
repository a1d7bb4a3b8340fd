/**
 * The calls of one message of a page. A client finds a call by its id, and within one message it must find one: where a
 * provider gives an id twice, the second call has another one on the wire (law L13).
 */

export interface Call {
  /** Its id on the wire. */
  readonly wireId: string
  readonly id: string
  readonly name: string
  /** The requests that stood for it, one after the other. */
  readonly approvalIds: Set<string>
  /** The request that its card shows. */
  shown: string | undefined
  isComplete: boolean
  isSettled: boolean
}

export interface Calls {
  /** The call of this id whose parameters are still coming, or a new one. */
  readonly begin: (id: string, name: string) => Call
  /** The call of this id whose parameters are still coming. */
  readonly begun: (id: string) => Call | undefined
  /** The call that a request asks about; `undefined` for one of another message. */
  readonly asked: (toolCallId: string, approvalId: string) => Call | undefined
  readonly ofApproval: (approvalId: string) => Call | undefined
  /** The call that a result settles; `undefined` for one of another message. */
  readonly settledBy: (id: string, approvalId: string | undefined) => Call | undefined
  /** For another reader, who goes on with them alone. */
  readonly copy: () => Calls
}

export const make = (calls: Array<Call> = []): Calls => {
  const last = (accepts: (call: Call) => boolean): Call | undefined => calls.findLast(accepts)
  const ofApproval = (approvalId: string) => last(({ approvalIds }) => approvalIds.has(approvalId))

  const wireIdOf = (id: string): string => {
    for (let count = 1;; count++) {
      const wireId = count === 1 ? id : `${id}~${count}`
      if (calls.every((call) => call.wireId !== wireId)) return wireId
    }
  }

  const begun = (id: string) => last((call) => call.id === id && !call.isComplete)

  return {
    begun,
    copy: () => make(calls.map((call) => ({ ...call, approvalIds: new Set(call.approvalIds) }))),
    begin: (id, name) => {
      const already = begun(id)
      if (already !== undefined) return already
      const call: Call = {
        wireId: wireIdOf(id),
        id,
        name,
        approvalIds: new Set(),
        shown: undefined,
        isComplete: false,
        isSettled: false
      }
      calls.push(call)
      return call
    },
    asked: (toolCallId, approvalId) => {
      const call = ofApproval(approvalId) ?? last(({ id, isSettled }) => id === toolCallId && !isSettled)
      call?.approvalIds.add(approvalId)
      return call
    },
    ofApproval,
    settledBy: (id, approvalId) =>
      (approvalId === undefined ? undefined : ofApproval(approvalId)) ??
        // Answered where it was made, so that no request stands for it.
        last((call) => call.id === id && !call.isSettled && (approvalId === undefined || call.approvalIds.size === 0))
  }
}
