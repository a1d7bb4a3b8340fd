/**
 * Blocking approval without a model (`blocking-wrapper.md`, Proposed Design; `async-callbacks.md`): a guarded toolkit asks
 * where a call is handled, and runs it only when approved.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Ref, Schema, Stream } from "effect"
import * as UpstreamLanguageModel from "effect/ai/LanguageModel"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalMemory,
  ApprovalPolicy,
  LanguageModel,
  Response,
  Tool,
  Toolkit
} from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { logged } from "./laws/logs.ts"

const WriteFile = Tool.make("WriteFile", {
  parameters: { path: Schema.String, content: Schema.String },
  success: Schema.Struct({ written: Schema.Number }),
  needsApproval: ({ path }) => !path.startsWith("/tmp/")
})
const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String })
const Files = Toolkit.make(WriteFile, ReadFile)

class Runs extends Context.Service<Runs, Ref.Ref<ReadonlyArray<string>>>()("test/Runs") {}

const handlers = Files.toLayer(Effect.gen(function*() {
  const runs = yield* Runs
  const note = (run: string) => Ref.update(runs, (all) => [...all, run])
  return {
    WriteFile: ({ content, path }) => Effect.as(note(`write ${path} ${content}`), { written: content.length }),
    ReadFile: ({ path }) => Effect.as(note(`read ${path}`), `content of ${path}`)
  }
}))

const live = Layer.provideMerge(handlers, Layer.effect(Runs, Ref.make<ReadonlyArray<string>>([])))

const runs = Effect.flatMap(Runs, Ref.get)

type Guarded = Toolkit.WithHandler<Toolkit.Tools<typeof Files>>

const write = (toolkit: Guarded, path: string, content = "hi", id?: string) =>
  Effect.flatMap(toolkit.handle("WriteFile", { path, content }, id), Stream.runCollect).pipe(
    Effect.map((results) => results[results.length - 1]!)
  )

const reasonOf = (result: { readonly isFailure: boolean; readonly encodedResult: unknown }): string => {
  assert.isTrue(result.isFailure)
  const { encodedResult } = result
  assert.isTrue(typeof encodedResult === "object" && encodedResult !== null && "reason" in encodedResult)
  return String((encodedResult as { readonly reason: unknown }).reason)
}

const typeOf = (result: { readonly encodedResult: unknown }) =>
  (result.encodedResult as { readonly type?: unknown }).type

const answering = (...args: Parameters<typeof ApprovalController.interactive>) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(...args))

describe("Toolkit.guard", () => {
  it.effect("blocks for approval: what is approved runs, once, with what was shown", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const seen: Array<string> = []
      const result = yield* write(toolkit, "a.txt").pipe(
        answering((request) => (seen.push(`${request.toolCallId} ${request.description}`), true))
      )
      assert.deepStrictEqual(result.encodedResult, { written: 2 })
      assert.isFalse(result.isFailure)
      assert.strictEqual(seen.length, 1)
      assert.match(seen[0]!, / WriteFile\(content='hi', path='a.txt'\)$/)
      assert.deepStrictEqual(yield* runs, ["write a.txt hi"])
    }).pipe(Effect.provide(live)))

  it.effect("a denial is a failed result that reads as final, with the person's reason; nothing runs", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const denied = yield* write(toolkit, ".env").pipe(
        answering((request) => Approval.deny(request, "don't touch env files"))
      )
      assert.strictEqual(typeOf(denied), "execution-denied")
      assert.strictEqual(reasonOf(denied), "don't touch env files")
      const silent = yield* write(toolkit, ".env").pipe(answering(() => false))
      assert.match(reasonOf(silent), /denied/)
      assert.deepStrictEqual(yield* runs, [])
    }).pipe(Effect.provide(live)))

  it.effect("calls that need nobody run as they are: ungated tools, and what the tool's own logic lets run", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const strict = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
      yield* strict(write(toolkit, "/tmp/a"))
      yield* strict(Effect.flatMap(toolkit.handle("ReadFile", { path: "b" }), Stream.runDrain))
      assert.deepStrictEqual(yield* runs, ["write /tmp/a hi", "read b"])
      assert.match(reasonOf(yield* strict(write(toolkit, "c"))), /nobody can be asked/)
    }).pipe(Effect.provide(live)))

  it.effect("callbacks may be plain, async, or effects; one that throws, rejects, or says nothing runs nothing", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const yes: ReadonlyArray<Parameters<typeof ApprovalController.interactive>[0]> = [
        () => true,
        async () => true,
        () => Effect.succeed(true),
        (request) => Approval.approve(request),
        () => new Approval.Approved({})
      ]
      for (const callback of yes) assert.isFalse((yield* write(toolkit, "a").pipe(answering(callback))).isFailure)
      assert.strictEqual((yield* runs).length, yes.length)
      const no: ReadonlyArray<() => never> = [
        () => {
          throw new Error("secret")
        },
        () => Promise.reject(new Error("secret")) as never,
        () => undefined as never,
        () => "yes" as never,
        () => ({ approved: true }) as never,
        () => Effect.die("secret") as never
      ]
      for (const callback of no) {
        const result = yield* write(toolkit, "a").pipe(answering(callback))
        assert.strictEqual(typeOf(result), "execution-interrupted")
        assert.match(reasonOf(result), /Nothing ran/)
        assert.notInclude(JSON.stringify(result), "secret")
      }
      assert.strictEqual((yield* runs).length, yes.length)
    }).pipe(Effect.provide(live)))

  it.effect("without a controller nobody can be asked: a failed result that says so, and the log what to provide", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const [result, lines] = yield* logged(write(toolkit, "a"))
      assert.match(reasonOf(result), /nobody can be asked here\. Nothing ran\.$/)
      assert.match(lines.map(({ text }) => text).join("\n"), /layerInteractive/)
      assert.deepStrictEqual(yield* runs, [])
    }).pipe(Effect.provide(live)))

  it.effect("L1 parameters that do not fit are never shown to a person", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const seen: Array<string> = []
      const result = yield* Effect.flatMap(
        toolkit.handle("WriteFile", { path: 1 } as never),
        Stream.runCollect
      ).pipe(answering((request) => (seen.push(request.description), true)))
      assert.isTrue(result[0]!.isFailure)
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(live)))

  it.effect("the policy decides first: pre-approved runs, blocked is denied, a dead one asks and does not run", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const policy = (decide: Parameters<typeof ApprovalPolicy.make>[0]) =>
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(decide))
      assert.isFalse((yield* write(toolkit, "a").pipe(policy(() => false))).isFailure)
      const blocked = yield* write(toolkit, "a").pipe(
        policy(() => Approval.blocked("read only")),
        answering(() => true)
      )
      assert.strictEqual(reasonOf(blocked), "read only")
      const seen: Array<string | undefined> = []
      const dead = yield* write(toolkit, "a").pipe(
        policy(() => Effect.die("secret")),
        answering((request) => (seen.push(request.reason), true))
      )
      assert.match(seen[0]!, /policy/)
      assert.match(reasonOf(dead), /policy failed/)
      assert.deepStrictEqual(yield* runs, ["write a hi"])
    }).pipe(Effect.provide(live)))

  it.effect("an edit is decoded, judged again, and the model is told what ran", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const edit = (params: Schema.Json) => answering(() => new Approval.Approved({ params }))
      const result = yield* write(toolkit, "a", "long text").pipe(edit({ path: "a", content: "short" }))
      assert.deepStrictEqual(result.encodedResult, { written: 5 })
      assert.include(JSON.stringify(result.modelOutput), "changed the parameters")
      assert.match(reasonOf(yield* write(toolkit, "a").pipe(edit({ path: "a" }))), /schema/)
      const blocked = yield* write(toolkit, "a").pipe(
        edit({ path: "/etc/passwd", content: "" }),
        Effect.provideService(
          ApprovalPolicy.ApprovalPolicy,
          ApprovalPolicy.make((call) =>
            JSON.stringify(call.encodedParams).includes("/etc/") ? Approval.blocked("not there") : undefined
          )
        )
      )
      assert.strictEqual(reasonOf(blocked), "not there")
      assert.deepStrictEqual(yield* runs, ["write a short"])
    }).pipe(Effect.provide(live)))

  it.effect("approve for session: an identical call is not asked again, another is; of two at once one asks", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(Files)
      const seen: Array<string> = []
      const asked = answering((request) => {
        seen.push(request.description)
        return Approval.approve(request, { remember: "session" })
      })
      yield* asked(Effect.all([write(toolkit, "a"), write(toolkit, "a"), write(toolkit, "a")], {
        concurrency: "unbounded"
      }))
      yield* asked(write(toolkit, "a"))
      assert.strictEqual(seen.length, 1)
      yield* asked(write(toolkit, "b"))
      assert.strictEqual(seen.length, 2)
      // Another guard is another session.
      yield* asked(write(yield* Toolkit.guard(Files), "a"))
      assert.strictEqual(seen.length, 3)
      assert.strictEqual((yield* runs).length, 6)
    }).pipe(Effect.provide(Layer.merge(live, ApprovalMemory.layerSession()))))

  it.effect("one question at a time, and parallel where the program says so", () =>
    Effect.gen(function*() {
      for (const parallel of [false, true]) {
        const toolkit = yield* Toolkit.guard(Files)
        let open = 0
        let most = 0
        const gate = yield* Deferred.make<void>()
        const fiber = yield* Effect.all([write(toolkit, "a"), write(toolkit, "b")], { concurrency: "unbounded" }).pipe(
          answering(() =>
            Effect.gen(function*() {
              most = Math.max(most, ++open)
              yield* Deferred.await(gate)
              open--
              return true
            }), { parallel }),
          Effect.forkChild
        )
        for (let i = 0; i < 100; i++) yield* Effect.yieldNow
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        for (let i = 0; i < 100; i++) yield* Effect.yieldNow
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(fiber)
        assert.strictEqual(most, parallel ? 2 : 1)
      }
    }).pipe(Effect.provide(live)))

  it.effect("what was approved without showing what may change runs beside another", () =>
    Effect.gen(function*() {
      const Wait = Tool.make("Wait", { success: Schema.Void, needsApproval: true })
      const Waits = Toolkit.make(Wait)
      const gate = yield* Deferred.make<void>()
      let running = 0
      const toolkit = yield* Toolkit.guard(Waits).pipe(
        Effect.provide(Waits.toLayer({
          Wait: () => Effect.andThen(Effect.sync(() => running++), Deferred.await(gate))
        }))
      )
      const call = Effect.flatMap(toolkit.handle("Wait", {}), Stream.runDrain)
      const both = yield* Effect.all([call, call], { concurrency: "unbounded" }).pipe(
        answering(() => true, { parallel: true }),
        Effect.forkChild
      )
      for (let i = 0; i < 100; i++) yield* Effect.yieldNow
      assert.strictEqual(running, 2)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(both)
    }))

  it.effect("nested: a handler that calls a guarded tool asks too, and who leaves the outer leaves the inner", () =>
    Effect.gen(function*() {
      const Outer = Tool.make("Outer", {
        parameters: { path: Schema.String },
        success: Schema.String,
        needsApproval: true
      })
      const inner = yield* Toolkit.guard(Files)
      const Nested = Toolkit.make(Outer)
      const context = yield* Nested.toHandlers({
        Outer: ({ path }) =>
          Effect.map(write(inner, path), ({ isFailure }) => isFailure ? "no" : "yes").pipe(Effect.orDie)
      })
      const outer = yield* Toolkit.guard(Effect.provide(Nested, context))
      const call = Effect.flatMap(outer.handle("Outer", { path: "a" }), Stream.runCollect)
      const seen: Array<string> = []
      const [result] = yield* call.pipe(answering((request) => (seen.push(request.toolName), true)))
      assert.strictEqual(result!.encodedResult, "yes")
      assert.deepStrictEqual(seen, ["Outer", "WriteFile"])
      const interrupted = yield* Deferred.make<void>()
      const waiting = yield* Deferred.make<void>()
      const fiber = yield* call.pipe(
        answering((request) =>
          request.toolName === "Outer"
            ? true
            : Effect.andThen(Deferred.succeed(waiting, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
            )
        ),
        Effect.forkChild
      )
      yield* Deferred.await(waiting)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(interrupted)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(yield* runs, ["write a hi"])
    }).pipe(Effect.provide(live)))

  it.effect("guarding twice asks once", () =>
    Effect.gen(function*() {
      const toolkit = Toolkit.guard(yield* Toolkit.guard(Files))
      const seen: Array<string> = []
      yield* write(toolkit, "a").pipe(answering((request) => (seen.push(request.toolName), true)))
      assert.deepStrictEqual(seen, ["WriteFile"])
    }).pipe(Effect.provide(live)))

  for (const whose of ["upstream's", "our"] as const) {
    it.effect(`under ${whose} model the guard asks, once, whatever policy is in force`, () =>
      Effect.gen(function*() {
        const toolkit = yield* Toolkit.guard(Files)
        const script = yield* ScriptedModel.make({
          turns: [[ScriptedModel.toolCall({ id: "c1", name: "WriteFile", params: { path: "a", content: "hi" } })]]
        })
        const seen: Array<string> = []
        const turn = (whose === "our" ? LanguageModel : UpstreamLanguageModel).generateText({ prompt: "go", toolkit })
        const response = yield* turn.pipe(
          Effect.provideService(LanguageModel.LanguageModel, script.model),
          Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => true)),
          answering((request) => (seen.push(request.toolCallId), true))
        )
        assert.deepStrictEqual(seen, ["c1"])
        assert.deepStrictEqual(response.toolResults.map(({ result }) => result), [{ written: 2 }])
        assert.isFalse(Response.isWaiting(response))
        assert.deepStrictEqual(yield* runs, ["write a hi"])
      }).pipe(Effect.provide(live)))
  }

  it.effect("tells what happened in events", () =>
    Effect.gen(function*() {
      const events = yield* ApprovalEvents.make()
      const seen: Array<string> = []
      yield* Effect.forkScoped(
        Stream.runForEach(
          yield* events.subscribe,
          (event) => Effect.sync(() => seen.push(event._tag === "Changed" ? event.state : event._tag))
        )
      )
      const toolkit = yield* Toolkit.guard(Files)
      const observed = Effect.provideService(ApprovalEvents.ApprovalEvents, events)
      yield* observed(write(toolkit, "a").pipe(answering(() => true)))
      yield* observed(write(toolkit, "a").pipe(answering(() => false)))
      yield* Effect.yieldNow
      assert.deepStrictEqual(seen, ["Requested", "approved", "Requested", "denied"])
    }).pipe(Effect.scoped, Effect.provide(live)))
})

describe("Toolkit.merge", () => {
  it("does not let one tool take the place of another of its name that needs approval", () => {
    const gated = Toolkit.make(Tool.make("Delete", { needsApproval: true }))
    const open = Toolkit.make(Tool.make("Delete"))
    const decided = Toolkit.make(Tool.make("Delete", { needsApproval: () => false }))
    for (const [one, other] of [[gated, open], [open, gated], [decided, open], [gated, decided]] as const) {
      assert.throws(() => Toolkit.merge(one, other), /Two tools are called "Delete"/)
    }
    assert.deepStrictEqual(Object.keys(Toolkit.merge(gated, gated, Files).tools), ["Delete", "WriteFile", "ReadFile"])
    assert.deepStrictEqual(Object.keys(Toolkit.merge(open, Toolkit.make(Tool.make("Delete"))).tools), ["Delete"])
  })
})

describe("Toolkit.withPolicy", () => {
  const secrets = Toolkit.withPolicy(Files, (call) => {
    const path = (call.encodedParams as { readonly path: string }).path
    return path.includes(".env") ? Approval.blocked("secrets stay here") : path === "a" ? false : undefined
  })

  it.effect("is in the place of the tools' own gates, which count where it says nothing", () =>
    Effect.gen(function*() {
      const toolkit = yield* Toolkit.guard(secrets)
      const strict = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
      assert.isFalse((yield* strict(write(toolkit, "a"))).isFailure)
      assert.isFalse((yield* strict(write(toolkit, "/tmp/b"))).isFailure)
      assert.match(reasonOf(yield* strict(write(toolkit, "b"))), /nobody/)
      assert.strictEqual(reasonOf(yield* strict(write(toolkit, "/tmp/.env"))), "secrets stay here")
      const [read] = yield* Effect.flatMap(toolkit.handle("ReadFile", { path: ".env" }), Stream.runCollect)
      assert.strictEqual(reasonOf(read!), "secrets stay here")
      assert.deepStrictEqual(yield* runs, ["write a hi", "write /tmp/b hi"])
    }).pipe(Effect.provide(live)))

  it.effect("L1 under plain upstream the turn ends, whatever the policy says, and nothing runs", () =>
    Effect.gen(function*() {
      for (const policy of [() => Approval.blocked("no"), () => Effect.die("no"), () => false]) {
        const toolkit = yield* Toolkit.withPolicy(Files, policy)
        const script = yield* ScriptedModel.make({
          turns: [[ScriptedModel.toolCall({ id: "c1", name: "ReadFile", params: { path: "a" } })]]
        })
        const turn = UpstreamLanguageModel.generateText({ prompt: "go", toolkit }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, script.model)
        )
        assert.include(String(yield* Effect.sandbox(turn).pipe(Effect.flip)), "met the engine of effect/ai")
        const byHand = toolkit.handle("ReadFile", { path: "a" })
        assert.include(String(yield* Effect.sandbox(byHand).pipe(Effect.flip)), "was called without it")
      }
      assert.deepStrictEqual(yield* runs, [])
    }).pipe(Effect.provide(live)))
})
