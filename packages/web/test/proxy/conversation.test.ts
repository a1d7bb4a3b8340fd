/** What becomes of a real conversation through the typed client. */
import { Approval, ApprovalPolicy, Conversation, DeferredTool, Interaction, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { ConversationProxyServer } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Api, clientOf, newId, People } from "./server.ts"

const Trip = DeferredTool.make("Trip", {
  parameters: { to: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: {
    seat: Interaction.form(Schema.Struct({ seat: Schema.String })),
    paid: Interaction.external(Schema.String)
  }
})

const Pay = Tool.make("Pay", { parameters: { amount: Schema.Number }, success: Schema.String })

const toolkit = Toolkit.make(Trip, Pay)

type Clients = Effect.Success<ReturnType<typeof clientOf>>

interface Told {
  readonly params: { readonly id: string }
  readonly ada: Clients
  readonly bob: Clients
  readonly paid: ReadonlyArray<number>
}

const told = <A>(
  turns: ScriptedModel.Options["turns"],
  question: (amount: unknown) => Approval.Question,
  tell: (told: Told) => Effect.Effect<A, unknown>
) =>
  Effect.suspend(() => {
    const paid: Array<number> = []
    const Handlers = toolkit.toLayer({
      Trip: DeferredTool.handler(Trip, {
        start: ({ to }) => Trip.suspend.seat({ prompt: "Which seat?" }, to),
        resume: {
          seat: ({ seat }, trip) => Trip.suspend.paid({ prompt: "The bill is on its way." }, `${trip}, seat ${seat}`),
          paid: (_, trip) => Effect.succeed(trip)
        }
      }),
      Pay: ({ amount }) =>
        Effect.sync(() => {
          paid.push(amount)
          return `paid ${amount}`
        })
    })
    const Policy = ApprovalPolicy.layer(({ params, toolName }) =>
      Effect.succeed(
        toolName === "Pay"
          ? Approval.needsApproval(question((params as { readonly amount?: unknown }).amount))
          : Approval.preApproved()
      )
    )
    const routes = HttpApiBuilder.layer(Api).pipe(
      Layer.provide(ConversationProxyServer.layerHttpApi(Api, "chat", {
        conversation: (id) => Conversation.make({ id, toolkit, instructions: "The secret of the house is 42." })
      })),
      Layer.provide([People, Handlers, Policy, ScriptedModel.layer({ turns, afterLastTurn: "Done." })]),
      Layer.provide([Logger.layer([]), HttpServer.layerServices])
    )
    const server = HttpRouter.toWebHandler(routes, { disableLogger: true })
    return Effect.gen(function*() {
      const ada = yield* clientOf(server)
      const bob = yield* clientOf(server, { "x-person": "bob" })
      return yield* tell({ params: { id: newId() }, ada, bob, paid })
    }).pipe(Effect.ensuring(Effect.promise(() => server.dispose())))
  })

const anybody = () => ({})

const pay = (amount: number, id = `pay-${amount}`) => ScriptedModel.toolCall({ id, name: "Pay", params: { amount } })

const travel = [ScriptedModel.toolCall({ id: "c1", name: "Trip", params: { to: "Rome" } })]

/** Says something, and reads all that is said. */
const say = (chat: Clients, params: { readonly id: string }, text: string, messageId?: string) =>
  Effect.flatMap(
    chat.send({ params, payload: { text, ...(messageId === undefined ? undefined : { messageId }) } }),
    Stream.runCollect
  )

const sentence = (parts: ReadonlyArray<any>) =>
  parts.flatMap(({ delta, type }) => type === "text-delta" ? [delta] : []).join("")

describe("deciding", () => {
  it.effect("waits for what was approved, and not for what the model says of it", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const slow = [ScriptedModel.pause(Deferred.await(asked)), ScriptedModel.text("It is paid.")]
      yield* told([[pay(5)], slow], anybody, ({ ada, paid, params }) =>
        Effect.gen(function*() {
          yield* say(ada, params, "Pay.")
          const [request] = yield* ada.pending({ params })
          const { answers, isRunning } = yield* ada.decide({ params, payload: Approval.approve(request!) })
          assert.deepStrictEqual([isRunning, answers[0]!.state, answers[0]!.result], [false, "done", "paid 5"])
          assert.isTrue((yield* ada.history({ params })).isTurnTaken)
          const turn = yield* ada.follow({ params })
          yield* Deferred.succeed(asked, undefined)
          assert.strictEqual(sentence(yield* Stream.runCollect(turn!)), "It is paid.")
          assert.deepStrictEqual(paid, [5])
        }))
    }))

  it.effect("L4 of the person who decides, changed parameters count, and who changed them is known", () =>
    told([[pay(500)]], anybody, ({ ada, bob, paid, params }) =>
      Effect.gen(function*() {
        yield* say(ada, params, "Pay.")
        const [request] = yield* ada.pending({ params })
        // What does not fit changes nothing, and the request stays open.
        const wrong = yield* Effect.flip(
          bob.decide({ params, payload: Approval.approve(request!, { params: { amount: "all" } }) })
        )
        assert.strictEqual(wrong._tag, "Unprocessable")
        assert.lengthOf(yield* ada.pending({ params }), 1)
        yield* bob.decide({ params, payload: Approval.approve(request!, { params: { amount: 20 } }) })
        assert.deepStrictEqual(paid, [20])
        const { messages } = yield* ada.history({ params })
        const result = messages.flatMap(({ content }) => content).find(({ type }) => type === "tool-result")
        assert.isTrue(result?.type === "tool-result" && result.decidedBy?.id === "bob" && result.edits !== undefined)
      })))

  it.effect("several, each with its fate: one that is stale, one of nobody, one that cannot be read, and one that counts", () =>
    told([[pay(1), pay(2), pay(3)]], anybody, ({ ada, bob, paid, params }) =>
      Effect.gen(function*() {
        yield* say(ada, params, "Pay.")
        const [one, two, three] = yield* ada.pending({ params })
        yield* bob.decide({ params, payload: Approval.deny(one!, "Too much.") })
        const { answers } = yield* ada.decide({
          params,
          payload: [
            Approval.approve(one!),
            { approvalId: "made-up", approved: true },
            Approval.approve(two!, { params: { amount: "?" } }),
            Approval.approve(three!)
          ]
        })
        assert.deepStrictEqual(answers.map(({ refused, state }) => [refused?._tag, state]), [
          ["AlreadyDecided", "denied"],
          ["UnknownRequest", undefined],
          ["Unprocessable", "open"],
          [undefined, "done"]
        ])
        assert.deepInclude(answers[0]!.decidedBy, { id: "bob" })
        assert.deepStrictEqual(paid, [3])
      })))

  it.effect("L16 who is on no list is refused, and of two who have to approve the first leaves it open", () =>
    told([[pay(5)]], () => ({ approvers: [["ada"], ["bob"]] }), ({ ada, bob, paid, params }) =>
      Effect.gen(function*() {
        yield* say(ada, params, "Pay.")
        const [request] = yield* ada.pending({ params })
        const first = yield* ada.decide({ params, payload: Approval.approve(request!) })
        assert.deepStrictEqual([first.answers[0]!.state, first.answers[0]!.refused, first.isRunning], [
          "open",
          undefined,
          false
        ])
        const again = yield* Effect.flip(ada.decide({ params, payload: Approval.approve(request!) }))
        assert.strictEqual(again._tag, "NotAnApprover")
        assert.deepStrictEqual(paid, [])
        const second = yield* bob.decide({ params, payload: Approval.approve(request!) })
        assert.strictEqual(second.answers[0]!.state, "done")
        assert.deepStrictEqual(paid, [5])
      })))

  it.effect("what has expired, was superseded or was cancelled cannot be decided any more", () =>
    told(
      [[pay(1)], "Too late.", [pay(2)], [pay(3)]],
      (amount) => amount === 1 ? { expiresIn: 0 } : {},
      ({ ada, paid, params }) =>
        Effect.gen(function*() {
          const ask = Effect.map(
            say(ada, params, "Pay."),
            (parts) => parts.flatMap((part) => part.type === "tool-approval-request" ? [part.approvalId] : []).at(-1)!
          )
          const decide = (approvalId: string) =>
            Effect.flip(ada.decide({ params, payload: { approvalId, approved: true } }))
          const state = (approvalId: string) =>
            Effect.map(ada.state({ params, query: { approvalId } }), ({ state }) => state)
          const late = yield* ask
          const expired = yield* decide(late)
          assert.isTrue(expired._tag === "NoLongerOpen" && expired.state === "expired")
          const passed = yield* ask
          const last = yield* ask
          const superseded = yield* decide(passed)
          assert.isTrue(superseded._tag === "NoLongerOpen" && superseded.state === "superseded")
          yield* ada.cancel({ params, payload: { reason: "Enough." } })
          const cancelled = yield* decide(last)
          assert.isTrue(cancelled._tag === "NoLongerOpen" && cancelled.state === "cancelled")
          assert.deepStrictEqual(
            yield* Effect.all([state(late), state(passed), state(last)]),
            ["expired", "superseded", "cancelled"]
          )
          assert.deepStrictEqual(paid, [])
        })
    ))
})

