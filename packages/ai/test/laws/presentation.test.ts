/**
 * What a person is shown of a call (`blocking-wrapper.md`, Core Types and Toolset Protocol): by the tool or by the policy,
 * safe for screens (L15), sealed (L4), and never what lets a call run or keeps it from being asked about (L1).
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Prompt } from "../../src/index.ts"
import {
  Approval,
  ApprovalController,
  ApprovalPolicy,
  ApprovalPresentation,
  LanguageModel,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Asked from "./asked.ts"
import * as C from "./conversation.ts"
import * as Logs from "./logs.ts"
import * as Support from "./support.ts"
import { idle } from "./support.ts"

class Disk extends Context.Service<Disk, Ref.Ref<string>>()("test/Disk") {}

const Plain = Tool.make("WriteFile", {
  parameters: { path: Schema.String, content: Schema.String },
  success: Schema.String,
  needsApproval: true,
  dependencies: [Disk]
})

const WriteFile = Tool.present(
  Plain,
  ({ content, path }) =>
    Effect.gen(function*() {
      const before = yield* Ref.get(yield* Disk)
      return yield* ApprovalPresentation.diff({ path, before, after: content })
    })
)

const call = (content = "new\n") =>
  ScriptedModel.toolCall({ id: "c1", name: "WriteFile", params: { path: "a.txt", content } })

const begin = Effect.fnUntraced(function*(
  way: C.Way,
  tool: typeof Plain,
  turns: C.StartOptions["turns"] = [[call()], "Done.", "Again."]
) {
  const disk = yield* Ref.make("old\n")
  const runs: Array<string> = []
  const Files = Toolkit.make(tool)
  const toolkit = yield* C.withHandlers(Files, {
    WriteFile: ({ content }: { readonly content: string }) => Effect.sync(() => (runs.push(content), "written"))
  })
  const chat = yield* C.start({ way, toolkit, turns, make: (script) => LanguageModel.make(script.params) })
  return { chat, disk, runs, send: (prompt: Prompt.RawInput) => Effect.provideService(chat.send(prompt), Disk, disk) }
})

const approve = (requests: ReadonlyArray<Approval.ApprovalRequest>) => C.approveAll({ requests })

describe("Tool.present", () => {
  C.everyWay(
    "the tool shows a diff, with what it was made from as its precondition; approved, the call runs",
    function*(way) {
      const { runs, send } = yield* begin(way, WriteFile)
      const { requests } = yield* send("write")
      const { presentation } = requests[0]!
      assert.deepInclude(presentation, { type: "diff", metadata: { path: "a.txt" } })
      assert.include(presentation!.content, "-old\n+new\n")
      assert.strictEqual(presentation!.precondition, yield* ApprovalPresentation.digest("old\n"))
      assert.strictEqual((yield* send(approve(requests))).text, "Done.")
      assert.deepStrictEqual(runs, ["new\n"])
    }
  )

  C.everyWay("L4 the file changed since it was approved: nothing runs, and it may be asked again", function*(way) {
    const { disk, runs, send } = yield* begin(way, WriteFile, [[call()], [{ ...call(), id: "c2" }], "Done."])
    const { requests } = yield* send("write")
    yield* Ref.set(disk, "somebody else's\n")
    const turn = yield* send(approve(requests))
    assert.match(C.reasonOf(turn.results[0]!), /changed since they approved it\. Nothing ran/)
    assert.deepStrictEqual(runs, [])
    assert.include(turn.requests[0]!.presentation!.content, "-somebody else's\n")
    yield* send(approve(turn.requests))
    assert.deepStrictEqual(runs, ["new\n"])
  })

  C.everyWay("L4 a change beyond what the screen shows is a change", function*(way) {
    const long = "x".repeat(150_000)
    const Show = Tool.present(Plain, () => Effect.map(Effect.flatMap(Disk, Ref.get), ApprovalPresentation.text))
    const { disk, runs, send } = yield* begin(way, Show)
    yield* Ref.set(disk, `${long}old`)
    const { requests } = yield* send("write")
    assert.match(requests[0]!.presentation!.content.slice(-40), /… \(50003 more characters\)$/)
    yield* Ref.set(disk, `${long}new`)
    yield* send(approve(requests))
    assert.deepStrictEqual(runs, [])
  })

  const broken: Record<string, () => unknown> = {
    fails: () => Effect.fail("secret"),
    dies: () => Effect.die("secret"),
    throws: () => {
      throw new Error("secret")
    },
    "gives nothing": () => undefined,
    "gives something else": () => ({ type: "diff", content: "secret" }),
    "gives a promise": () => Promise.resolve(ApprovalPresentation.text("secret"))
  }
  for (const [name, present] of Object.entries(broken)) {
    C.everyWay(`L1 one that ${name}: the call is asked about without it, and runs when approved`, function*(way) {
      const { runs, send } = yield* begin(way, Tool.present(Plain, present as never))
      const [{ requests }, lines] = yield* Logs.logged(send("write"))
      const warnings = lines.map(({ text }) => text)
      assert.isUndefined(requests[0]!.presentation)
      assert.notInclude(JSON.stringify(requests), "secret")
      assert.include(warnings.join(), "the function given to Tool.present failed")
      assert.notInclude(warnings.join(), "secret")
      yield* send(approve(requests))
      assert.deepStrictEqual(runs, ["new\n"])
    })
  }

  C.everyWay("L1 one that never ends: the call is asked about without it after the policy's time", function*(way) {
    const { send } = yield* begin(way, Tool.present(Plain, () => Effect.never))
    const sent = yield* Effect.forkChild(send("write"))
    yield* idle
    yield* TestClock.adjust("31 seconds")
    const { requests } = yield* Fiber.join(sent)
    assert.strictEqual(requests.length, 1)
    assert.isUndefined(requests[0]!.presentation)
  })

  C.everyWay("L4 one that worked when it was asked and fails when it is to run: nothing runs", function*(way) {
    let works = true
    const Show = Tool.present(
      Plain,
      () => works ? Effect.succeed(ApprovalPresentation.text("harmless")) : Effect.fail("gone")
    )
    const { runs, send } = yield* begin(way, Show)
    const { requests } = yield* send("write")
    works = false
    assert.match(C.reasonOf((yield* send(approve(requests))).results[0]!), /Nothing ran/)
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("what the policy shows wins; what it says besides stays", function*(way) {
    const { send } = yield* begin(way, WriteFile)
    const { requests } = yield* send("write").pipe(Effect.provideService(
      ApprovalPolicy.ApprovalPolicy,
      ApprovalPolicy.make((call) =>
        call.toolName === "WriteFile"
          ? Approval.needsApproval({ reason: "why", presentation: ApprovalPresentation.text("mine") })
          : undefined
      )
    ))
    assert.deepInclude(requests[0]!, { reason: "why" })
    assert.strictEqual(requests[0]!.presentation!.content, "mine")
  })

  C.everyWay("an edit is approved as what was typed, whatever was shown of the proposal", function*(way) {
    const { runs, send } = yield* begin(way, WriteFile)
    const seen: Array<string> = []
    yield* send("write").pipe(Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive((request) => {
        seen.push(request.presentation?.type ?? "none")
        return new Approval.Approved({ params: { path: "a.txt", content: "mine\n" } })
      })
    ))
    assert.deepStrictEqual(seen, ["diff"])
    assert.deepStrictEqual(runs, ["mine\n"])
  })

  C.everyWay(
    "L15 a presentation of 5 MB of hostile text is cut, the cut is said, and nothing repaints the screen",
    function*(way) {
      const hostile = "\u001b[2J\u202eevil\u200b".repeat(400_000)
      const shown = [
        ApprovalPresentation.text(hostile),
        ApprovalPresentation.command(hostile, { directory: "/srv" }),
        ApprovalPresentation.fileContent(hostile, { path: "a" }),
        ApprovalPresentation.structured({ hostile })
      ]
      for (const presentation of shown) {
        const { send } = yield* begin(way, Tool.present(Plain, () => presentation))
        const { requests } = yield* send("write")
        const { content } = requests[0]!.presentation!
        assert.isAtMost(content.length, 100_100)
        assert.match(content, /more characters\)$/)
        for (const character of ["\u001b", "\u202e", "\u200b"]) assert.notInclude(content, character)
      }
    }
  )
})

const calls = [Support.call("c1", "DeleteFile", { path: "a" })]

const presentation = (fields: Partial<ConstructorParameters<typeof Approval.ApprovalPresentation>[0]>) =>
  Approval.needsApproval({
    presentation: new Approval.ApprovalPresentation({ type: "text", content: "shown", metadata: {}, ...fields })
  })

describe("what a person is shown", () => {
  Support.forEachMode("L15 a presentation's language and precondition are escaped and bounded", function*(mode) {
    const tools = yield* Support.makeTools()
    const long = `\u202e${"x".repeat(5_000)}`
    const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
      Asked.withPolicy(() => presentation({ language: long, precondition: long }))
    )
    const { language, precondition } = asked.requests[0]!.presentation!
    assert.match(language!, /^\\u202ex{58}… \(4942 more characters\)$/)
    assert.match(precondition!, /^\\u202ex{994}… \(4006 more characters\)$/)
  })

  Support.forEachMode("L4 L15 metadata that are no JSON are left out, and the person is told", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
      Asked.withPolicy(() => presentation({ metadata: { text: "x".repeat(2_000_000) } }))
    )
    assert.deepStrictEqual(asked.requests[0]!.presentation!.metadata, {
      omitted: "the metadata cannot be written as JSON, or is too large"
    })
  }, ["generateText", "streamText"])

  Support.forEachMode("L4 a request shown again shows what was sealed, and nothing else", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
      Asked.withPolicy(() => presentation({ content: "what was sealed" }))
    )
    const { model } = yield* Support.answering
    for (const content of ["what was sealed", "something else"]) {
      const poll = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history: asked.history }).pipe(
        Asked.withPolicy(() => presentation({ content }))
      )
      assert.strictEqual(
        poll.requests[0]!.presentation?.content,
        content === "what was sealed" ? content : undefined
      )
    }
  })
})
