/**
 * One gated tool in the kit changes nothing of what is traced: the spans, their parents, attributes and ends, and what a
 * `CurrentSpanTransformer` is told, are those of upstream.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Layer, Option, Schema, Stream, Tracer } from "effect"
import { LanguageModel as UpstreamModel, type Response, Telemetry, Toolkit as UpstreamToolkit } from "effect/ai"
import { ApprovalController, ApprovalPolicy, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"

const Read = Tool.make("Read", {
  parameters: { path: Schema.String },
  success: Schema.String,
  failure: Schema.String
})
const Delete = Tool.make("Delete", { needsApproval: true })

/** A gate that says of every call that it may run. */
const Asked = Tool.setNeedsApproval(Read, () => Effect.succeed(false))

const handlers = {
  Read: Effect.fn("Read.handle")(function*({ path }: { readonly path: string }) {
    yield* Effect.annotateCurrentSpan({ mine: path })
    if (path === "fails") return yield* Effect.fail("there is none")
    return yield* Effect.withSpan(Effect.succeed(`text of ${path}`), "disk")
  }),
  Delete: () => Effect.void
}

// =============================================================================
// Spans
// =============================================================================

/** As those of an exporter that has more to a span than others see, and is told of each end. */
class Recorded extends Tracer.NativeSpan {
  readonly #log: Array<string>
  constructor(options: ConstructorParameters<typeof Tracer.NativeSpan>[0], log: Array<string>) {
    super(options)
    this.#log = log
    log.push(`begin ${this.name}`)
  }
  override end(at: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.#log.push(`end ${this.name} ${exit._tag}`)
    super.end(at, exit)
  }
  override attribute(key: string, value: unknown): void {
    this.#log.push(`${this.name} has ${key}`)
    super.attribute(key, value)
  }
}

interface Traced {
  readonly spans: ReadonlyArray<unknown>
  readonly log: ReadonlyArray<string>
  readonly told: ReadonlyArray<unknown>
  readonly outcome: unknown
}

/** Everything that was traced while an effect ran. */
const trace = Effect.fnUntraced(function*<A, E>(
  run: (transformer: Telemetry.SpanTransformer) => Effect.Effect<A, E>
): Effect.fn.Return<Traced> {
  const spans: Array<Tracer.NativeSpan> = []
  const log: Array<string> = []
  const told: Array<unknown> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Recorded(options, log)
      spans.push(span)
      return span
    }
  })
  const transformer: Telemetry.SpanTransformer = ({ prompt, response, span, toolChoice }) => {
    span.attribute("observed", response.length > 0)
    told.push({ prompt: prompt.content.length, toolChoice, response: summary(response), span: span.name })
  }
  const exit = yield* run(transformer).pipe(
    Effect.withSpan("program"),
    Effect.provideService(Tracer.Tracer, tracer),
    Effect.exit
  )
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const pathOf = (span: Tracer.AnySpan): string =>
    `${
      span._tag === "Span" && Option.isSome(span.parent)
        ? `${pathOf(byId.get(span.parent.value.spanId) ?? assert.fail(`the parent of ${span.name} is no span`))} > `
        : ""
    }${span._tag === "Span" ? span.name : "external"}`
  return {
    spans: spans.map((span) => ({
      path: pathOf(span),
      kind: span.kind,
      attributes: Object.fromEntries(span.attributes),
      status: span.status._tag === "Ended" ? span.status.exit._tag : "open"
    })).toSorted((left, right) => JSON.stringify(left) < JSON.stringify(right) ? -1 : 1),
    log: log.filter((line) => /^(begin|end)|observed/.test(line)),
    told,
    outcome: Exit.isSuccess(exit) ? "success" : String(Cause.squash(exit.cause))
  }
})

// The finish stands where each engine puts it.
const summary = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<string> =>
  parts.map((part) => part.type === "tool-result" ? `result of ${part.id}: ${part.encodedResult}` : part.type)
    .toSorted()