describe("answering", () => {
  it.effect("gives a tool the value that it waits for, and nothing that is for nobody at a page", () =>
    told([travel], anybody, ({ ada, params }) =>
      Effect.gen(function*() {
        yield* say(ada, params, "I have to travel.")
        const [form] = yield* ada.pending({ params })
        assert.strictEqual(form!.interaction, "form")
        const { approvalId } = form!
        for (const answer of [{ seat: 7 }, "7a", null]) {
          const wrong = yield* Effect.flip(ada.answer({ params, payload: { approvalId, answer } }))
          assert.strictEqual(wrong._tag, "Unprocessable")
        }
        const yes = yield* Effect.flip(ada.decide({ params, payload: { approvalId, approved: true } }))
        assert.strictEqual(yes._tag, "Unprocessable")
        const { answers } = yield* ada.answer({ params, payload: { approvalId, answer: { seat: "7a" } } })
        assert.isUndefined(answers[0]!.refused)
        const [event] = yield* ada.pending({ params })
        assert.strictEqual(event!.interaction, "external")
        const ours = yield* Effect.flip(
          ada.answer({ params, payload: { approvalId: event!.approvalId, answer: "paid" } })
        )
        assert.strictEqual(ours.message, "This is not for a person to answer.")
        assert.lengthOf(yield* ada.pending({ params }), 1)
      })))

  it.effect("L1 a value is no consent", () =>
    told([[pay(5)]], anybody, ({ ada, paid, params }) =>
      Effect.gen(function*() {
        yield* say(ada, params, "Pay.")
        const [request] = yield* ada.pending({ params })
        const refused = yield* Effect.flip(
          ada.answer({ params, payload: { approvalId: request!.approvalId, answer: true } })
        )
        assert.strictEqual(refused._tag, "Unprocessable")
        assert.deepStrictEqual([paid, (yield* ada.pending({ params })).length], [[], 1])
      })))
})

