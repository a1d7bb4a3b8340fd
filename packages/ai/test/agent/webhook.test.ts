/** Another system that answers what an agent waits for, at any depth: it wakes the outermost conversation, once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Webhook } from "../../src/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import type * as World from "./world.ts"

const { yes } = S

const key = "r.00.00.00"

/** A play whose innermost agent waits for a call, and what calls it, in any process, and says whom that wakes. */
const begin = Effect.gen(function*() {
  const tokens: Array<Redacted.Redacted> = []
  const woken: Array<string | undefined> = []
  const tree = Tree.agent([Tree.inner([Tree.inner([Tree.hook, Tree.pay]), Tree.pay]), Tree.pay])
  const play = yield* S.begin("send", tree, { onToken: (token) => tokens.push(token) })
  yield* play.begin
  const [token] = tokens
  const call = (process: World.Process, said: string) =>
    Effect.gen(function*() {
      const request = new Request(`http://localhost/hooks/${Redacted.value(token!)}`, {
        method: "POST",
        body: JSON.stringify({ said })
      })
      const wake: Webhook.Options<unknown>["wake"] = ({ scope }) =>
        Effect.suspend((): Effect.Effect<unknown, unknown> => {
          woken.push(scope.conversation)
          return scope.conversation === "c1" ? process.conversation.wake : Effect.void
        })
      const response = yield* process.serving(
        Effect.provideService(
          Webhook.handler({ wake }),
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(request)
        )
      )
      // What is woken goes on when the response is sent.
      const { status } = HttpServerResponse.toWeb(response)
      yield* S.idle
      return status
    })
  return { call, play, token: token!, woken }
})

describe("a call of another system that an agent waits for, three levels deep", () => {
  for (const where of ["the same process", "another process"] as const) {
    it.effect(`L2 wakes the outermost conversation in ${where}, which goes on through all of them, once`, () =>
      Effect.gen(function*() {
        const { call, play, woken } = yield* begin
        if (where === "another process") yield* play.restart
        assert.strictEqual(yield* call(play.process(), "thanks"), 202)
        play.decisions.set(key, S.text("thanks"))
        assert.deepStrictEqual(woken, ["c1"])
        yield* play.check()
        const again = yield* call(play.process(), "more")
        assert.isTrue(again >= 400, `${again}`)
        assert.deepStrictEqual(woken, ["c1"])
        yield* play.answer({ "r.00.00.01": yes, "r.00.01": yes, "r.01": yes })
        assert.deepStrictEqual(play.did.filter((what) => what.startsWith("called:")), [`called:${key}:thanks`])
      }))
  }

  it.effect("L6 is too late once the outermost was superseded: nothing goes on, and nobody is woken", () =>
    Effect.gen(function*() {
      const { call, play, woken } = yield* begin
      yield* play.say("Leave it.")
      const models = yield* S.calls(play)
      const status = yield* call(play.process(), "late")
      assert.isTrue(status >= 400, `${status}`)
      assert.deepStrictEqual([play.did, woken], [[], []])
      assert.strictEqual(yield* S.calls(play), models)
    }))

  it.effect("L4 keeps its token out of every history and request", () =>
    Effect.gen(function*() {
      const { play, token } = yield* begin
      const shown = JSON.stringify([yield* play.pending, yield* play.conversation().history])
      assert.notInclude(shown, Redacted.value(token))
      for (const { script } of play.processes) {
        assert.notInclude(JSON.stringify(yield* script.requests), Redacted.value(token))
      }
    }))
})
