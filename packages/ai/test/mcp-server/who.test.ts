/** L16: who the user of an MCP client is, the program says for each request; a client does not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { Approval, ApprovalEvents, ApprovalPolicy, type Approver, McpApproval } from "../../src/index.ts"
import * as Asking from "../../src/internal/asking/asking.ts"
import { logged } from "../laws/logs.ts"
import * as S from "./support.ts"

const approving = S.accept({ decision: "approve", reason: "by ada" })

/** As a program would that has logged its users in: here the address says it. */
const loggedIn: McpApproval.ElicitationOptions["by"] = () =>
  Effect.map(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) => {
    const id = Option.isNone(request) ? null : new URL(request.value.url, "http://localhost").searchParams.get("user")
    return id === null ? undefined : { id }
  })

/** A server, and who decided, as its events have it. */
const serve = Effect.fnUntraced(function*(
  options: McpApproval.ToolkitOptions,
  approvers?: Approver.Approvers,
  selfApproval?: boolean
) {
  const events = yield* ApprovalEvents.make()
  const seen: Array<unknown> = []
  yield* Effect.forkScoped(
    Stream.runForEach(
      yield* events.subscribe,
      (event) => Effect.sync(() => event._tag === "Changed" && seen.push([event.state, { ...event.decidedBy }]))
    )
  )
  const policy = ApprovalPolicy.make(() =>
    Effect.succeed(
      approvers === undefined && selfApproval === undefined
        ? undefined
        : Approval.needsApproval({ approvers, selfApproval })
    )
  )
  const server = yield* S.serve(
    S.files(options).pipe(
      Layer.provide(Layer.succeed(ApprovalEvents.ApprovalEvents, events)),
      Layer.provide(Layer.succeed(ApprovalPolicy.ApprovalPolicy, policy))
    )
  )
  return { server, seen }
})

const as = (server: S.Server, user: string) => ({ url: new URL(`?user=${user}`, server.url) })

describe("L16 elicitation", () => {
  it.effect("whoever wrote the program is told that nobody could be looked up", () =>
    Effect.gen(function*() {
      const controller = McpApproval.elicitation({ by: () => Effect.fail("down") })
      const [, lines] = yield* logged(Asking.ask(controller, S.request({}), { remembers: undefined }))
      assert.deepStrictEqual(lines.map(({ level, text }) => [level, /option by failed for "delete_file"/.test(text)]), [
        ["Warn", true]
      ])
    }))

  it.live("is answered by nobody known, whatever the client sends with its form", () =>
    Effect.gen(function*() {
      const { seen, server } = yield* serve({})
      const { call } = yield* S.connect(server, () => approving)
      assert.isFalse((yield* call("delete_file", { path: "a" })).isError)
      assert.deepStrictEqual(seen, [["approved", { via: "elicitation" }]])
      const posting = yield* S.connect(server, () => S.accept({ decision: "approve", by: "ada" }))
      assert.isTrue((yield* posting.call("delete_file", { path: "b" })).isError)
      assert.deepStrictEqual(server.runs, ["delete a"])
    }))

  it.live("is answered by whom the program knows, of each client its own", () =>
    Effect.gen(function*() {
      const { seen, server } = yield* serve({ by: loggedIn })
      for (const user of ["ada", "bob"]) {
        const { call } = yield* S.connect(as(server, user), () => approving)
        assert.isFalse((yield* call("delete_file", { path: user })).isError)
      }
      assert.deepStrictEqual(seen, [
        ["approved", { id: "ada", via: "elicitation" }],
        ["approved", { id: "bob", via: "elicitation" }]
      ])
      assert.deepStrictEqual(server.runs, ["delete ada", "delete bob"])
    }))

  it.live("does not ask whoever is no approver, and nothing runs", () =>
    Effect.gen(function*() {
      for (const by of [loggedIn, undefined, () => Effect.fail("nobody can be looked up"), { name: "ada" }]) {
        const { seen, server } = yield* serve({ by }, ["ada"])
        const { asked, call } = yield* S.connect(as(server, "bob"), () => approving)
        const said = yield* call("delete_file", { path: "a" })
        assert.isTrue(said.isError)
        assert.include(said.text, "It is for ada to decide, and not for the client's user.")
        assert.deepStrictEqual([asked.length, seen, server.runs], [0, [], []])
      }
    }))

  it.live("does not ask whoever the call is for, where they may not decide on their own", () =>
    Effect.gen(function*() {
      for (const [user, isAsked] of [["bob", false], ["ada", true]] as const) {
        const { server } = yield* serve({ by: loggedIn }, undefined, false)
        const { asked, call } = yield* S.connect(as(server, user), () => approving)
        const said = yield* call("delete_file", { path: "a" })
        assert.strictEqual(said.isError, !isAsked)
        if (!isAsked) assert.include(said.text, "It is for somebody other than the person who asked for it to decide")
        assert.lengthOf(asked, isAsked ? 1 : 0)
        assert.deepStrictEqual(server.runs, isAsked ? ["delete a"] : [])
      }
    }).pipe(Effect.provideService(Approval.Scope, { principal: "bob" })))

  it.live("asks whoever is one", () =>
    Effect.gen(function*() {
      const { seen, server } = yield* serve({ by: loggedIn }, ["ada", "bob"])
      const { call } = yield* S.connect(as(server, "bob"), () => approving)
      assert.isFalse((yield* call("delete_file", { path: "a" })).isError)
      assert.deepStrictEqual(seen, [["approved", { id: "bob", via: "elicitation" }]])
      assert.deepStrictEqual(server.runs, ["delete a"])
    }))
})
