/**
 * The spans `approval.settle` and `approval.run`: how long a person took and how it ended, and neither parameters, nor
 * causes, nor secrets (law L15).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalJournal, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import * as Spans from "../../src/internal/run/spans.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import { type Story, tell } from "./story.ts"

type Spans = ReadonlyArray<Tracer.NativeSpan>

/** Runs a story in each way, and gives it the spans that were begun so far. */
const everyWay = (title: string, story: Story<[way: C.Way, spans: Spans]>) =>
  C.everyWay(title, (way) => {
    const spans: Array<Tracer.NativeSpan> = []
    return Effect.provideService(tell(story, way, spans), Tracer.Tracer, tracerInto(spans))
  })

const tracerInto = (spans: Array<Tracer.NativeSpan>): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })

const named = (spans: Spans, name: string): Spans => spans.filter((span) => span.name === name)

const attributes = (span: Tracer.NativeSpan | undefined) => Object.fromEntries(span?.attributes ?? [])

/** Everything a span could tell an exporter: its attributes, events, and how it ended. */
const everything = (spans: Spans): string =>
  spans.map(({ attributes, events, name, status }) => {
    const cause = status._tag === "Ended" && status.exit._tag === "Failure" ? String(status.exit.cause) : ""
    return JSON.stringify([name, [...attributes], events.map(([event, more]) => [event, more])]) + cause
  }).join("\n")

const secret = "hunter2"

