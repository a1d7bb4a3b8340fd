/**
 * L4 among siblings: what was shown of one call may be what another has changed. Calls that were approved by what was
 * shown of them run one after the other, and the next one is looked at again.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref, Schema, Stream } from "effect"
import { Approval, ApprovalController, ApprovalPresentation, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

/** A file that is shown before it is written; `meanwhile` goes on in a run before it writes. */
const makeFile = Effect.fnUntraced(
  function*(meanwhile: (content: string) => Effect.Effect<unknown> = () => Effect.yieldNow) {
    const file = yield* Ref.make("zero\n")
    const runs: Array<string> = []
    const WriteFile = Tool.present(
      Tool.make("WriteFile", {
        parameters: { content: Schema.String },
        success: Schema.String,
        needsApproval: true
      }),
      ({ content }) =>
        Effect.gen(function*() {
          return yield* ApprovalPresentation.diff({ path: "a.txt", before: yield* Ref.get(file), after: content })
        })
    )
    const toolkit = yield* C.withHandlers(Toolkit.make(WriteFile), {
      WriteFile: ({ content }: { readonly content: string }) =>
        Effect.gen(function*() {
          runs.push(content)
          yield* meanwhile(content)
          yield* Ref.set(file, content)
          return "written"
        })
    })
    return { toolkit, runs }
  }
)

const calls = ["one\n", "two\n", "three\n"].map((content, index) =>
  ScriptedModel.toolCall({ id: `c${index}`, name: "WriteFile", params: { content } })
)

const begin = Effect.fnUntraced(function*(way: C.Way) {
  const { runs, toolkit } = yield* makeFile()
  const make: C.StartOptions["make"] = (script) => LanguageModel.make(script.params)
  return { runs, chat: yield* C.start({ way, toolkit, turns: [calls, "Done."], make }) }
})

const approvingAll = Effect.provideService(
  ApprovalController.ApprovalController,
  ApprovalController.interactive((request) => Approval.approve(request), { parallel: true })
)

const assertOnlyTheFirst = (results: ReadonlyArray<{ readonly id: string; readonly isFailure: boolean }>) =>
  assert.deepStrictEqual(
    results.map(({ id, isFailure }) => [id, isFailure]).toSorted(),
    [["c0", false], ["c1", true], ["c2", true]]
  )

describe("several approved changes of one file", () => {
  C.everyWay("L4 approved in one message, the first runs and the others may be asked again", function*(way) {
    const { chat, runs } = yield* begin(way)
    const { requests } = yield* chat.send("write")
    assert.lengthOf(requests, 3)
    const turn = yield* chat.send(C.approveAll({ requests }))
    assert.deepStrictEqual(runs, ["one\n"])
    assertOnlyTheFirst(turn.results)
    for (const result of turn.results.slice(1)) assert.match(C.reasonOf(result), /changed since .* Nothing ran/)
    // It stays so: what ended is in the journal.
    yield* Effect.exit(chat.send(C.approveAll({ requests })))
    assert.deepStrictEqual(runs, ["one\n"])
  })

  C.everyWay("L4 approved at once, the first runs and the others may be asked again", function*(way) {
    const { chat, runs } = yield* begin(way)
    const turn = yield* approvingAll(chat.send("write"))
    assert.deepStrictEqual(runs, ["one\n"])
    assertOnlyTheFirst(turn.results)
  })

  it.effect("L4 of a guarded toolkit, called side by side, the first runs and the others say what to do", () =>
    Effect.gen(function*() {
      const { runs, toolkit } = yield* makeFile()
      const guarded = Toolkit.guard(toolkit)
      const results = yield* Effect.forEach(
        calls,
        ({ id, params }) =>
          Effect.map(
            Effect.flatMap(guarded.handle("WriteFile", params as never, id), Stream.runCollect),
            (outputs) => ({ id, isFailure: outputs.at(-1)!.isFailure })
          ),
        { concurrency: "unbounded" }
      ).pipe(approvingAll)
      assert.deepStrictEqual(runs, ["one\n"])
      assertOnlyTheFirst(results)
    }))

  it.effect("L4 of a guarded toolkit, one that was approved while another ran is looked at again", () =>
    Effect.gen(function*() {
      const { handle, release, runs, started } = yield* makeHeld
      const first = yield* Effect.forkChild(handle("one\n"))
      yield* Deferred.await(started)
      const second = yield* Effect.forkChild(handle("two\n"), { startImmediately: true })
      yield* Deferred.succeed(release, undefined)
      assert.isFalse(yield* Fiber.join(first))
      assert.isTrue(yield* Fiber.join(second))
      assert.deepStrictEqual(runs, ["one\n"])
    }).pipe(approvingAll))
})

describe("a turn that was left while one of its approved changes ran", () => {
  const turns: Record<string, { readonly first: ReadonlyArray<number>; readonly held: string }> = {
    "the first call": { first: [0, 1, 2], held: "one\n" },
    "a later call, approved before the others": { first: [1], held: "two\n" }
  }
  for (const [which, { first, held }] of Object.entries(turns)) {
    Support.forEachMode(`L2 L4 the next turn runs nothing beside ${which}, and shows the others anew`, function*(mode) {
      const started = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const { runs, toolkit: typed } = yield* makeFile((content) =>
        content === held ? Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(release)) : Effect.void
      )
      const toolkit = typed as unknown as Support.AnyToolkit
      const asked = yield* Support.ask(mode, { toolkit, calls })
      const { model } = yield* Support.answering
      const take = (indices: ReadonlyArray<number>) =>
        Support.takeTurn(mode, {
          model,
          toolkit,
          history: asked.history,
          prompt: Support.answers(...indices.map((index) => Approval.approve(asked.requests[index]!)))
        })
      const left = yield* Effect.forkChild(take(first))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(left)
      const next = yield* Effect.forkChild(take([0, 1, 2]))
      yield* Support.idle
      assert.deepStrictEqual([runs, next.pollUnsafe()], [[held], undefined])
      yield* Deferred.succeed(release, undefined)
      const { results } = yield* Fiber.join(next)
      assert.deepStrictEqual(runs, [held])
      assert.deepStrictEqual(
        results.map(({ id, isFailure }) => [id, isFailure]).toSorted(),
        calls.map(({ id, params }) => [id, (params as { content: string }).content !== held])
      )
    })
  }
})

/** Handles one call, and says whether it failed. The run of `one` is held until it is released. */
const makeHeld = Effect.gen(function*() {
  const started = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const { runs, toolkit } = yield* makeFile((content) =>
    content === "one\n" ? Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(release)) : Effect.void
  )
  const guarded = Toolkit.guard(toolkit)
  const handle = (content: string) =>
    Effect.map(
      Effect.flatMap(guarded.handle("WriteFile", { content } as never, content.trim()), Stream.runCollect),
      (outputs) => outputs.at(-1)!.isFailure
    )
  return { handle, release, runs, started }
})
