/** Many streams of the whole model at once: read to the end, left, interrupted and broken. Nothing of them stays. */
import { LanguageModel } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { getEventListeners } from "node:events"
import * as C from "./conversation.ts"

const count = 200

const kinds = ["TCPSocketWrap", "TCPServerWrap", "TCPConnectWrap", "Timeout", "Immediate"]

/** What keeps the process alive, and how many listeners it has. */
const held = (): Record<string, number> => {
  const active = process.getActiveResourcesInfo()
  return {
    ...Object.fromEntries(kinds.map((kind) => [kind, active.filter((other) => other === kind).length])),
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  }
}

const ends = ["read", "left", "interrupted", "broken"] as const

const endOf = (index: number) => ends[index % ends.length]!

const script: ResponsesServer.Turn = ({ params }) => {
  const asked = JSON.stringify(params.input)
  return [
    ResponsesServer.text("Hello there, whoever you are."),
    ...(/left|interrupted/.test(asked) ? [ResponsesServer.stall()] : []),
    ...(asked.includes("broken") ? [ResponsesServer.cut()] : [])
  ]
}

const streams = Effect.gen(function*() {
  const signals: Array<AbortSignal> = []
  const server = yield* ResponsesServer.make({ turns: [], afterLastTurn: script, record: false })
  const client = yield* OpenAiClient.make({
    apiKey: Redacted.make(server.apiKey),
    apiUrl: server.url,
    maxRetries: 0,
    fetch: (input, init) => {
      if (init?.signal) signals.push(init.signal)
      return fetch(input, init)
    }
  })
  const model = yield* Effect.provideService(
    OpenAiLanguageModel.make({ model: "gpt-5.2" }),
    OpenAiClient.OpenAiClient,
    client
  )
  const one = (index: number) => {
    const parts = LanguageModel.streamText({ prompt: endOf(index) })
    const text = Stream.runCollect(endOf(index) === "left" ? Stream.take(parts, 3) : parts)
    const ended = endOf(index) === "interrupted" ? Effect.timeoutOption(text, "300 millis") : Effect.option(text)
    return Effect.provideService(ended, LanguageModel.LanguageModel, model)
  }
  const outcomes = yield* Effect.forEach(Array.from({ length: count }, (_, index) => index), one, {
    concurrency: "unbounded"
  })
  yield* server.idle
  const { open } = yield* server.connections
  return { outcomes, open, signals }
})

it.live(`${count} streams at once leave no connection, timer or listener`, () =>
  C.fresh(Effect.gen(function*() {
    const warnings: Array<string> = []
    const warn = (warning: Error) => warnings.push(warning.message)
    process.on("warning", warn)
    // What is made once, as the platform's pool of connections, is made here.
    yield* Effect.scoped(streams)
    yield* settled({})
    const before = held()
    const { outcomes, open, signals } = yield* Effect.scoped(streams)
    assert.deepStrictEqual(
      outcomes.map(({ _tag }, index) => [endOf(index), _tag]),
      outcomes.map((
        _,
        index
      ) => [endOf(index), endOf(index) === "broken" || endOf(index) === "interrupted" ? "None" : "Some"])
    )
    // Those that were read to the end may be kept for other requests; no other is.
    assert.isAtMost(open, count / ends.length)
    assert.strictEqual(signals.length, count)
    assert.strictEqual(signals.reduce((sum, signal) => sum + getEventListeners(signal, "abort").length, 0), 0)
    yield* settled(before)
    process.off("warning", warn)
    assert.deepStrictEqual(warnings, [])
  })), 30_000)

/** Waits until no more is held than before, as the platform lets go in its own time. */
const settled = (before: Record<string, number>): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let attempt = 0; attempt < 200; attempt++) {
      const now = held()
      if (Object.keys(now).every((kind) => now[kind]! <= (before[kind] ?? (kind === "listeners" ? 100 : 3)))) return
      yield* Effect.sleep("50 millis")
    }
    assert.fail(`${JSON.stringify(held())} is held, where it was ${JSON.stringify(before)}`)
  })
