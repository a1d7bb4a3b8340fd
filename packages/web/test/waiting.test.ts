/** Cards that ask for more than a yes: of several people, for a text, a form, or for nobody who is at a page. */
import { Approval, ApprovalPolicy, Conversation, DeferredTool, Interaction, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { cards, history, open, type Page, People, type Server, texts } from "./server.ts"

const Trip = DeferredTool.make("Trip", {
  parameters: { to: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: {
    why: Interaction.askUser,
    seat: Interaction.form(Schema.Struct({ seat: Schema.String })),
    paid: Interaction.external(Schema.String)
  }
})

const Pay = Tool.make("Pay", { parameters: { amount: Schema.Number }, success: Schema.String })

const toolkit = Toolkit.make(Trip, Pay)

let count = 0

const story = async (
  turns: ScriptedModel.Options["turns"],
  tell: (tools: {
    readonly id: string
    readonly server: Server
    readonly page: (person?: string) => Promise<Page>
  }) => Promise<void>
) => {
  const Handlers = toolkit.toLayer({
    Trip: DeferredTool.handler(Trip, {
      start: ({ to }) => Trip.suspend.why({ prompt: "What for?" }, to),
      resume: {
        why: (why, to) => Trip.suspend.seat({ prompt: "Which seat?" }, `${to} for ${why}`),
        seat: ({ seat }, trip) => Trip.suspend.paid({ prompt: "The bill is on its way." }, `${trip}, seat ${seat}`),
        paid: (_, trip) => Effect.succeed(trip)
      }
    }),
    Pay: ({ amount }) => Effect.succeed(`paid ${amount}`)
  })
  const Policy = ApprovalPolicy.layer(({ toolName }) =>
    Effect.succeed(
      toolName === "Pay" ? Approval.needsApproval({ approvers: [["ada"], ["bob"]] }) : Approval.preApproved()
    )
  )
  const routes = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
    Layer.provide([People, Handlers, Policy, ScriptedModel.layer({ turns, afterLastTurn: "Done." })]),
    Layer.provide(Logger.layer([]))
  )
  const server = { ...HttpRouter.toWebHandler(routes, { disableLogger: true }), deleted: [] }
  const id = `waiting-${++count}`
  try {
    const page = async (person = "ada") => open(server, { id, person, messages: await history(server, id) })
    await tell({ id, server, page })
  } finally {
    await server.dispose()
  }
}

const answer = async (page: Page, approved: boolean, reason?: string) => {
  const one = cards(page).findLast(({ state }) => state === "approval-requested")
  await page.chat.addToolApprovalResponse({ id: one.approval.id, approved, ...(reason && { reason }) })
  await page.settled()
}

const fates = (page: Page) =>
  page.chat.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => part.type === "data-approval" ? [(part as any).data] : [])
  )

const paying = [ScriptedModel.toolCall({ id: "c1", name: "Pay", params: { amount: 5 } })]

const travelling = [ScriptedModel.toolCall({ id: "c1", name: "Trip", params: { to: "Rome" } })]

describe("cards that wait for more", () => {
  it("L16 one approval of two leaves the card open, and says who is needed still", () =>
    story([paying, "It is paid."], async ({ page }) => {
      const ada = await page()
      await ada.chat.sendMessage({ text: "Pay." })
      await answer(ada, true)
      assert.lengthOf(ada.posts, 2)
      const [card] = cards(ada)
      assert.strictEqual(card.state, "approval-requested")
      assert.match(card.approval.requestReason, /^Approved already by .*Still needed: bob/)
      const bob = await page("bob")
      await answer(bob, true)
      assert.deepInclude(cards(bob)[0], { state: "output-available", output: "paid 5" })
      assert.strictEqual(texts(bob).at(-1), "It is paid.")
      assert.deepStrictEqual([ada.errors, bob.errors], [[], []])
    }))

  it("L16 who may not decide is told so, and the card is open again", () =>
    story([paying], async ({ page }) => {
      const ada = await page()
      await ada.chat.sendMessage({ text: "Pay." })
      const eve = await page("eve")
      await answer(eve, true)
      assert.lengthOf(eve.posts, 1)
      assert.strictEqual(cards(eve)[0].state, "approval-requested")
      assert.deepInclude(fates(eve)[0], { state: "open" })
      assert.match(fates(eve)[0].reason, /ada/)
    }))

  it("a text answers a question, a form is answered with its details, and an event by nobody at a page", () =>
    story([travelling], async ({ page }) => {
      const ada = await page()
      await ada.chat.sendMessage({ text: "I have to travel." })
      assert.deepInclude(cards(ada)[0].approval, { requestReason: "What for?" })
      // What the user writes is the answer; the card of the older message is closed when the page is loaded again.
      await ada.chat.sendMessage({ text: "a conference" })
      await ada.settled()
      assert.deepStrictEqual(ada.errors, [])

      const again = await page()
      assert.lengthOf(cards(again), 1)
      assert.deepInclude(cards(again)[0].approval.descriptor, { interaction: "form" })
      await answer(again, true)
      assert.deepInclude(fates(again)[0], { state: "open" })
      assert.strictEqual(cards(again)[0].state, "approval-requested")
      again.details[cards(again)[0].approval.id] = { answer: { seat: "7a" } }
      await answer(again, true, UiMessageStream.withDetails)
      assert.deepInclude(cards(again)[0].approval.descriptor, { interaction: "external" })

      await answer(again, true)
      assert.strictEqual(cards(again)[0].state, "approval-requested")
      assert.deepInclude(fates(again).at(-1), { reason: "This is not for a person to answer." })
      assert.lengthOf(again.posts, 3)
      assert.deepStrictEqual(again.errors, [])
    }))
})
