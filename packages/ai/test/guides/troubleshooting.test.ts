/** docs/troubleshooting.md names every reason, and each message as a program says it; `…` stands for anything. */
import { ApprovalConfig, ApprovalError, LanguageModel, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema, Stream } from "effect"
import * as Upstream from "effect/ai"
import * as Page from "./page.ts"

const page = Page.read("troubleshooting")

const reasonsOfPage = page.slice(page.indexOf("## An approval fails"), page.indexOf("## It asks"))

/** The reasons of the page, each with the message that is shown for it. */
const shownOf = new Map(
  [...reasonsOfPage.matchAll(/^\| `(\w+)` +\| `([^`]+)`/gm)].map(([, name, shown]) => [name!, shown!])
)

/** What the page shows in the first cell of a row. */
const shown = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => cell!)

const says = (shown: string): RegExp =>
  new RegExp(`^${shown.split("…").map((part) => part.replaceAll(/[^\w\s]/g, "\\$&")).join("[^]*")}`)

const fields = {
  approvalId: "id-1",
  keyId: "key-1",
  expiredAt: 0,
  state: "done",
  from: "done",
  to: "pending",
  approvers: [["ada"], ["grace"]],
  decidedBy: { via: "conversation", id: "bob" },
  problem: "not named",
  toolName: "DeleteFile",
  toolNames: ["DeleteFile"],
  description: "It is so.",
  requests: [],
  content: []
} as const

describe("the reasons of an ApprovalError", () => {
  const reasons = ApprovalError.ApprovalErrorReason.members

  it("are all there, in order, and no others", () => {
    assert.deepStrictEqual([...shownOf.keys()], reasons.map(({ identifier }) => identifier))
  })

  it.each(reasons.map(({ identifier }) => identifier))("%s says what is shown", (name) => {
    const { description: _, ...unnamed } = fields
    const { message } = Schema.decodeUnknownSync(ApprovalError.ApprovalErrorReason)({
      // This one has words of its own where it is given none.
      ...name === "UnknownApproval" ? unnamed : fields,
      _tag: name
    })
    assert.match(message, says(shownOf.get(name)!))
  })
})

const shownFor = (words: string): RegExp => {
  const [one, ...others] = shown.filter((cell) => cell.includes(words))
  assert.isEmpty(others)
  assert.isDefined(one, words)
  return says(one)
}

const DeleteFile = Tool.make("DeleteFile", { parameters: { path: Schema.String }, needsApproval: true })
const toolkit = Toolkit.make(DeleteFile)
const handlers = toolkit.toLayer({ DeleteFile: () => Effect.void })
const call = ScriptedModel.toolCall({ id: "1", name: "DeleteFile", params: { path: "a" } })
const model = ScriptedModel.layer({ turns: [[call]] })

const dies = <A, E>(program: Effect.Effect<A, E>) =>
  Effect.map(Effect.exit(program), (exit) => Exit.isFailure(exit) ? (Cause.squash(exit.cause) as Error).message : "")

const thrown = (attempt: () => unknown): string => {
  try {
    attempt()
  } catch (error) {
    return (error as Error).message
  }
  return ""
}

describe("what stops a program at once", () => {
  it.effect("functions of effect/ai", () =>
    Effect.gen(function*() {
      const turn = Upstream.LanguageModel.generateText({ prompt: "go", toolkit })
      assert.match(yield* dies(Effect.provide(turn, [handlers, model])), shownFor("met the engine"))
    }))

  it.effect("a handler that is called by hand", () =>
    Effect.gen(function*() {
      const byHand = toolkit.pipe(
        Effect.flatMap(({ handle }) => handle("DeleteFile", { path: "a" })),
        Effect.flatMap(Stream.runDrain)
      )
      assert.match(yield* dies(Effect.provide(byHand, handlers)), shownFor("called without it"))
    }))

  it("a toolkit of effect/ai, a copy beside its tool, a tool without a schema", () => {
    const theirs = Upstream.Toolkit.make(DeleteFile)
    const layer = theirs.toLayer({ DeleteFile: () => Effect.void })
    return Effect.runPromise(dies(Effect.provide(Effect.void, layer))).then((message) => {
      assert.match(message, shownFor("put into a Toolkit"))
      const copy = Tool.setNeedsApproval(DeleteFile, false)
      assert.match(thrown(() => Toolkit.make(DeleteFile, copy as never)), shownFor("Two tools are called"))
      const fields = Upstream.Tool.make("Read", { parameters: { path: Schema.String } as never })
      assert.match(thrown(() => Toolkit.make(fields)), shownFor("not a schema"))
      assert.match(thrown(() => Tool.make("Read", { needApproval: true } as never)), shownFor("given the option"))
    })
  })

  it.effect("a handler that returns a text, and a program without a model", () =>
    Effect.gen(function*() {
      const open = Toolkit.make(Tool.setNeedsApproval(DeleteFile, false))
      const turn = LanguageModel.generateText({ prompt: "go", toolkit: open })
      const texts = open.toLayer({ DeleteFile: (() => "deleted") as never })
      assert.match(yield* dies(Effect.provide(turn, [texts, model])), shownFor("not an Effect"))
      const modelless = Effect.provide(turn, texts) as Effect.Effect<unknown, unknown>
      assert.match(yield* dies(modelless), shownFor("Provide a model"))
    }))

  it.effect("a script that is over", () =>
    Effect.gen(function*() {
      const turn = LanguageModel.generateText({ prompt: "go" })
      const twice = Effect.andThen(turn, turn)
      assert.match(
        yield* dies(Effect.provide(twice, ScriptedModel.layer({ turns: ["Hello."] }))),
        shownFor("its script")
      )
    }))

  it.effect("a file without a file system", () =>
    Effect.gen(function*() {
      const read = ApprovalConfig.fromFile("policy.yaml") as Effect.Effect<unknown, unknown>
      assert.match(yield* dies(read), shownFor("effect/FileSystem"))
    }))
})
