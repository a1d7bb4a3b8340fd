/** `ApprovalEvents`: a bounded stream that drops the oldest, and says how many. What the engine publishes: laws/events. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalEvents } from "../src/index.ts"
import { request } from "./parts.ts"

const blocked = (toolCallId: string) =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "Blocked",
    ...occasion,
    toolName: "DeleteFile",
    toolCallId,
    reason: "off today"
  }))

const publish = (from: number, to: number) =>
  Effect.forEach(Array.from({ length: to - from }, (_, index) => `c${from + index}`), blocked, { discard: true })

const inShort = (event: ApprovalEvents.Observed) =>
  event._tag === "Missed" ? `missed ${event.count}` : event.toolCallId ?? ""

const take = (events: Stream.Stream<ApprovalEvents.Observed>, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(events, count)), (taken) => taken.map(inShort))

const subscribe = Effect.flatMap(ApprovalEvents.ApprovalEvents, (events) => events.subscribe)

describe("ApprovalEvents", () => {
  it.effect("a reader gets what was published since they subscribed, in order, with time and scope", () =>
    Effect.gen(function*() {
      yield* blocked("before")
      yield* TestClock.adjust("3 seconds")
      const events = yield* subscribe
      yield* Effect.provideService(blocked("c1"), Approval.Scope, { tenant: "acme", principal: "ada" })
      yield* blocked("c2")
      const [first, second] = yield* Stream.runCollect(Stream.take(events, 2))
      assert.deepInclude(first, { toolCallId: "c1", at: 3_000, scope: { tenant: "acme", principal: "ada" } })
      assert.deepInclude(second, { toolCallId: "c2", scope: {} })
    }).pipe(Effect.provide(ApprovalEvents.layer())))

  it.effect("memory stays bounded: the oldest go first, and the reader is told how many they missed", () =>
    Effect.gen(function*() {
      const events = yield* subscribe
      yield* publish(0, 100)
      assert.deepStrictEqual(yield* take(events, 5), ["missed 96", "c96", "c97", "c98", "c99"])
    }).pipe(Effect.provide(ApprovalEvents.layer({ capacity: 4 }))))

  it.effect("each gap is told where it is, and a reader who keeps up misses nothing", () =>
    Effect.gen(function*() {
      const slow = yield* subscribe
      const quick = yield* subscribe
      const slowly = yield* Stream.toPull(slow)
      const pull = Effect.map(slowly, (events) => events.map(inShort))
      const seen: Array<string> = []
      const quickly = yield* Stream.toPull(quick)
      for (let index = 0; index < 12; index += 2) {
        yield* publish(index, index + 2)
        seen.push(...(yield* quickly).map(inShort))
        if (index === 0) assert.deepStrictEqual(yield* pull, ["c0", "c1"])
      }
      assert.deepStrictEqual(yield* pull, ["missed 6", "c8", "c9", "c10", "c11"])
      assert.deepStrictEqual(seen, Array.from({ length: 12 }, (_, index) => `c${index}`))
    }).pipe(Effect.provide(ApprovalEvents.layer({ capacity: 4 }))))

  it.effect("a capacity that is no number of events still leaves room for one", () =>
    Effect.gen(function*() {
      const events = yield* subscribe
      yield* publish(0, 3)
      assert.deepStrictEqual(yield* take(events, 2), ["missed 2", "c2"])
    }).pipe(Effect.provide(ApprovalEvents.layer({ capacity: 0 }))))

  it.effect("nobody reads: events are not even made; a reader who has gone does not count", () =>
    Effect.gen(function*() {
      const events = yield* ApprovalEvents.ApprovalEvents
      let made = 0
      const counted = ApprovalEvents.publish((occasion) => {
        made++
        return { _tag: "Blocked", ...occasion, toolName: "DeleteFile", toolCallId: "c1", reason: "off" }
      })
      yield* counted
      assert.strictEqual(made, 0)
      yield* Effect.scoped(Effect.andThen(events.subscribe, counted))
      assert.strictEqual(made, 1)
      yield* counted
      assert.strictEqual(made, 1)
      assert.isFalse(events.isObserved())
    }).pipe(Effect.provide(ApprovalEvents.layer())))

  it.effect("`stream` reads the program's own events; two layers do not hear each other", () =>
    Effect.gen(function*() {
      const events = yield* subscribe
      yield* Effect.provide(Effect.andThen(subscribe, blocked("elsewhere")), ApprovalEvents.layer())
      yield* blocked("here")
      assert.deepStrictEqual(yield* take(events, 1), ["here"])
      const service = yield* ApprovalEvents.ApprovalEvents
      const fiber = yield* Effect.forkChild(Stream.runCollect(Stream.take(ApprovalEvents.stream, 1)))
      yield* Effect.yieldNow
      assert.isTrue(service.isObserved())
      yield* blocked("streamed")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).map(inShort), ["streamed"])
    }).pipe(Effect.scoped, Effect.provide(ApprovalEvents.layer())))

  it.effect("an event is data: it can be written to an audit log as JSON and read back", () =>
    Effect.gen(function*() {
      const codec = Schema.toCodecJson(ApprovalEvents.ApprovalEvent)
      const events = yield* subscribe
      yield* ApprovalEvents.publish((occasion) => ({
        _tag: "Requested",
        ...occasion,
        toolName: "DeleteFile",
        toolCallId: "c1",
        approvalId: "a1",
        request
      }))
      const [event] = yield* Stream.runCollect(Stream.take(events, 1))
      assert.isTrue(event !== undefined && event._tag === "Requested")
      const line = JSON.stringify(Schema.encodeSync(codec)(event as ApprovalEvents.ApprovalEvent))
      assert.deepStrictEqual<unknown>(Schema.decodeUnknownSync(codec)(JSON.parse(line)), event)
    }).pipe(Effect.provide(ApprovalEvents.layer())))
})
