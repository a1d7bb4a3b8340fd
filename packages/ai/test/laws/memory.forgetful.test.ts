/** once_per_session where nothing remembers: told by lint, and by one warning where a policy with it is used. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ApprovalMemory, ApprovalPolicy, Toolkit } from "../../src/index.ts"
import { logged } from "./logs.ts"
import * as Support from "./support.ts"

const calls = [Support.call("c1", "DeleteFile", { path: "a" }), Support.call("c2", "DeleteFile", { path: "b" })]

const ask = (mode: Support.Mode) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools()
    return yield* logged(Support.ask(mode, { toolkit: tools.toolkit, calls }))
  })

const about = (lines: Effect.Success<ReturnType<typeof ask>>[1]) =>
  lines.filter(({ text }) => text.includes("once_per_session"))

const once = Effect.provide(ApprovalPolicy.layerConfig({ DeleteFile: "once_per_session" }))

describe("memory: once_per_session without one", () => {
  it.effect("is told by lint, once, with the line that gives one; and not where there is one", () =>
    Effect.gen(function*() {
      const toolkit = Toolkit.make(Support.DeleteFile, Support.ReadFile)
      const config = { DeleteFile: "once_per_session", ReadFile: "once_per_session" } as const
      const kinds = Effect.map(
        ApprovalPolicy.lint(config, toolkit),
        (findings) => findings.filter(({ kind }) => kind === "not-remembered")
      )
      const [finding, ...others] = yield* kinds
      assert.deepStrictEqual([finding?.severity, finding?.at, others], ["warning", "DeleteFile", []])
      assert.strictEqual(finding?.fix, "Effect.provide(program, ApprovalMemory.layerSession())")
      assert.deepStrictEqual(yield* Effect.provide(kinds, ApprovalMemory.layerSession()), [])
      const required = yield* ApprovalPolicy.lint({ DeleteFile: "required" }, toolkit)
      assert.deepStrictEqual(required.filter(({ kind }) => kind === "not-remembered"), [])
    }))

  it.effect("is warned of once, when a policy with it is used where nothing remembers", () =>
    Effect.gen(function*() {
      // What was warned of is known of each memory, and the default one is everybody's.
      const forgetting = Effect.provideService(ApprovalMemory.ApprovalMemory, { ...ApprovalMemory.none })
      const required = Effect.provide(ApprovalPolicy.layerConfig({ DeleteFile: "required" }))
      assert.deepStrictEqual(about((yield* required(ask("generateText")))[1]), [])
      const remembering = Effect.provide(once(ask("generateText")), ApprovalMemory.layerSession())
      assert.deepStrictEqual(about((yield* remembering)[1]), [])
      const [[turn, lines], [, later]] = yield* forgetting(
        Effect.all([once(ask("generateText")), once(ask("streamText"))])
      )
      assert.lengthOf(turn.requests, 2)
      assert.deepStrictEqual(about(lines).map(({ level }) => level), ["Warn"])
      assert.include(about(lines)[0]?.text, "Effect.provide(program, ApprovalMemory.layerSession())")
      assert.deepStrictEqual(about(later), [])
    }).pipe(Effect.orDie, (story) => Support.fresh(story)))
})
