/**
 * `ApprovalController.request`: a program asks without a tool (`async-callbacks.md`, "Controller Changes":
 * `request_approval`, its modes, its cache, and a callback that may or may not be async).
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalError, ApprovalMatcher, ApprovalMemory } from "../src/index.ts"
import { logged } from "./laws/logs.ts"
import * as M from "./laws/remembered.ts"
import { advance, makeHold } from "./laws/support.ts"

const deploy = (to: string) => ApprovalController.request({ name: "deploy", params: { to } })

const withController = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

const interactive = (callback: unknown, options?: ApprovalController.InteractiveOptions) =>
  withController(
    ApprovalController.interactive(callback as Parameters<typeof ApprovalController.interactive>[0], options)
  )

const session = Effect.provide(ApprovalMemory.layerSession())

describe("ApprovalController.request: its modes", () => {
  it.effect("approveAll approves and strict denies, without asking anybody", () =>
    Effect.gen(function*() {
      const yes = yield* deploy("production").pipe(withController(ApprovalController.approveAll))
      assert.strictEqual(yes._tag, "Approved")
      const no = yield* deploy("production").pipe(withController(ApprovalController.strict))
      assert.strictEqual(no._tag, "Denied")
      assert.match(no.note ?? "", /nobody can be asked/)
    }))

  it.effect("where nobody answers inline it fails with ApprovalRequired, with the question", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(deploy("production"))
      assert.instanceOf(error, ApprovalError.ApprovalError)
      const { reason } = error
      assert.strictEqual(reason._tag, "ApprovalRequired")
      const [asked] = reason._tag === "ApprovalRequired" ? reason.requests : []
      assert.deepInclude(asked, {
        toolName: "deploy",
        params: { to: "production" },
        description: "deploy(to='production')"
      })
    }))

  it.effect("what is no JSON is a typed failure, and nobody is asked", () =>
    Effect.gen(function*() {
      const cyclic: Record<string, unknown> = {}
      cyclic.self = cyclic
      for (const params of [NaN, { ratio: Infinity }, 1n, cyclic, "\ud800", { text: "x".repeat(2_000_000) }]) {
        let asked = 0
        // Not all of it is a mistake that types know of.
        const request = ApprovalController.request({ name: "deploy", params: params as number })
        const error = yield* Effect.flip(request.pipe(interactive(() => (asked++, true))))
        assert.deepStrictEqual([error.reason._tag, asked], ["InvalidParameters", 0])
        assert.include(error.message, "The parameters of \"deploy\" cannot be used")
      }
      const nothing = ApprovalController.request({ name: "deploy", params: null })
      const seen: Array<unknown> = []
      yield* nothing.pipe(interactive((request: Approval.ApprovalRequest) => (seen.push(request.params), true)))
      assert.deepStrictEqual(seen, [null])
    }))

  const callbacks: Record<string, (request: Approval.ApprovalRequest) => unknown> = {
    "a value": () => true,
    "a decision": () => new Approval.Approved({ note: "go" }),
    "an answer": (request) => Approval.approve(request, { note: "go" }),
    "a promise": async (request) => Approval.approve(request),
    "an effect": () => Effect.succeed(true)
  }
  for (const [what, callback] of Object.entries(callbacks)) {
    it.effect(`a callback may give ${what}; which one is found out by itself`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* deploy("staging").pipe(interactive(callback)))._tag, "Approved")
      }))
  }

  it.effect("where the controller says whom it asks: each is asked one thing after the other, and none waits for another", () =>
    Effect.gen(function*() {
      const ada = {}
      const people: Record<string, object | undefined> = { ada, "ada again": ada, bob: {}, nobody: undefined }
      const asked: Array<string> = []
      const answer = yield* Deferred.make<void>()
      // Both controllers ask the same person.
      const controllers = [1, 2].map((): ApprovalController.Service => ({
        personOf: (context) => people[Context.get(context, Approval.Scope).principal ?? ""],
        ask: ({ params }) => {
          asked.push(String(Object.values(params as object)[0]))
          return Effect.as(Deferred.await(answer), new Approval.Approved({}))
        }
      }))
      const ask = ([principal, controller]: readonly [string, number]) =>
        deploy(principal).pipe(
          withController(controllers[controller]!),
          Effect.provideService(Approval.Scope, { principal })
        )
      const questions = [["ada", 0], ["ada again", 1], ["bob", 0], ["nobody", 0], ["nobody", 1]] as const
      const all = yield* Effect.forkChild(Effect.forEach(questions, ask, { concurrency: "unbounded" }))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(asked, ["ada", "bob", "nobody", "nobody"])
      yield* Deferred.succeed(answer, undefined)
      yield* Fiber.join(all)
      assert.deepStrictEqual(asked, ["ada", "bob", "nobody", "nobody", "ada again"])
    }))

  const useless: Record<string, () => unknown> = {
    "throws": () => {
      throw new Error("closed")
    },
    "rejects": () => Promise.reject(new Error("closed")),
    "fails": () => Effect.fail("closed"),
    "dies": () => Effect.die("closed"),
    "returns nothing": () => undefined,
    "remarks": () => new Approval.Info({ note: "let me think" }),
    "answers something else": () => Approval.approve({ approvalId: "another" })
  }
  for (const [what, callback] of Object.entries(useless)) {
    it.effect(`a callback that ${what} is no answer: a typed error, and the next question can be asked`, () =>
      Effect.gen(function*() {
        let first = true
        const controller = interactive(() => first ? (first = false, callback()) : true)
        const both = Effect.gen(function*() {
          const error = yield* Effect.flip(deploy("production"))
          assert.strictEqual(error.reason._tag, "ApprovalRequired")
          assert.strictEqual((yield* deploy("production"))._tag, "Approved")
        })
        yield* controller(both)
      }))
  }

  it.effect("a denial is a decision with its reason, not a failure", () =>
    Effect.gen(function*() {
      const decision = yield* deploy("production").pipe(
        interactive((request: Approval.ApprovalRequest) => Approval.deny(request, "not on Fridays"))
      )
      assert.deepStrictEqual([decision._tag, decision.note], ["Denied", "not on Fridays"])
    }))
})

describe("ApprovalController.request: who decided (law L16)", () => {
  it.effect("is whom the channel knows, and nobody where the reply alone says it", () =>
    Effect.gen(function*() {
      const ada = { id: "ada", name: "Ada" }
      const yes = new Approval.Approved({})
      const posted = Object.assign(new Approval.Denied({}), { by: ada, decidedBy: { ...ada, via: "controller" } })
      const cases: ReadonlyArray<readonly [ApprovalController.Service, object]> = [
        [ApprovalController.interactive(() => yes, { by: ada }), { ...ada, via: "controller" }],
        [ApprovalController.interactive(() => ApprovalController.decided(yes, ada)), { ...ada, via: "controller" }],
        [ApprovalController.interactive(() => posted), { via: "controller" }],
        [ApprovalController.strict, { via: "strict" }]
      ]
      for (const [controller, decidedBy] of cases) {
        const decision = yield* deploy("production").pipe(withController(controller))
        assert.deepStrictEqual({ ...decision.decidedBy }, decidedBy)
      }
      assert.notProperty(yes, "decidedBy")
    }))

  it.effect("is who answered before, where it is remembered", () =>
    Effect.gen(function*() {
      const once = new Approval.Approved({ remember: "session" })
      const ada = ApprovalController.interactive(() => once, { by: { id: "ada" } })
      const asked = yield* deploy("production").pipe(withController(ada))
      const again = yield* deploy("production").pipe(withController(ApprovalController.strict))
      assert.deepStrictEqual(
        [asked, again].map(({ decidedBy }) => ({ ...decidedBy })),
        [{ id: "ada", via: "controller" }, { id: "ada", via: "memory" }]
      )
    }).pipe(session, M.inConversation("one")))
})

describe("ApprovalController.request: what is asked", () => {
  it.effect("is safe for a screen, whoever wrote it (law L15)", () =>
    Effect.gen(function*() {
      let seen: Approval.ApprovalRequest | undefined
      const bad = "pay\u202Etxt.exe\u0007\u200B"
      yield* ApprovalController.request({
        name: "deploy",
        description: bad,
        reason: bad,
        presentation: new Approval.ApprovalPresentation({ type: "text", content: `${bad}${"x".repeat(200_000)}` })
      }).pipe(interactive((request: Approval.ApprovalRequest) => (seen = request, true)))
      const shown = [seen!.description, seen!.reason ?? "", seen!.presentation!.content]
      // oxlint-disable-next-line no-control-regex
      for (const text of shown) assert.notMatch(text, /[\u202E\u0007\u200B]/)
      assert.isBelow(seen!.presentation!.content.length, 150_000)
    }))

  it.effect("each question has an id of its own", () =>
    Effect.gen(function*() {
      const ids: Array<string> = []
      const ask = deploy("a").pipe(
        interactive((request: Approval.ApprovalRequest) => (ids.push(request.approvalId), true))
      )
      yield* Effect.replicateEffect(ask, 3)
      assert.strictEqual(new Set(ids).size, 3)
    }))
})

describe("ApprovalController.request: what is remembered", () => {
  it.effect("an answer that says so is not asked again for the same, in this conversation", () =>
    Effect.gen(function*() {
      const ada = M.person(() => M.yes("session"))
      const ask = (to: string) => ada.answers(deploy(to))
      yield* ask("staging").pipe(M.inConversation("one"))
      yield* ask("staging").pipe(M.inConversation("one"))
      assert.lengthOf(ada.seen, 1)
      yield* ask("production").pipe(M.inConversation("one"))
      assert.lengthOf(ada.seen, 2)
      yield* ask("staging").pipe(M.inConversation("two"))
      yield* ask("staging").pipe(M.inConversation("one", { principal: "bob" }))
      assert.lengthOf(ada.seen, 4)
    }).pipe(session))

  it.effect("a denial is remembered with its note, and is stronger than a yes to more", () =>
    Effect.gen(function*() {
      const ada = M.person((request) =>
        JSON.stringify(request.params).includes("production")
          ? M.no("never there", "session")
          : M.yes({ covers: ApprovalMatcher.tool.description })
      )
      yield* ada.answers(deploy("production"))
      yield* ada.answers(deploy("staging"))
      const decision = yield* ada.answers(deploy("production"))
      assert.deepStrictEqual([decision._tag, decision.note, ada.seen.length], ["Denied", "never there", 2])
      assert.strictEqual((yield* ada.answers(deploy("test")))._tag, "Approved")
      assert.lengthOf(ada.seen, 2)
    }).pipe(session, M.inConversation("one")))

  it.effect("without a word, without a conversation, or by default nothing is, and nobody is warned", () =>
    Effect.gen(function*() {
      const ada = M.person(() => M.yes("session"))
      const bob = M.person(() => M.yes())
      const [, lines] = yield* logged(Effect.gen(function*() {
        for (let i = 0; i < 2; i++) yield* ada.answers(deploy("a")).pipe(session)
        for (let i = 0; i < 2; i++) yield* ada.answers(deploy("a")).pipe(M.inConversation("one"))
        yield* Effect.replicateEffect(bob.answers(deploy("a")), 2).pipe(session, M.inConversation("one"))
      }))
      assert.deepStrictEqual([ada.seen.length, bob.seen.length, lines], [4, 2, []])
    }))

  it.effect("a tool of the same name shares nothing with it", () =>
    Effect.gen(function*() {
      const memory = yield* ApprovalMemory.ApprovalMemory
      yield* M.person(() => M.yes({ covers: ApprovalMatcher.tool.description })).answers(deploy("a"))
      const scope = { conversation: "one" }
      const [one] = yield* memory.list(scope)
      const call = { scope, toolName: "deploy", version: one!.version, params: { to: "a" } }
      assert.isUndefined(yield* memory.find({ ...call, source: "local" }))
      assert.isDefined(yield* memory.find({ ...call, source: one!.source }))
    }).pipe(session, M.inConversation("one")))

  const unavailable = ApprovalError.make(new ApprovalError.MemoryUnavailable({ description: "the disk is away" }))
  const broken: Record<string, () => Effect.Effect<never, ApprovalError.ApprovalError>> = {
    "fails": () => Effect.fail(unavailable),
    "dies": () => Effect.die("broken"),
    "throws": () => {
      throw new Error("broken")
    },
    "never ends": () => Effect.never
  }
  for (const [how, fails] of Object.entries(broken)) {
    it.effect(`a memory that ${how} says nothing: it is asked, and what is answered counts (law L1)`, () =>
      Effect.gen(function*() {
        const ada = M.person(() => M.yes("session"))
        const asking = yield* Effect.forkChild(
          ada.answers(deploy("a")).pipe(
            Effect.provideService(ApprovalMemory.ApprovalMemory, {
              ...ApprovalMemory.none,
              remembers: true,
              find: fails,
              remember: fails
            }),
            M.inConversation("one")
          )
        )
        assert.isTrue(yield* advance(asking, "20 seconds"))
        assert.strictEqual((yield* Fiber.join(asking))._tag, "Approved")
        assert.lengthOf(ada.seen, 1)
      }))
  }
})

describe("ApprovalController.request: in turn, and left", () => {
  it.effect("one question at a time, and what was remembered of the one before answers the next", () =>
    Effect.gen(function*() {
      let open = 0
      let most = 0
      const ada = M.person(() =>
        Effect.gen(function*() {
          most = Math.max(most, ++open)
          yield* Effect.sleep("1 second")
          open--
          return M.yes("session")
        })
      )
      const asking = yield* Effect.forkChild(ada.answers(
        Effect.forEach(["a", "b", "a", "a"], deploy, { concurrency: "unbounded" })
      ))
      assert.isTrue(yield* advance(asking, "1 second"))
      assert.deepStrictEqual((yield* Fiber.join(asking)).map(({ _tag }) => _tag), Array(4).fill("Approved"))
      assert.deepStrictEqual([most, ada.seen], [1, ["{\"to\":\"a\"}", "{\"to\":\"b\"}"]])
    }).pipe(session, M.inConversation("one")))

  it.effect("whoever leaves takes their question along, and the next is asked", () =>
    Effect.gen(function*() {
      const hold = yield* makeHold
      let interrupted = 0
      let asked = 0
      const controller = ApprovalController.interactive(() =>
        ++asked === 1
          ? Effect.as(Effect.onInterrupt(hold.wait, () => Effect.sync(() => interrupted++)), true)
          : Effect.succeed(true)
      )
      const first = yield* Effect.forkChild(deploy("a").pipe(withController(controller)))
      yield* hold.entered
      const second = yield* Effect.forkChild(deploy("b").pipe(withController(controller)))
      yield* Fiber.interrupt(first)
      assert.strictEqual((yield* Fiber.join(second))._tag, "Approved")
      assert.deepStrictEqual([interrupted, asked], [1, 2])
    }))

  it.effect("a time limit of the caller's own is honest: nothing was approved, nothing is remembered", () =>
    Effect.gen(function*() {
      const ada = M.person(() => Effect.as(Effect.sleep("1 hour"), M.yes("session")))
      const asking = yield* Effect.forkChild(Effect.exit(ada.answers(Effect.timeout(deploy("a"), "1 minute"))))
      yield* advance(asking, "30 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(asking)))
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* M.listed({ conversation: "one" }), [])
    }).pipe(session, M.inConversation("one")))

  it.effect("from within a question, another is asked at once: it does not wait for the end of the first", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const controller = ApprovalController.interactive((request) => {
        seen.push(request.toolName)
        return request.toolName === "deploy"
          ? Effect.map(
            ApprovalController.request({ name: "wake the boss" }),
            ({ _tag }) => _tag === "Approved"
          ).pipe(withController(controller))
          : true
      })
      assert.strictEqual((yield* deploy("a").pipe(withController(controller)))._tag, "Approved")
      assert.deepStrictEqual(seen, ["deploy", "wake the boss"])
    }))

  it.effect("a session that ended in the middle of a question remembers nothing of it", () =>
    Effect.gen(function*() {
      // Kept longer than its session.
      const memory = yield* session(Effect.map(ApprovalMemory.ApprovalMemory, (memory) => memory))
      const decision = yield* M.person(() => M.yes("session")).answers(deploy("a")).pipe(
        Effect.provideService(ApprovalMemory.ApprovalMemory, memory),
        M.inConversation("one")
      )
      assert.strictEqual(decision._tag, "Approved")
      assert.deepStrictEqual(yield* memory.list({ conversation: "one" }), [])
    }))
})

describe("ApprovalController.request", () => {
  it.effect("shows what it was given, and says that a program asks", () =>
    Effect.gen(function*() {
      let seen: Approval.ApprovalRequest | undefined
      yield* ApprovalController.request({ name: "deploy", description: "Ship it?", reason: "a release" }).pipe(
        M.person((request) => (seen = request, true)).answers
      )
      assert.deepStrictEqual(
        [seen!.description, seen!.reason, seen!.source, seen!.interaction, seen!.providerExecuted],
        ["Ship it?", "a release", "program", "approval", false]
      )
      yield* ApprovalController.request({ name: "deploy", description: "d".repeat(600), reason: "r".repeat(2_000) })
        .pipe(
          M.person((request) => (seen = request, true)).answers
        )
      assert.isBelow(seen!.description!.length, 600)
      assert.isBelow(seen!.reason!.length, 1_100)
    }))
})
