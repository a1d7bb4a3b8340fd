/** Answers, or answers and a text, in one turn: all is decided first, and the model is called once for both. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AiError } from "effect/ai"
import { Approval, ApprovalPolicy } from "../../src/index.ts"
import * as L from "../laws/conversation.ts"
import * as A from "./answers.ts"
import * as C from "./support.ts"

const lastOutline = (script: C.Started["script"]) =>
  Effect.map(C.prompts(script), (prompts) => {
    const prompt = prompts.at(-1)!
    L.assertWellFormed(prompt)
    return L.outline(prompt)
  })

const askedIn = ({ content }: C.Outcome) =>
  content.flatMap((part) => part.type === "tool-approval-request" ? [part.toolCallId] : [])

describe("answers and a text", () => {
  A.eachWay(
    "are one turn: what is approved runs, the text follows, and the model is called once for both",
    function*(say) {
      const started = yield* C.start({ turns: [[C.remove("a"), C.remove("b")], "Done."] })
      const { conversation, script, steps } = started
      const [a, b] = C.requestsOf(yield* conversation.send("Clean up."))
      const outcome = yield* say(started, "And hurry.", {
        answers: [Approval.approve(a!), Approval.deny(b!, "keep it")]
      })
      assert.strictEqual(C.finished(outcome), "Done.")
      assert.deepStrictEqual(outcome.refused, [])
      assert.deepStrictEqual(steps, [["DeleteFile", "a"]])
      assert.strictEqual(yield* script.calls, 2)
      assert.deepStrictEqual(yield* lastOutline(script), [
        "user:[Clean up.]",
        "assistant:[call remove-a, call remove-b]",
        "tool:[result remove-a, failure remove-b]",
        "user:[And hurry.]"
      ])
      const roles = (yield* conversation.history).content.map(({ role }) => role)
      assert.deepStrictEqual(roles, ["user", "assistant", "tool", "user", "tool", "assistant"])
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }
  )

  A.eachWay(
    "count each for itself: a stale, foreign or unreadable answer is refused, and never voids the text",
    function*(say) {
      const started = yield* C.start({ turns: [[C.remove("a"), C.remove("b")], "One left.", "Yes.", "And now?"] })
      const other = yield* C.start({ id: "c2", turns: [[C.remove("z")]] })
      const [foreign] = C.requestsOf(yield* other.conversation.send("Go."))
      const { conversation, steps } = started
      const [a, b] = C.requestsOf(yield* conversation.send("Clean up."))
      yield* conversation.decide(Approval.approve(a!))
      const answers: ReadonlyArray<any> = [
        Approval.deny(a!),
        Approval.approve(foreign!),
        { approvalId: b!.approvalId, approved: "yes" },
        { approved: true },
        17,
        Approval.approve(b!)
      ]
      const outcome = yield* say(started, "What about b?", { answers })
      assert.strictEqual(C.finished(outcome), "One left.")
      assert.sameDeepMembers(A.refusedOf(outcome), [
        [b!.approvalId, "InvalidAnswer"],
        ["", "InvalidAnswer"],
        ["", "InvalidAnswer"],
        [a!.approvalId, "AlreadyDecided"],
        [foreign!.approvalId, "UnknownApproval"]
      ])
      assert.deepStrictEqual(steps.map(([, path]) => path), ["a", "b"])
      const stale = yield* say(started, "Well?", { answers: [Approval.approve(b!)] })
      assert.strictEqual(C.finished(stale), "Yes.")
      assert.deepStrictEqual(A.refusedOf(stale), [[b!.approvalId, "AlreadyDecided"]])
      assert.strictEqual(C.finished(yield* say(started, "So?", { answers: [17 as never] })), "And now?")
    }
  )

  A.eachWay("without a text, where none counts, fail as `decide` does, and change nothing", function*(say) {
    const started = yield* C.start({ turns: [[C.remove("a")], "Done."] })
    const { conversation, script } = started
    const [a] = C.requestsOf(yield* conversation.send("Clean up."))
    const before = yield* conversation.history
    for (
      const answers of [
        { approvalId: "made-up", approved: true },
        [{ approvalId: a!.approvalId } as never],
        17 as never
      ]
    ) {
      const reason = yield* A.reasonOf(say(started, [], { answers }))
      assert.strictEqual(reason, yield* A.reasonOf(conversation.decide(answers)))
      assert.deepStrictEqual(yield* conversation.history, before)
    }
    assert.strictEqual(yield* script.calls, 1)
    // As `decide` does.
    assert.strictEqual(C.finished(yield* say(started, [], { answers: Approval.approve(a!) })), "Done.")
    assert.strictEqual(yield* A.reasonOf(say(started, [], { answers: Approval.approve(a!) })), "AlreadyDecided")
  })

  A.eachWay("with an empty list of answers are the text alone", function*(say) {
    const started = yield* C.start({ turns: ["Hello."] })
    assert.strictEqual(C.finished(yield* say(started, "Hi.", { answers: [] })), "Hello.")
    assert.strictEqual(C.finished(yield* say(started, [], { answers: [] })), "")
    assert.strictEqual(yield* started.script.calls, 1)
  })

  A.eachWay("with a denial that stops the turn: the text counts, and the model is called", function*(say) {
    const started = yield* C.start({ turns: [[C.remove("a")], [C.read("b")], "Read instead."] })
    const [a] = C.requestsOf(yield* started.conversation.send("Clean up."))
    const outcome = yield* say(started, "Read b instead.", { answers: Approval.deny(a!, "no", { stop: true }) })
    assert.strictEqual(C.finished(outcome), "Read instead.")
    assert.deepStrictEqual(started.steps, [["ReadFile", "b"]])
    assert.include(JSON.stringify((yield* C.prompts(started.script)).at(-1)), "no")
  })

  A.eachWay("where the text cannot be said, decide nothing", function*(say) {
    const started = yield* C.start({ turns: [[C.menu("external"), C.remove("a")], "Done."] })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    const answers = requests.map((request) =>
      request.awaited === undefined ? Approval.approve(request) : Approval.answer(request, { paid: "1" })
    )
    assert.strictEqual(yield* A.reasonOf(say(started, " ", { answers })), "InvalidPrompt")
    assert.strictEqual(yield* A.reasonOf(say(started, [{ role: "user", content: [] }], { answers })), "InvalidPrompt")
    assert.deepStrictEqual(yield* started.conversation.pending(), requests)
    assert.strictEqual(C.finished(yield* say(started, "Go on.", { answers })), "Done.")
    assert.deepStrictEqual(started.steps.map(([step]) => step), ["start", "external", "DeleteFile"])
  })

  A.eachWay("what a tool waits for is answered, and the text that follows does not pass over it", function*(say) {
    const kinds = [C.ask("Size?"), C.menu("one"), C.menu("external")]
    const started = yield* C.start({ turns: [kinds, "Thanks."] })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    const answers = requests.map((request) =>
      Approval.answer(request, request.interaction === "external" ? { paid: "20" } : "soup")
    )
    const outcome = yield* say(started, "And hurry.", { answers })
    assert.strictEqual(C.finished(outcome), "Thanks.")
    assert.sameMembers(started.steps.map(([step]) => step), ["start", "start", "start", "text", "one", "external"])
    assert.deepStrictEqual((yield* lastOutline(started.script)).slice(2), [
      "tool:[result ask-Size?, result menu-one, result menu-external]",
      "user:[And hurry.]"
    ])
  })

  A.eachWay("a text answers a question that is open beside what is decided", function*(say) {
    const started = yield* C.start({ turns: [[C.ask("Size?"), C.remove("a")], "Large it is."] })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    const gated = requests.find(({ awaited }) => awaited === undefined)
    const outcome = yield* say(started, "large", { answers: Approval.approve(gated!) })
    assert.strictEqual(C.finished(outcome), "Large it is.")
    assert.sameDeepMembers([...started.steps], [["start", "Size?"], ["text", "large"], ["DeleteFile", "a"]])
  })

  A.eachWay("where the model fails, both are kept: the next turn goes on, and nothing runs twice", function*(say) {
    const overloaded = AiError.make({
      module: "Provider",
      method: "call",
      reason: new AiError.UnknownError({ description: "overloaded" })
    })
    const started = yield* C.start({ turns: [[C.remove("a")], overloaded, "Done."] })
    const [a] = C.requestsOf(yield* started.conversation.send("Clean up."))
    yield* Effect.flip(say(started, "And hurry.", { answers: Approval.approve(a!) }))
    assert.include(JSON.stringify(yield* started.conversation.history), "And hurry.")
    assert.strictEqual(C.finished(yield* started.conversation.send([])), "Done.")
    assert.deepStrictEqual(started.steps, [["DeleteFile", "a"]])
    assert.deepStrictEqual((yield* lastOutline(started.script)).slice(1), [
      "assistant:[call remove-a]",
      "tool:[result remove-a]",
      "user:[And hurry.]"
    ])
  })
})

describe("a tool that begins to wait in a turn in which something is said", () => {
  const gated = { ...C.ask("Size?", "g"), name: "Gated" }

  A.eachWay("takes no step from the model", function*(say) {
    const started = yield* C.start({ turns: [[gated], "As you like."], limits: { steps: 1 } })
    const [request] = C.requestsOf(yield* started.conversation.send("Go."))
    const outcome = yield* say(started, "And hurry.", { answers: Approval.approve(request!) })
    assert.strictEqual(C.finished(outcome), "As you like.")
  })

  A.eachWay("is not passed over by a text that answers another question", function*(say) {
    const started = yield* C.start({ turns: [[C.ask("Colour?"), gated], "Never."] })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    const answers = requests.filter(({ awaited }) => awaited === undefined).map((request) => Approval.approve(request))
    const outcome = yield* say(started, "red", { answers })
    assert.deepStrictEqual(C.requestsOf(outcome).map(({ toolCallId }) => toolCallId), ["g"])
    assert.deepStrictEqual(askedIn(outcome), ["g"])
    assert.deepInclude(started.steps, ["text", "red"])
  })
})

describe("what stays open beside a text is as with `send(text)`", () => {
  const rules = ["supersede", "keep", "hold", "fail"] as const
  const twoLists = ApprovalPolicy.make(() => Effect.succeed(Approval.needsApproval({ approvers: [["ada"], ["bob"]] })))
  const ada = { id: "ada" }

  // The model's first calls, what is answered of them, and what is then still open.
  const cases = {
    "a request that is not answered": {
      calls: [C.remove("a"), C.remove("b")],
      answer: (requests: ReadonlyArray<Approval.ApprovalRequest>) => [Approval.approve(requests[0]!)],
      policy: undefined
    },
    "a request that needs a second person": {
      calls: [C.remove("a")],
      answer: (requests: ReadonlyArray<Approval.ApprovalRequest>) => [Approval.approve(requests[0]!)],
      policy: twoLists
    },
    "a tool that begins to wait": {
      calls: [{ ...C.ask("Size?", "g"), name: "Gated" }],
      answer: (requests: ReadonlyArray<Approval.ApprovalRequest>) => [Approval.approve(requests[0]!)],
      policy: undefined
    },
    "a tool that begins to wait, and a request that is not answered": {
      calls: [C.remove("a"), { ...C.ask("Size?", "g"), name: "Gated" }],
      answer: (requests: ReadonlyArray<Approval.ApprovalRequest>) => [Approval.approve(requests[1]!)],
      policy: undefined,
      // A turn that fails at the other request has not said yet what has begun to wait.
      rules: ["supersede", "keep", "hold"] as const
    },
    "a tool that waits once more": {
      calls: [{ ...C.ask("x", "s"), name: "Submit", params: { item: "chairs", amount: "250" } }],
      answer: (requests: ReadonlyArray<Approval.ApprovalRequest>) => [Approval.approve(requests[0]!)],
      policy: undefined
    }
  }

  const play = (
    { answer, calls, policy }: typeof cases[keyof typeof cases],
    onNewMessage: typeof rules[number],
    say: (started: C.Started, answers: ReadonlyArray<Approval.ApprovalAnswer>) => Effect.Effect<C.Outcome, unknown>
  ) =>
    Effect.gen(function*() {
      // A text that somebody wrote answers no question that nobody had asked yet.
      const started = yield* C.start({
        turns: [calls],
        afterLastTurn: "fine",
        approval: { onNewMessage },
        routeText: () => undefined
      })
      const requests = C.requestsOf(yield* started.conversation.send("Go."))
      const exit = yield* Effect.result(say(started, answer(requests)))
      const last = (yield* C.prompts(started.script)).at(-1)!
      L.assertWellFormed(last)
      const calls2 = yield* started.script.calls
      const pending = yield* started.conversation.pending()
      // What comes next finds all in order.
      const next = yield* Effect.result(started.conversation.send("And now?"))
      const after = (yield* C.prompts(started.script)).at(-1)!
      L.assertWellFormed(after)
      return {
        ended: exit._tag === "Success"
          ? [exit.success._tag, exit.success.text]
          : yield* A.reasonOf(Effect.fromResult(exit)).pipe(
            Effect.map((reason) => reason instanceof Error ? reason.message : reason)
          ),
        calls: calls2,
        sent: L.outline(last),
        pending: pending.map(({ interaction, toolCallId }) => [interaction, toolCallId]),
        next: next._tag === "Success" ? next.success._tag : "failed",
        after: L.outline(after),
        steps: started.steps.map(([step]) => step),
        isKept: JSON.stringify(yield* started.conversation.history).includes("And hurry."),
        asked: exit._tag === "Success"
          ? askedIn(exit.success)
          : []
      }
    }).pipe((effect) =>
      policy === undefined ? effect : Effect.provideService(effect, ApprovalPolicy.ApprovalPolicy, policy)
    )

  for (const [what, one] of Object.entries(cases)) {
    for (const rule of "rules" in one ? one.rules : rules) {
      it.effect(`${what} (${rule})`, () =>
        Effect.gen(function*() {
          const apart = yield* play(one, rule, ({ conversation }, answers) =>
            Effect.andThen(conversation.decide(answers, { by: ada }), conversation.send("And hurry.")))
          for (const [way, say] of Object.entries(A.ways)) {
            const together = yield* play(one, rule, (started, answers) =>
              say(started, "And hurry.", { answers, by: ada }))
            const { asked } = together
            assert.deepStrictEqual({ ...together, asked: [] }, { ...apart, asked: [] }, way)
            // What has begun to wait is said, and is said again where the text that is held leaves it open.
            const times = rule === "hold" && what.startsWith("a tool") ? 2 : 1
            assert.lengthOf(asked, new Set(asked).size * times, way)
          }
        }))
    }
  }
})
