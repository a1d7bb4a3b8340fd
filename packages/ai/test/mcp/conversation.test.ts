/**
 * A conversation takes the tools of a server anew for each turn: nothing runs on an old consent that changed since, and what the
 * server offers by now can be called.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  Conversation,
  ConversationStore,
  LanguageModel,
  McpApproval,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Server from "./server.ts"

const call = (id: string) => ScriptedModel.toolCall({ id, name: "files__write", params: { path: id } })

const Look = Tool.make("Look", { success: Schema.String })
const looking = Toolkit.make(Look)
const kit = Effect.runSync(Effect.provide(looking, looking.toLayer({ Look: () => Effect.succeed("seen") })))

const begin = Effect.fnUntraced(function*(turns: ReadonlyArray<ScriptedModel.Turn>) {
  const server = Server.make(Server.write)
  const client = yield* Server.connect(server)
  const { model, requests } = yield* ScriptedModel.make({ turns })
  const make = Conversation.make({ id: "one", toolkit: McpApproval.guard(client, { name: "files" }) }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model)
  )
  const told = Effect.map(requests, (all) => C.resultsOf(all.at(-1)!.prompt))
  const offered = Effect.map(requests, (all) => all.map(({ toolNames }) => toolNames))
  const asked = yield* (yield* make).send("write it")
  assert.strictEqual(asked._tag, "Waiting")
  return {
    make,
    request: asked._tag === "Waiting" ? asked.requests[0]! : assert.fail("not asked"),
    offered,
    server,
    told
  }
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

  const changes = {
    "L10 made anew when the tool has changed, runs nothing on the old consent, and asks again": true,
    "L10 that was made before the tool changed, runs nothing on the old consent, and asks about it as it is": false
  }
  for (const [title, anew] of Object.entries(changes)) {
    it.effect(title, () =>
      story(Effect.gen(function*() {
        const { make, request, server, told } = yield* begin([[call("c1")], [call("c2")], "done"])
        const before = anew ? undefined : yield* make
        server.tools = [{ ...Server.write, description: "Sends a file to somebody" }]
        const conversation = before ?? (yield* make)
        const again = yield* conversation.decide(Approval.approve(request))
        assert.match(C.reasonOf((yield* told)[0]!), /said to be and to do, or whose it is, changed/)
        assert.deepStrictEqual(server.ran, [])
        if (again._tag !== "Waiting") return assert.fail("not asked again")
        yield* conversation.decide(Approval.approve(again.requests[0]!))
        assert.deepStrictEqual(server.ran, [`write {"path":"c2"}`])
      })))
  }

  it.effect("L10 offers the model what the server has when the turn begins, and nothing else", () =>
    story(Effect.gen(function*() {
      const { make, offered, request, server } = yield* begin([[call("c1")], "done", "nothing to do", "and again"])
      const conversation = yield* make
      yield* conversation.decide(Approval.approve(request))
      server.tools = [{ ...Server.write, name: "append" }]
      yield* conversation.send("And now?")
      assert.deepStrictEqual(yield* offered, [["files__write"], ["files__write"], ["files__append"]])
      server.tools = []
      yield* conversation.send("And now?")
      assert.deepStrictEqual((yield* offered).at(-1), [])
    })))

  it.effect("L10 goes on with the tools it knows where they cannot be had: a turn is not lost for it", () =>
    Effect.gen(function*() {
      let isAway = false
      let times = 0
      const { model, requests } = yield* ScriptedModel.make({ turns: ["One.", "Two.", "Three."] })
      const toolkit = Effect.suspend(() => {
        times++
        return isAway ? Effect.fail("away" as const) : Effect.succeed(kit)
      })
      const conversation = yield* story(
        Effect.provideService(Conversation.make({ id: "away", toolkit }), LanguageModel.LanguageModel, model)
      )
      const before = times
      yield* conversation.send("Hello.")
      assert.strictEqual(times, before + 1)
      isAway = true
      assert.strictEqual((yield* conversation.send("Hello?"))._tag, "Completed")
      assert.strictEqual(times, before + 2)
      assert.deepStrictEqual((yield* requests).map(({ toolNames }) => toolNames), [["Look"], ["Look"]])
    }))

  it.effect("L17 with tools that are there takes them once", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: ["One.", "Two."] })
      let times = 0
      const Handlers = looking.toLayer(Effect.sync(() => {
        times++
        return { Look: () => Effect.succeed("seen") }
      }))
      yield* Effect.gen(function*() {
        const conversation = yield* Effect.provideService(
          Conversation.make({ id: "there", toolkit: looking }),
          LanguageModel.LanguageModel,
          model
        )
        yield* conversation.send("Hello.")
        yield* conversation.send("Hello?")
      }).pipe(Effect.provide(Handlers), story)
      assert.strictEqual(times, 1)
    }))
})
