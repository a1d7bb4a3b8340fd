/**
 * A conversation keeps the tools of a server as they were when it was made: nothing runs that changed since, and one that
 * is made anew asks about it as it is.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Conversation, ConversationStore, LanguageModel, McpApproval } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Server from "./server.ts"

const call = (id: string) => ScriptedModel.toolCall({ id, name: "files__write", params: { path: id } })

const begin = Effect.fnUntraced(function*(turns: ReadonlyArray<ScriptedModel.Turn>) {
  const server = Server.make(Server.write)
  const client = yield* Server.connect(server)
  const { model, requests } = yield* ScriptedModel.make({ turns })
  const make = Conversation.make({ id: "one", toolkit: McpApproval.guard(client, { name: "files" }) }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model)
  )
  const told = Effect.map(requests, (all) => C.resultsOf(all.at(-1)!.prompt))
  const asked = yield* (yield* make).send("write it")
  assert.strictEqual(asked._tag, "Waiting")
  return { make, request: asked._tag === "Waiting" ? asked.requests[0]! : assert.fail("not asked"), server, told }
})

const story = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  C.fresh(Effect.provide(effect, ConversationStore.layerMemory()) as Effect.Effect<A, E>)

describe("Conversation", () => {
  it.effect("L2 made anew with the same server's tools, runs what was approved, once", () =>
    story(Effect.gen(function*() {
      const { make, request, server } = yield* begin([[call("c1")], "done"])
      const outcome = yield* (yield* make).decide(Approval.approve(request))
      assert.deepStrictEqual([outcome._tag, outcome.text], ["Completed", "done"])
      assert.deepStrictEqual(server.ran, [`write {"path":"c1"}`])
    })))

  it.effect("L10 made anew when the tool has changed, runs nothing on the old consent, and asks again", () =>
    story(Effect.gen(function*() {
      const { make, request, server, told } = yield* begin([[call("c1")], [call("c2")], "done"])
      server.tools = [{ ...Server.write, description: "Sends a file to somebody" }]
      const conversation = yield* make
      const again = yield* conversation.decide(Approval.approve(request))
      assert.match(C.reasonOf((yield* told)[0]!), /said to be and to do, or whose it is, changed/)
      assert.deepStrictEqual(server.ran, [])
      if (again._tag !== "Waiting") return assert.fail("not asked again")
      yield* conversation.decide(Approval.approve(again.requests[0]!))
      assert.deepStrictEqual(server.ran, [`write {"path":"c2"}`])
    })))

  it.effect("L10 that was made before the tool changed, runs nothing of it either", () =>
    story(Effect.gen(function*() {
      const { make, request, server, told } = yield* begin([[call("c1")], "done"])
      const conversation = yield* make
      server.tools = [{ ...Server.write, description: "Sends a file to somebody" }]
      yield* conversation.decide(Approval.approve(request))
      assert.match(C.reasonOf((yield* told)[0]!), /changed its description\. Nothing ran/)
      assert.deepStrictEqual(server.ran, [])
    })))
})
