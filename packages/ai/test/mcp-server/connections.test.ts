/**
 * What becomes of a question when the client goes away, takes its call back, or answers late or twice: nothing runs
 * without consent (law L1), nothing runs twice (law L2), and nothing is left waiting.
 */
import { assert, describe, it } from "@effect/vitest"
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, McpApproval, McpServer, Tool, Toolkit } from "../../src/index.ts"
import * as S from "./support.ts"

/** Elicitation whose questions are counted as they begin and end, on the server's side. */
const watched = (options?: McpApproval.ElicitationOptions) => {
  const ended = S.signal<string>()
  const elicitation = McpApproval.elicitation(options)
  const controller: ApprovalController.Service = {
    parallel: true,
    ask: (request) => Effect.onExit(elicitation.ask!(request), (exit) => Effect.sync(() => ended.done(exit._tag)))
  }
  return {
    ended: ended.wait,
    registrations: S.files().pipe(Layer.provide(Layer.succeed(ApprovalController.ApprovalController, controller)))
  }
}

const never = new Promise<never>(() => {})

describe("a question that is open", () => {
  it.live("L1 drop the connection: nothing runs, and nothing is left waiting", () =>
    Effect.gen(function*() {
      const { ended, registrations } = watched()
      const server = yield* S.serve(registrations)
      const shown = S.signal()
      const { client, transport } = yield* S.connect(server, () => (shown.done(), never))
      const result = client.callTool({ name: "delete_file", arguments: { path: "/tmp/a" } }).catch(() => "no result")
      yield* shown.wait
      yield* Effect.promise(() => transport.close())
      assert.strictEqual(yield* Effect.promise(() => result), "no result")
      assert.strictEqual(yield* ended, "Failure")
      assert.deepStrictEqual(server.runs, [])
      // The server is as it was.
      const next = yield* S.connect(server, () => S.approve)
      yield* next.call("delete_file", { path: "/tmp/b" })
      assert.deepStrictEqual(server.runs, ["delete /tmp/b"])
    }))

  it.live("dropped once it was approved and runs: the run ends, as that of any call", () =>
    Effect.gen(function*() {
      const began = S.signal()
      const ended = S.signal<string>()
      const Slow = Tool.make("slow", { success: Schema.String, needsApproval: true })
      const Tools = Toolkit.make(Slow)
      const handlers = Tools.toLayer({
        slow: () =>
          Effect.sync(() => began.done()).pipe(
            Effect.andThen(Effect.never),
            Effect.onExit((exit) => Effect.sync(() => ended.done(exit._tag)))
          )
      })
      const server = yield* S.serve(McpApproval.toolkit(Tools).pipe(Layer.provide(handlers)))
      const { asked, client, transport } = yield* S.connect(server, () => S.approve)
      client.callTool({ name: "slow" }).catch(() => "no result")
      yield* began.wait
      yield* Effect.promise(() => transport.close())
      assert.strictEqual(yield* ended.wait, "Failure")
      assert.strictEqual(asked.length, 1)
    }))

  it.live("L1 the session is ended: nothing runs, and nothing is left waiting", () =>
    Effect.gen(function*() {
      const { ended, registrations } = watched()
      const server = yield* S.serve(registrations)
      const shown = S.signal()
      const { client, transport } = yield* S.connect(server, () => (shown.done(), never))
      client.callTool({ name: "delete_file", arguments: { path: "/tmp/a" } }).catch(() => "no result")
      yield* shown.wait
      yield* Effect.promise(() => transport.terminateSession())
      yield* ended
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("L1 the client takes its call back: the question is taken back too, and nothing runs", () =>
    Effect.gen(function*() {
      const { ended, registrations } = watched()
      const server = yield* S.serve(registrations)
      const shown = S.signal()
      const takenBack = S.signal()
      const { client } = yield* S.connect(server, (_, signal) => {
        signal.addEventListener("abort", () => takenBack.done(), { once: true })
        shown.done()
        return never
      })
      const abort = new AbortController()
      const call = { name: "delete_file", arguments: { path: "/tmp/a" } }
      const result = client.callTool(call, undefined, { signal: abort.signal }).catch(() => "no result")
      yield* shown.wait
      abort.abort()
      assert.strictEqual(yield* Effect.promise(() => result), "no result")
      yield* ended
      yield* takenBack.wait
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("L1 nobody answers in time: nothing runs, it may be asked again, and a late answer is harmless", () =>
    Effect.gen(function*() {
      const { registrations } = watched({ timeLimit: "30 millis" })
      const server = yield* S.serve(registrations)
      const answer = Deferred.makeUnsafe<void>()
      const { asked, call, transport } = yield* S.connect(
        server,
        () => Effect.runPromise(Effect.as(Deferred.await(answer), S.approve))
      )
      const messages = S.tap(transport)
      const result = yield* call("delete_file", { path: "/tmp/a" })
      assert.deepStrictEqual(JSON.parse(result.text), {
        type: "execution-interrupted",
        reason: "Nobody answered in time. Nothing ran; it may be asked again."
      })
      assert.strictEqual(asked.length, 1)
      yield* Effect.promise(() => transport.send(approvalOf(messages)))
      assert.strictEqual((yield* call("look", { path: "/tmp/a" })).isError, false)
      assert.deepStrictEqual(server.runs, ["look /tmp/a"])
    }))

  it.live("a question ends with the time that the policy gives it, however long it may stay open", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.layer(() => Approval.needsApproval({ expiresIn: 30 }))
      const { ended, registrations } = watched()
      const server = yield* S.serve(registrations.pipe(Layer.provide(policy)))
      const takenBack = S.signal()
      const { call } = yield* S.connect(server, (_, signal) => {
        signal.addEventListener("abort", () => takenBack.done(), { once: true })
        return never
      })
      assert.match(S.reasonOf(yield* call("delete_file", { path: "/tmp/a" })), /Nobody answered in time/)
      yield* takenBack.wait
      assert.strictEqual(yield* ended, "Success")
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("L2 an answer that comes twice runs once, and is no answer to the next question", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const answers = [S.approve, S.accept({ decision: "deny" })]
      const { call, transport } = yield* S.connect(server, () => answers.shift()!)
      const messages = S.tap(transport)
      yield* call("delete_file", { path: "/tmp/a" })
      const again = approvalOf(messages)
      yield* Effect.promise(() => transport.send(again))
      const second = yield* Effect.forkChild(call("delete_file", { path: "/tmp/b" }))
      yield* Effect.promise(() => transport.send(again))
      assert.isTrue((yield* Fiber.join(second)).isError)
      assert.deepStrictEqual(server.runs, ["delete /tmp/a"])
    }))

  it.live("its answer counts from the client that was asked, and from no other", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const shown = S.signal()
      const answer = S.signal()
      const ada = yield* S.connect(server, () => {
        shown.done()
        return Effect.runPromise(Effect.as(answer.wait, S.accept({ decision: "deny" })))
      })
      const mallory = yield* S.connect(server, () => S.approve)
      const messages = S.tap(ada.transport)
      const call = yield* Effect.forkChild(ada.call("delete_file", { path: "/home/ada" }))
      yield* shown.wait
      // Its number is easily guessed.
      yield* Effect.promise(() => mallory.transport.send(approvalOf(messages)))
      yield* mallory.call("look", { path: "/tmp" })
      answer.done()
      assert.isTrue((yield* Fiber.join(call)).isError)
      assert.deepStrictEqual(server.runs, ["look /tmp"])
    }))
})

describe("two clients at once", () => {
  it.live("each user is asked about the calls of their own client, and neither waits for the other", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const shown = S.signal()
      const adaAnswers = S.signal()
      const ada = yield* S.connect(server, () => {
        shown.done()
        return Effect.runPromise(Effect.as(adaAnswers.wait, S.accept({ decision: "deny", reason: "Ada's" })))
      })
      const bob = yield* S.connect(server, () => S.approve)
      const call = yield* Effect.forkChild(ada.call("delete_file", { path: "/home/ada" }))
      yield* shown.wait
      assert.isFalse((yield* bob.call("delete_file", { path: "/home/bob" })).isError)
      adaAnswers.done()
      assert.strictEqual(S.reasonOf(yield* Fiber.join(call)), "Ada's")
      assert.deepStrictEqual(
        [ada, bob].map(({ asked }) => asked.map(({ message }) => /\/home\/\w+/.exec(message)?.[0])),
        [
          ["/home/ada"],
          ["/home/bob"]
        ]
      )
      assert.deepStrictEqual(server.runs, ["delete /home/bob"])
    }))

  const Deploy = Tool.make("delete_file", { parameters: { path: Schema.String }, success: Schema.String })
  const Asking = Toolkit.make(Deploy)
  const asking = Asking.toLayer(Effect.gen(function*() {
    const runs = yield* S.Runs
    return {
      delete_file: ({ path }) =>
        Effect.map(Effect.orDie(ApprovalController.request({ name: path })), ({ _tag }) => {
          if (_tag === "Approved") runs.push(`delete ${path}`)
          return _tag
        })
    }
  }))
  const ways = {
    "before its tools run": S.files(),
    "by handlers on their way": McpServer.toolkit(Asking).pipe(
      Layer.provide(asking),
      Layer.provide(McpApproval.layerElicitation())
    )
  }
  for (const [way, registrations] of Object.entries(ways)) {
    it.live(`one user is asked one thing after the other, ${way}`, () =>
      Effect.gen(function*() {
        const server = yield* S.serve<McpServer.McpServer>(registrations)
        let open = 0
        let most = 0
        const { asked, call, client } = yield* S.connect(server, async () => {
          most = Math.max(most, ++open)
          // Time enough for whatever else the server has to ask.
          for (let round = 0; round < 3; round++) await client.ping()
          open--
          return S.approve
        })
        const paths = ["/a", "/b", "/c"]
        yield* Effect.forEach(paths, (path) => call("delete_file", { path }), { concurrency: "unbounded" })
        assert.deepStrictEqual([asked.length, most], [3, 1])
        assert.sameMembers([...server.runs], paths.map((path) => `delete ${path}`))
      }))
  }
})

/** An approval of the last question that came, as the client would send it. */
const approvalOf = (messages: ReadonlyArray<JSONRPCMessage>): JSONRPCMessage => {
  const question = messages.findLast((message) => "method" in message && message.method === "elicitation/create")
  assert.isTrue(question !== undefined && "id" in question)
  const { id } = question as { readonly id: number }
  return { jsonrpc: "2.0", id, result: { ...S.approve } }
}