const Send = Tool.make("Send", {
  parameters: { to: Schema.String, password: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  needsApproval: true
})

const sendCall = (id: string) => ScriptedModel.toolCall({ id, name: "Send", params: { to: "ada", password: secret } })

const begin = Effect.fnUntraced(function*(
  way: C.Way,
  handler: () => Effect.Effect<string, string>,
  approval?: { readonly paramsInSpans: boolean }
) {
  const toolkit = yield* C.withHandlers(Toolkit.make(Send), { Send: handler })
  const chat = yield* C.start({ way, toolkit, approval, turns: [[sendCall("c1")], "done", "bye"] })
  yield* TestClock.adjust("1 hour")
  const asked = yield* chat.send("write to ada")
  yield* TestClock.adjust("2 minutes")
  return { chat, answer: C.approveAll(asked) }
})

describe("spans", () => {
  everyWay(
    "say what ran, how long the person took, and how it ended; the run is part of settling",
    function*(way, spans) {
      const { answer, chat } = yield* begin(way, () => Effect.succeed("sent"))
      assert.lengthOf(named(spans, "approval.settle"), 0, "nothing to settle on the first turn")
      yield* chat.send(answer)
      yield* chat.send("thanks")
      const [settle] = named(spans, "approval.settle")
      const [run] = named(spans, "approval.run")
      assert.lengthOf(named(spans, "approval.settle"), 1, "nothing to settle on the last turn")
      assert.lengthOf(named(spans, "approval.run"), 1)
      assert.deepStrictEqual(attributes(settle), { "approval.calls": 1 })
      assert.deepInclude(attributes(run), {
        "gen_ai.tool.name": "Send",
        "gen_ai.tool.call.id": "c1",
        "approval.waited_ms": 120_000,
        "approval.state": "done"
      })
      assert.strictEqual(run?.parent._tag === "Some" ? run.parent.value.spanId : undefined, settle?.spanId)
      assert.isTrue(spans.every((span) => span.status._tag === "Ended"))
    }
  )

  everyWay("L15 hold no parameters, and what the handler writes itself they take", function*(way, spans) {
    const { answer, chat } = yield* begin(
      way,
      () => Effect.as(Effect.annotateCurrentSpan({ parameters: "my own", mine: 1 }), "sent")
    )
    yield* chat.send(answer)
    assert.notInclude(everything(spans), secret)
    assert.deepInclude(attributes(named(spans, "approval.run")[0]), { parameters: "my own", mine: 1 })
  })

  everyWay("hold the parameters where the program asks for them", function*(way, spans) {
    const { answer, chat } = yield* begin(way, () => Effect.succeed("sent"), { paramsInSpans: true })
    yield* chat.send(answer)
    assert.deepInclude(attributes(named(spans, "approval.run")[0]), {
      parameters: { to: "ada", password: secret }
    })
  })

  everyWay("L15 of a handler that fails or dies they say that it failed, not why", function*(way, spans) {
    for (const handler of [() => Effect.fail(secret), () => Effect.die(new Error(secret))]) {
      const { answer, chat } = yield* begin(way, handler)
      yield* Effect.exit(chat.send(answer))
    }
    const runs = named(spans, "approval.run")
    assert.deepStrictEqual(runs.map((span) => attributes(span)["approval.state"]), ["failed", "failed"])
    const ours = spans.filter((span) => span.name.startsWith("approval."))
    assert.lengthOf(ours, 4)
    assert.notInclude(everything(ours), secret)
  })

  everyWay("L15 of a turn that cannot be settled they say the kind of error, not its requests", function*(way, spans) {
    const toolkit = yield* C.withHandlers(Toolkit.make(Send), { Send: () => Effect.succeed("sent") })
    const chat = yield* C.start({
      way,
      toolkit,
      approval: { onNewMessage: "fail" },
      turns: [[sendCall("c1")], "done"]
    })
    yield* chat.send("write to ada")
    yield* Effect.flip(chat.send("never mind"))
    const [settle] = named(spans, "approval.settle")
    assert.deepInclude(attributes(settle), { "approval.error": "ApprovalRequired" })
    assert.notInclude(everything([settle!]), secret)
  })

  it.effect("a tracer that is around what runs is around what a model does too", () =>
    Effect.gen(function*() {
      let isCalled = false
      let around = 0
      const tracer = Tracer.make({
        span: (options) => new Tracer.NativeSpan(options),
        context: (primitive, fiber) => {
          if (isCalled) around++
          return primitive["~effect/Effect/evaluate"](fiber)
        }
      })
      const model = yield* LanguageModel.make({
        generateText: () =>
          Effect.sync(() => isCalled = true).pipe(
            Effect.andThen(Effect.yieldNow),
            Effect.andThen(Effect.sync(() => {
              isCalled = false
              return []
            }))
          ),
        streamText: () => Stream.empty
      })
      const toolkit = yield* C.withHandlers(Toolkit.make(Send), { Send: () => Effect.succeed("sent") })
      yield* LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        Effect.provideService(Tracer.Tracer, tracer)
      )
      assert.isAbove(around, 0)
    }))

  it.effect("of a request whose age nobody knows, they do not say how long the person took", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = tracerInto(spans)
      const recorded = new ApprovalJournal.Recorded({ isFailure: false, encodedResult: null })
      for (const issuedAt of [undefined, 0]) {
        const claim = { approvalId: "a", nonce: "n", issuedAt, expiresAt: 1, toolName: "Send", toolCallId: "c1" }
        yield* Effect.provideService(
          Spans.run(Effect.succeed({ recorded, result: null, encodedResult: null }), claim),
          Tracer.Tracer,
          tracer
        )
      }
      const call = { "gen_ai.tool.name": "Send", "gen_ai.tool.call.id": "c1", "approval.state": "done" }
      assert.deepStrictEqual(spans.map(attributes), [call, { ...call, "approval.waited_ms": 0 }])
    }))

  it.effect("L15 upstream's word of the tool and its parameters is kept out, and nothing else that is written then", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.NativeSpan> = []
      const write = Effect.annotateCurrentSpan({ tool: "Send", parameters: { password: secret }, other: 1 })
      yield* Spans.withoutParameters(write).pipe(
        Effect.withSpan("theirs"),
        Effect.provideService(Tracer.Tracer, tracerInto(spans))
      )
      assert.deepStrictEqual(spans.map(attributes), [{ other: 1 }])
    }))
})
