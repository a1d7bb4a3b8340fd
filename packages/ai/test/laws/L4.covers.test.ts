/**
 * A parameter that is left out of what a person reads, because the diff beside it says the same: proved when it is asked,
 * and again before it runs (law L4).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Path, Schema, Stream } from "effect"
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
import * as Files from "../covers/files.ts"
import * as C from "./conversation.ts"

const parameters = { path: Schema.String, content: Schema.String }
const dependencies = [FileSystem.FileSystem, Path.Path]

const Plain = Tool.make("WriteFile", { parameters, success: Schema.String, needsApproval: true, dependencies })

type Written = { readonly path: string; readonly content: string }

const shown = ({ content, path }: Written, covers: ReadonlyArray<string> | undefined = ["content"]) =>
  ApprovalPresentation.fileDiff({ root: "/", path, after: content, covers })

const WriteFile = Tool.present(Plain, (params) => shown(params))

const call = (id = "c1", content = "new\n") =>
  ScriptedModel.toolCall({ id, name: "WriteFile", params: { path: "a.ts", content } })

const begin = Effect.fnUntraced(function*(
  way: C.Way,
  tool: typeof Plain,
  turns: C.StartOptions["turns"] = [[call()], "Done.", "Again."]
) {
  const files: Files.Files = new Map([["/a.ts", "old\n"]])
  const runs: Array<string> = []
  const toolkit = yield* C.withHandlers(Toolkit.make(tool), {
    WriteFile: ({ content }: Written) => Effect.sync(() => (runs.push(content), "written"))
  })
  const chat = yield* C.start({ way, toolkit, turns, make: (script) => LanguageModel.make(script.params) })
  const send = (prompt: Prompt.RawInput) => Effect.provide(chat.send(prompt), Files.layer(files))
  return { chat, files, runs, send }
})

const approve = (requests: ReadonlyArray<Approval.ApprovalRequest>) => C.approveAll({ requests })

const coversOf = (requests: ReadonlyArray<Approval.ApprovalRequest>) => requests[0]!.presentation!.covers

describe("L4 what a presentation covers", () => {
  C.everyWay("is said by the request, and travels with it; approved, the call runs", function*(way) {
    const { runs, send } = yield* begin(way, WriteFile)
    const { requests } = yield* send("write")
    assert.deepStrictEqual(coversOf(requests), ["content"])
    const sent = JSON.stringify(Schema.encodeSync(Approval.ApprovalRequest)(requests[0]!))
    const read = Schema.decodeUnknownSync(Approval.ApprovalRequest)(JSON.parse(sent))
    assert.deepStrictEqual(read.presentation!.covers, ["content"])
    yield* send(approve(requests))
    assert.deepStrictEqual(runs, ["new\n"])
  })

  C.everyWay(
    "a file that changed after the question: nothing runs, and it is asked with what is true now",
    function*(way) {
      const { files, runs, send } = yield* begin(way, WriteFile, [[call()], [call("c2")], "Done."])
      const { requests } = yield* send("write")
      files.set("/a.ts", "old\nand more\n")
      const turn = yield* send(approve(requests))
      assert.match(C.reasonOf(turn.results[0]!), /changed since they approved it\. Nothing ran/)
      assert.deepStrictEqual(runs, [])
      assert.deepStrictEqual(coversOf(turn.requests), ["content"])
      assert.include(turn.requests[0]!.presentation!.content, "-and more\n")
      yield* send(approve(turn.requests))
      assert.deepStrictEqual(runs, ["new\n"])
    }
  )

  const wrong: Record<string, (params: Written) => ReturnType<typeof shown>> = {
    "a diff of another text": ({ content, path }) => shown({ content: `${content} `, path }),
    "a diff of another file": ({ content }) => shown({ content, path: "b.ts" }),
    "a diff that was written by hand": ({ content }) =>
      Effect.succeed(
        new Approval.ApprovalPresentation({
          type: "diff",
          content: `--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-old\n+${content}`,
          covers: ["content"]
        })
      ),
    "a diff with a context that lies": (params) =>
      Effect.map(
        shown(params),
        (presentation) =>
          new Approval.ApprovalPresentation({ ...presentation, content: presentation.content.replace("-old", "-odd") })
      ),
    "a diff from what is no file": ({ content, path }) =>
      Effect.map(
        ApprovalPresentation.diff({ path, before: "old\n", after: content }),
        (presentation) => new Approval.ApprovalPresentation({ ...presentation, covers: ["content"] })
      )
  }
  for (const [name, present] of Object.entries(wrong)) {
    C.everyWay(`is nothing of ${name}; the call is asked about, and runs when it is approved`, function*(way) {
      const { runs, send } = yield* begin(way, Tool.present(Plain, present))
      const { requests } = yield* send("write")
      assert.isUndefined(coversOf(requests))
      yield* send(approve(requests))
      assert.deepStrictEqual(runs, ["new\n"])
    })
  }

  C.everyWay(
    "a diff that was kept from the question proves nothing as the call is to run: nothing runs",
    function*(way) {
      const kept = yield* Effect.cached(shown({ path: "a.ts", content: "new\n" }))
      const { files, runs, send } = yield* begin(way, Tool.present(Plain, () => kept))
      const { requests } = yield* send("write")
      assert.deepStrictEqual(coversOf(requests), ["content"])
      files.set("/a.ts", "somebody else's\n")
      yield* send(approve(requests))
      assert.deepStrictEqual(runs, [])
    }
  )

  C.everyWay("a request of a program that claimed nothing is not approved of one that does", function*(way) {
    let covers: ReadonlyArray<string> | undefined = []
    const { runs, send } = yield* begin(way, Tool.present(Plain, (params) => shown(params, covers)))
    const { requests } = yield* send("write")
    assert.isUndefined(coversOf(requests))
    covers = ["content"]
    yield* send(approve(requests))
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("an edit is what was typed, whatever was covered of the proposal", function*(way) {
    const { runs, send } = yield* begin(way, WriteFile)
    const seen: Array<unknown> = []
    yield* send("write").pipe(Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive((request) => {
        seen.push(request.presentation?.covers)
        return new Approval.Approved({ params: { path: "a.ts", content: "mine\n" } })
      })
    ))
    assert.deepStrictEqual(seen, [["content"]])
    assert.deepStrictEqual(runs, ["mine\n"])
  })

  const gates: Record<string, typeof Plain> = {
    "a gate's question": Tool.setNeedsApproval(
      Plain,
      (params) => Effect.map(Effect.orDie(shown(params)), (presentation) => ({ presentation }))
    ) as typeof Plain,
    "a gate's result": Tool.setNeedsApproval(
      Plain,
      (params) => Effect.map(Effect.orDie(shown(params)), (presentation) => Approval.needsApproval({ presentation }))
    ) as typeof Plain
  }
  for (const [name, tool] of Object.entries(gates)) {
    it.effect(`is proved of ${name} too`, () =>
      C.fresh(Effect.gen(function*() {
        const { runs, send } = yield* begin("generateText", tool)
        const { requests } = yield* send("write")
        assert.deepStrictEqual(coversOf(requests), ["content"])
        yield* send(approve(requests))
        assert.deepStrictEqual(runs, ["new\n"])
      })))
  }

  it.effect("is proved under a policy that says more", () =>
    C.fresh(Effect.gen(function*() {
      const { send } = yield* begin("generateText", WriteFile)
      const policy = ApprovalPolicy.orElse(
        ApprovalPolicy.make(() => Approval.needsApproval({ reason: "why" })),
        ApprovalPolicy.make(() => undefined)
      )
      const { requests } = yield* Effect.provideService(send("write"), ApprovalPolicy.ApprovalPolicy, policy)
      assert.strictEqual(requests[0]!.reason, "why")
      assert.deepStrictEqual(coversOf(requests), ["content"])
    })))

  it.effect("is proved for a guarded toolkit, whose file may change while somebody reads", () =>
    Effect.gen(function*() {
      const files: Files.Files = new Map([["/a.ts", "old\n"]])
      const runs: Array<string> = []
      const handlers = yield* C.withHandlers(Toolkit.make(WriteFile), {
        WriteFile: ({ content }: Written) => Effect.sync(() => (runs.push(content), "written"))
      })
      const toolkit = Toolkit.guard(handlers)
      const seen: Array<unknown> = []
      const write = (meanwhile: () => void) =>
        Effect.flatMap(toolkit.handle("WriteFile", { path: "a.ts", content: "new\n" }), Stream.runCollect).pipe(
          Effect.result,
          Effect.provideService(
            ApprovalController.ApprovalController,
            ApprovalController.interactive((request) => {
              seen.push(request.presentation?.covers)
              meanwhile()
              return new Approval.Approved({})
            })
          ),
          Effect.provide(Files.layer(files))
        )
      yield* write(() => {})
      yield* write(() => void files.set("/a.ts", "somebody else's\n"))
      assert.deepStrictEqual(seen[0], ["content"])
      assert.deepStrictEqual(runs, ["new\n"])
    }))

  it.effect("a program's own question covers nothing: nobody proves it", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      yield* ApprovalController.request({
        name: "Deploy",
        params: { text: "x" },
        presentation: ApprovalPresentation.text("x", { covers: ["text"] })
      }).pipe(Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive((request) => {
          seen.push(request.presentation?.content, request.presentation?.covers)
          return new Approval.Approved({})
        })
      ))
      assert.deepStrictEqual(seen, ["x", undefined])
    }))
})