describe("saying", () => {
  it.effect("a message that is sent again under its own id is said once", () =>
    told(["Hello!", "Never."], anybody, ({ ada, params }) =>
      Effect.gen(function*() {
        yield* Effect.all([say(ada, params, "Hi.", "m-1"), say(ada, params, "Hi.", "m-1")], { concurrency: 2 })
        yield* say(ada, params, "Hi.", "m-1")
        const { messages } = yield* ada.history({ params })
        assert.deepStrictEqual(messages.map(({ id, role }) => [id, role]), [["m-1", "user"], [
          messages[1]!.id,
          "assistant"
        ]])
        const other = yield* Effect.flip(ada.send({ params, payload: { text: "Other.", messageId: "m-1" } }))
        assert.strictEqual(other._tag, "Unprocessable")
      })))

  it.effect("answers and a text are one turn, and the fate of each answer is in its end", () =>
    told([[pay(1), pay(2)], "Thanks."], anybody, ({ ada, paid, params }) =>
      Effect.gen(function*() {
        yield* say(ada, params, "Pay.")
        const [one, two] = yield* ada.pending({ params })
        yield* ada.decide({ params, payload: Approval.deny(one!) })
        const turn = yield* ada.send({
          params,
          payload: { text: "And then?", answers: [Approval.approve(one!), Approval.approve(two!)] }
        })
        const parts = yield* Stream.runCollect(turn)
        const end = parts.at(-1)!
        assert.isTrue(end.type === "turn-end" && end.outcome === "Completed" && end.text === "Thanks.")
        assert.deepStrictEqual(
          end.type === "turn-end" ? end.answers.map(({ refused, state }) => [refused?._tag, state]) : [],
          [["AlreadyDecided", "denied"], [undefined, "done"]]
        )
        assert.deepStrictEqual(paid, [2])
      })))

  it.effect("the id with which a turn begins is that of its first message, and instructions are nobody's to read", () =>
    told(["Hello!"], anybody, ({ ada, params }) =>
      Effect.gen(function*() {
        const [start] = yield* say(ada, params, "Hi.")
        const { messages } = yield* ada.history({ params })
        assert.isTrue(start?.type === "turn-start" && messages.some(({ id }) => id === start.messageId))
        assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant"])
        assert.notInclude(JSON.stringify(messages), "secret")
      })))
})
