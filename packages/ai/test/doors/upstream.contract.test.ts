/**
 * What the lock takes from upstream's inside, and no documentation promises. Where one of these fails after an update of
 * effect, the promise in its title is broken or unproved: read `internal/tool` again before anything is published.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Effectable, Exit, Layer, Schema, Stream } from "effect"
import { LanguageModel, McpServer, type Response, Tool, Toolkit } from "effect/ai"

const Probe = Context.Reference<string>("test/doors/Probe", { defaultValue: () => "nothing" })

const parameters = Schema.Struct({ path: Schema.String })

const Delete = Tool.make("Delete", {
  parameters,
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return"
})

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<unknown, never, R> =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isFailure(exit) ? exit.cause.reasons.find(Cause.isDieReason)?.defect : assert.fail(String(exit))
  )

describe("\"yield* LanguageModel.LanguageModel\" of @assent/ai gives the protected service, because", () => {
  it.effect("what runs a value as an effect calls the `evaluate` of Effectable.Prototype, also over a tag", () =>
    Effect.gen(function*() {
      const over = Object.assign(
        Object.setPrototypeOf(() => {}, Probe) as typeof Probe,
        Effectable.Prototype<Effect.Effect<string>>({ label: "Service", evaluate: () => Effect.succeed("ours") })
      )
      assert.strictEqual(yield* over, "ours")
      assert.strictEqual(yield* Effect.map(over, (said) => said), "ours")
      assert.deepStrictEqual(yield* Effect.all([over, Effect.service(over)]), ["ours", "ours"])
      // Its `use` and `useSync` read the context without running it, which is why ours are others.
      assert.strictEqual(yield* over.useSync((said) => said), "nothing")
    }))

  it("everything else knows a tag by its key and its type id, which it may inherit", () => {
    const over = Object.setPrototypeOf(() => {}, LanguageModel.LanguageModel) as typeof LanguageModel.LanguageModel
    const model = {} as LanguageModel.LanguageModel
    assert.isTrue(Context.isKey(over))
    assert.strictEqual(Context.get(Context.make(over, model), LanguageModel.LanguageModel), model)
    assert.strictEqual(Context.get(Context.make(LanguageModel.LanguageModel, model), over), model)
  })
})

describe("a gated tool fails in a toolkit of effect/ai, and is locked in one of ours, because", () => {
  it("a tool's handler is in the context by the tool's `id`, which is made of its name, with the context of its layer", () => {
    const context = Effect.runSync(
      Effect.provideService(
        Toolkit.make(Delete).toHandlers({ Delete: () => Effect.succeed("") }),
        Probe,
        "of the layer"
      )
    ) as Context.Context<never>
    assert.strictEqual(Delete.id, "effect/ai/Tool/Delete")
    assert.deepStrictEqual([...context.mapUnsafe.keys()], [Delete.id])
    const entry = context.mapUnsafe.get(Delete.id) as Tool.Handler<"Delete">
    assert.deepStrictEqual(Object.keys(entry), ["name", "handler", "context"])
    assert.strictEqual(Context.get(entry.context, Probe), "of the layer")
  })

  it.effect("`toLayer`, a toolkit that is run, and McpServer read that `id`, from the tools they find on the toolkit", () =>
    Effect.gen(function*() {
      const live = Toolkit.make(Delete).toLayer({ Delete: () => Effect.succeed("ran") })
      const hidden = Object.defineProperty(Delete.annotate(Tool.Title, ""), "id", {
        get() {
          throw new Error("hidden")
        }
      })
      const kit = Toolkit.make(hidden)
      assert.strictEqual(
        String(yield* defectOf(Layer.build(kit.toLayer({ Delete: () => Effect.succeed("") })))),
        "Error: hidden"
      )
      const handled = Effect.flatMap(
        kit,
        ({ handle }) => Stream.runDrain(Stream.unwrap(handle("Delete", { path: "" })))
      )
      assert.strictEqual(String(yield* defectOf(Effect.provide(handled, live))), "Error: hidden")
      const server = Effect.provideService(McpServer.registerToolkit(kit), McpServer.McpServer, {} as never)
      assert.strictEqual(String(yield* defectOf(Effect.provide(server, live))), "Error: hidden")
    }).pipe(Effect.scoped))

  it("`toLayer` calls the toolkit's own `toHandlers`, and a toolkit is an object with enumerable fields of its own", () => {
    const kit = Toolkit.make(Delete)
    let called = 0
    const toHandlers = () => (called++, Effect.succeed(Context.empty()))
    const over = Object.assign(kit, { toHandlers } as unknown as Pick<typeof kit, "toHandlers">)
    Effect.runSync(Effect.scoped(Layer.build(over.toLayer({ Delete: () => Effect.succeed("") }))))
    assert.strictEqual(called, 1)
  })

  it("a copy of a tool has its prototype, and its own fields by assignment: what stands on the prototype stays", () => {
    const methods: ReadonlyArray<(tool: typeof Delete) => Tool.Any> = [
      (tool) => tool.annotate(Tool.Title, ""),
      (tool) => tool.annotateMerge(Context.empty()),
      (tool) => tool.setParameters(parameters),
      (tool) => tool.setSuccess(Schema.Number),
      (tool) => tool.setFailure(Schema.Number),
      (tool) => tool.addDependency(Probe),
      (tool) => tool.setNeedsApproval(true)
    ]
    for (const made of [Delete, Tool.dynamic("Delete", { parameters })]) {
      const tool = made as unknown as typeof Delete
      assert.isFalse(Object.hasOwn(tool, "setNeedsApproval"))
      const set: Array<string> = []
      const prototype = Object.create(Object.getPrototypeOf(tool) as object, {
        id: {
          get: () => assert.fail("read"),
          set(value: string) {
            set.push(value)
          }
        }
      }) as object
      const { id, ...fields } = tool
      const over = Object.assign(Object.create(prototype) as typeof tool, fields)
      for (const method of methods) assert.strictEqual(Object.getPrototypeOf(method(over)), prototype)
      assert.deepStrictEqual(set, [])
      Object.assign(Object.create(prototype) as object, { id })
      assert.deepStrictEqual(set, [id])
    }
  })
})

describe("a gated tool runs inside a consent and dies outside, because", () => {
  it.effect("a handler has the context of whoever calls `handle`, over that of its layer", () =>
    Effect.gen(function*() {
      const kit = Toolkit.make(Delete)
      const live = kit.toLayer({ Delete: () => Effect.map(Probe, (found) => found) })
      const toolkit = yield* Effect.provide(kit, Layer.provide(live, Layer.succeed(Probe, "of the layer")))
      const run = Stream.runCollect(Stream.unwrap(toolkit.handle("Delete", { path: "" })))
      assert.deepStrictEqual((yield* run).map(({ result }) => result), ["of the layer"])
      assert.deepStrictEqual(
        (yield* Effect.provideService(run, Probe, "of the caller")).map(({ result }) => result),
        ["of the caller"]
      )
    }))

  it.effect("it gets decoded parameters and the call's id", () =>
    Effect.gen(function*() {
      const Charge = Tool.make("Charge", {
        parameters: Schema.Struct({ n: Schema.FiniteFromString }),
        success: Schema.Json
      })
      const kit = Toolkit.make(Charge)
      const toolkit = yield* Effect.provide(
        kit,
        kit.toLayer({ Charge: (params, { toolCallId }) => Effect.succeed([params, toolCallId ?? null]) })
      )
      const [output] = yield* Stream.runCollect(Stream.unwrap(toolkit.handle("Charge", { n: "1" }, "c1")))
      assert.deepStrictEqual(output?.result, [{ n: 1 }, "c1"])
    }))

  it.effect("a defect of a handler is no result, whatever the failure mode", () =>
    Effect.gen(function*() {
      const kit = Toolkit.make(Delete)
      const toolkit = yield* Effect.provide(kit, kit.toLayer({ Delete: () => Effect.die("locked") }))
      const run = Stream.runCollect(Stream.unwrap(toolkit.handle("Delete", { path: "" })))
      assert.strictEqual(yield* defectOf(run), "locked")
    }))
})

describe("effect/ai's engine ends at the gate of a tool of ours, because", () => {
  const turn = Effect.fnUntraced(function*(needsApproval: () => Effect.Effect<boolean, string>, stream: boolean) {
    const ran: Array<string> = []
    const gate = needsApproval as unknown as () => Effect.Effect<boolean>
    const kit = Toolkit.make(Tool.make("Delete", { parameters, success: Schema.String, needsApproval: gate }))
    const says: Array<Response.PartEncoded & Response.StreamPartEncoded> = [
      { type: "tool-call", id: "c1", name: "Delete", params: { path: "" } },
      { type: "finish", reason: "tool-calls", usage: { inputTokens: {}, outputTokens: {} } }
    ]
    const model = yield* LanguageModel.make({
      generateText: () => Effect.succeed(says.slice()),
      streamText: () => Stream.fromIterable(says)
    })
    const options = { prompt: "go", toolkit: kit }
    const run: Effect.Effect<unknown, unknown, Tool.Handler<"Delete">> = stream
      ? Stream.runDrain(model.streamText(options))
      : model.generateText(options)
    const live = kit.toLayer({ Delete: () => Effect.sync(() => (ran.push("ran"), "")) })
    return [yield* Effect.exit(Effect.provide(run, live)), ran] as const
  })

  for (const stream of [false, true]) {
    it.effect(`a defect there ends the turn, while a failure lets the tool run [${stream ? "stream" : "generate"}]`, () =>
      Effect.gen(function*() {
        const [exit, ran] = yield* turn(() => Effect.die("not our engine"), stream)
        assert.include(String(exit), "not our engine")
        assert.deepStrictEqual(ran, [])
        const [failed, run] = yield* turn(() => Effect.fail("taken for false"), stream)
        assert.isTrue(Exit.isSuccess(failed))
        assert.deepStrictEqual(run, ["ran"])
      }))
  }
})
