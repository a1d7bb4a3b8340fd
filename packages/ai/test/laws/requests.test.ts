/** A request says whom it is for: the conversation and the principal that it is asked in, wherever it is made. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Approval, ApprovalController, Response, SuspensionStore, Toolkit } from "../../src/index.ts"
import * as Waiting from "../waiting/support.ts"
import * as C from "./conversation.ts"
import * as H from "./hosted.ts"
import * as M from "./remembered.ts"

const scope = { tenant: "acme", principal: "ada", conversation: "talk" }

const inScope = Effect.provideService(Approval.Scope, scope)

const whereOf = ({ conversation, path, principal }: Approval.ApprovalRequest) => ({ conversation, path, principal })

const here = { conversation: "talk", path: undefined, principal: "ada" }

/** What somebody who leaves everything open is asked. */
const watcher = () => {
  const seen: Array<Approval.ApprovalRequest> = []
  const controller = ApprovalController.interactive((request) => {
    seen.push(request)
    return new Approval.Info({ note: "later" })
  })
  return { seen, watch: Effect.provideService(ApprovalController.ApprovalController, controller) }
}

describe("a request names its conversation and its principal", () => {
  C.everyWay("of a call, in its part, to whoever is asked, in events, and when it is shown again", function*(way) {
    const { observe, seen: published } = yield* M.events
    const { chat } = yield* M.deleting(way, [["a", "b"]])
    const { seen, watch } = watcher()
    const turn = yield* observe(watch(inScope(chat.send("go"))))
    assert.deepStrictEqual(turn.requests.map(whereOf), [here, here])
    const parts = turn.parts.flatMap((part) => Option.toArray(Response.approvalRequest(part)))
    assert.deepStrictEqual(parts.map(whereOf), [here, here])
    assert.deepStrictEqual(seen.map(whereOf), [here, here])
    const requested = (yield* published).flatMap((event) => event._tag === "Requested" ? [event.request] : [])
    assert.deepStrictEqual(requested.map(whereOf), [here, here])
    const answer = M.posted({ approvalId: turn.requests[0]!.approvalId, approved: false })
    const again = yield* inScope(chat.send(answer))
    assert.deepStrictEqual(again.requests.map(whereOf), [here])
  })

  C.everyWay("of a call that the provider runs", function*(way) {
    const { chat } = yield* H.begin(way, [H.asking(1)])
    const { seen, watch } = watcher()
    yield* watch(inScope(chat.send("go")))
    assert.deepStrictEqual(seen.map(whereOf), [here])
  })

  C.everyWay(
    "of a call that the provider runs, where nobody here can be asked, in its part and when it is shown again",
    function*(way) {
      const { chat } = yield* H.begin(way, [[...H.asking(1), ...H.asking(2)]])
      const turn = yield* inScope(chat.send("go"))
      assert.deepStrictEqual(turn.requests.map(whereOf), [here, here])
      assert.deepStrictEqual(turn.requests.map(({ source }) => source), ["mcp.github", "mcp.github"])
      const again = yield* inScope(chat.send(M.posted({ approvalId: "mcpr_1", approved: true })))
      assert.deepStrictEqual(again.requests.map(whereOf), [here])
    }
  )

  Waiting.inEachMode("of a tool that waits, in the store and when it is shown again", function*(mode) {
    const { seen, watch } = watcher()
    const { chat, first } = yield* inScope(
      Waiting.begin(mode, [Waiting.ask("a", "Which?"), Waiting.ask("b", "Who?")])
    )
    assert.deepStrictEqual(Response.approvalRequests(first.parts).map(whereOf), [here, here])
    const again = yield* watch(inScope(chat.take([])))
    assert.deepStrictEqual(Response.approvalRequests(again.parts).map(whereOf), [here, here])
    assert.deepStrictEqual(seen.map(whereOf), [here, here])
    const suspensions = yield* SuspensionStore.SuspensionStore
    assert.lengthOf((yield* suspensions.list({ scope })).suspensions, 2)
  })

  it.effect("of a guarded call, of a program's own question, and not where the scope names none", () =>
    Effect.gen(function*() {
      const { seen, watch } = watcher()
      const { toolkit } = yield* C.fileTools
      const guarded = Toolkit.guard(toolkit)
      const ask = Effect.andThen(
        Effect.exit(guarded.handle("DeleteFile", { path: "a" })),
        Effect.exit(ApprovalController.request({ name: "deploy" }))
      )
      yield* watch(inScope(ask))
      yield* watch(ask)
      assert.deepStrictEqual(seen.slice(0, 2).map(whereOf), [here, here])
      for (const request of seen.slice(2)) {
        for (const field of ["conversation", "principal", "path"]) assert.isFalse(field in request)
      }
      assert.lengthOf(seen, 4)
    }))
})