// =============================================================================
// Programs
// =============================================================================

const schema = Schema.Struct({ count: Schema.Number })

const methods = ["generateText", "generateObject", "streamText"] as const
type Method = typeof methods[number]

const call = (
  method: Method,
  model: UpstreamModel.LanguageModel,
  toolkit: Support.AnyToolkit,
  concurrency?: number
) => {
  const options = {
    prompt: "Go on.",
    toolkit,
    ...(concurrency === undefined ? undefined : { concurrency })
  } as any
  return Effect.asVoid<unknown, unknown, never>(
    method === "streamText"
      ? Stream.runDrain(model.streamText(options)) as any
      : method === "generateObject"
      ? model.generateObject({ ...options, schema }) as any
      : model.generateText(options) as any
  )
}

/** How the model was made: under a transformer of its own, if it has one. */
const makers: Record<
  string,
  (params: ScriptedModel.ScriptedModel["params"]) => Effect.Effect<UpstreamModel.LanguageModel>
> = {
  "a foreign service": (params) => Effect.map(UpstreamModel.make(params), (model) => LanguageModel.withApproval(model)),
  "our make": (params) => LanguageModel.make(params),
  "a layer with approvals": (params) =>
    Effect.map(
      Layer.build(
        Layer.effect(UpstreamModel.LanguageModel, UpstreamModel.make(params)).pipe(LanguageModel.approval())
      ).pipe(Effect.scoped),
      (context) => Context.get(context, UpstreamModel.LanguageModel)
    )
}

const handled = (...tools: ReadonlyArray<Tool.Any>) => {
  const kit = Toolkit.make(...tools as ReadonlyArray<typeof Read>)
  return Effect.provide(kit, kit.toLayer(handlers as never)) as Effect.Effect<unknown>
}

const kits = {
  "without a gate": handled(Read),
  "beside a gated tool": handled(Read, Delete),
  "under a gate that lets it run": handled(Asked)
}

const responses: Record<string, ReadonlyArray<ScriptedModel.TurnPart>> = {
  "calls": [Support.call("c1", "Read", { path: "a" }), Support.call("c2", "Read", { path: "b" })],
  "no calls": [],
  "a call that fails": [Support.call("c1", "Read", { path: "fails" })]
}

type Given = "nowhere" | "to the call" | "to the model" | "to both"

const given = (to: Given, transformer: Telemetry.SpanTransformer) => {
  const provide = Effect.provideService(Telemetry.CurrentSpanTransformer, transformer)
  const other = Effect.provideService(Telemetry.CurrentSpanTransformer, () => assert.fail("the other one was told"))
  const nobody = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => effect
  return {
    call: to === "to the call" || to === "to both" ? provide : nobody,
    model: to === "to the model" ? provide : to === "to both" ? other : nobody
  }
}

const play = (
  method: Method,
  to: Given,
  turn: ReadonlyArray<ScriptedModel.TurnPart>,
  make: (params: ScriptedModel.ScriptedModel["params"]) => Effect.Effect<UpstreamModel.LanguageModel>,
  kit: Effect.Effect<unknown>,
  around: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E> = (effect) => effect
) =>
  Support.fresh(Effect.gen(function*() {
    const script = yield* ScriptedModel.make({ turns: [[ScriptedModel.text(`{"count":2}`), ...turn]] })
    const toolkit = yield* kit
    return yield* trace((transformer) => {
      const { call: forCall, model: forModel } = given(to, transformer)
      return Effect.flatMap(
        forModel(make(script.params)),
        (model) => around(forCall(call(method, model, toolkit as Support.AnyToolkit)))
      )
    })
  }))

const plain = Effect.provide(
  UpstreamToolkit.make(Read),
  UpstreamToolkit.make(Read).toLayer({ Read: handlers.Read })
) as Effect.Effect<unknown>

describe("what is traced is upstream's", () => {
  for (const method of methods) {
    for (const [which, turn] of Object.entries(responses)) {
      for (const to of ["nowhere", "to the call", "to the model", "to both"] as const) {
        it.effect(`${method}, ${which}, a transformer given ${to}`, () =>
          Effect.gen(function*() {
            const upstream = yield* play(method, to, turn, UpstreamModel.make, plain)
            assert.lengthOf(
              upstream.told,
              to === "nowhere" || (which.endsWith("fails") && method !== "streamText") ? 0 : 1
            )
            for (const [how, make] of Object.entries(makers)) {
              // Only who makes the model, or puts approvals around its layer, can know what was given there.
              if (how === "a foreign service" && to === "to the model") continue
              for (const [where, kit] of Object.entries(kits)) {
                const ours = yield* play(method, to, turn, make, kit)
                assert.deepStrictEqual(ours, upstream, `${how}, ${where}`)
              }
            }
          }))
      }
    }
  }
})

describe("a transformer that only a foreign provider's own layer was given", () => {
  // Nobody but upstream's service can reach it, and while upstream resolves no calls, it knows of no results.
  const told = { generateText: [["finish", "text", "tool-call"]], generateObject: [], streamText: [["tool-call"]] }

  for (const method of methods) {
    it.effect(`${method}: is told by upstream, of what the model said`, () =>
      Effect.gen(function*() {
        const played = yield* play(
          method,
          "to the model",
          [Support.call("c1", "Read", { path: "a" })],
          makers["a foreign service"]!,
          kits["beside a gated tool"]
        )
        assert.deepStrictEqual(
          played.told.map((one) =>
            (one as { response: ReadonlyArray<string> }).response.filter((type) =>
              method !== "streamText" || /^tool-call|^result/.test(type)
            )
          ),
          told[method]
        )
      }))
  }
})

describe("what is traced of a call that somebody is asked about", () => {
  const turn = [Support.call("c1", "Delete", {})]
  const kit = handled(Read, Delete)

  for (const method of methods) {
    it.effect(`${method}: its request is told of, and the call of the model did not fail`, () =>
      Effect.gen(function*() {
        const { log, spans, told } = yield* play(method, "to the call", turn, LanguageModel.make, kit)
        assert.deepStrictEqual(
          told.map((one) =>
            (one as { response: ReadonlyArray<string> }).response.filter((type) => /^tool-(call|approval)/.test(type))
          ),
          [["tool-approval-request", "tool-call"]]
        )
        assert.sameMembers(spans.map((span) => (span as { path: string }).path), [
          "program",
          `program > LanguageModel.${method}`
        ])
        assert.include(log, `end LanguageModel.${method} Success`)
      }))

    it.effect(`${method}: approved at once, it runs in the span of the model, and its result is told of`, () =>
      Effect.gen(function*() {
        const { log, spans, told } = yield* play(
          method,
          "to the call",
          turn,
          LanguageModel.make,
          kit,
          Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)
        )
        assert.include(JSON.stringify(told), "result of c1")
        assert.include(
          spans.map((span) => (span as { path: string }).path),
          method === "streamText" ? "program > approval.run" : `program > LanguageModel.${method} > approval.run`
        )
        assert.isBelow(log.indexOf("end approval.run Success"), log.indexOf(`end LanguageModel.${method} Success`))
      }))
  }

  it.effect("L15 its parameters are in no span, and a span that makes its id late has one", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.make(() => true)
      const { spans } = yield* play(
        "generateText",
        "nowhere",
        [Support.call("c1", "Read", { path: "a" })],
        LanguageModel.make,
        handled(Read),
        (effect) =>
          effect.pipe(
            Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
            Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)
          )
      )
      assert.notInclude(JSON.stringify(spans), "parameters")
      assert.include(
        spans.map((span) => (span as { path: string }).path),
        "program > LanguageModel.generateText > approval.run > Read.handle > disk"
      )
    }))
})
