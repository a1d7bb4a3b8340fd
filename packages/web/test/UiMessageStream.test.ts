/** Stories of pages, with the client of `@ai-sdk/react` as it is on npm. */
import { AiError } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import type { UIMessage } from "ai"
import * as Effect from "effect/Effect"
import {
  call,
  card,
  cards,
  gate,
  history,
  open,
  type Page,
  type PageOptions,
  reading,
  serve,
  type Server,
  type ServerOptions,
  texts,
  until
} from "./server.ts"

let count = 0

/** A server, a conversation of its own on it, and what opens pages of that. */
const story = async (
  options: ServerOptions,
  tell: (tools: {
    readonly server: Server
    readonly id: string
    readonly page: (options?: Partial<Parameters<typeof open>[1]>) => Page
  }) => Promise<void>
) => {
  const server = serve(options)
  const id = `stories-${++count}`
  try {
    await tell({ server, id, page: (options) => open(server, { id, ...options }) })
  } finally {
    await server.dispose()
  }
}

const approve = (page: Page, path: string, reason?: string) =>
  page.chat.addToolApprovalResponse({
    id: card(page, path).approval.id,
    approved: true,
    ...(reason === undefined ? undefined : { reason })
  })

const deny = (page: Page, path: string, reason = "keep it") =>
  page.chat.addToolApprovalResponse({ id: card(page, path).approval.id, approved: false, reason })

const statesOf = (page: Page) => cards(page).map(({ state }) => state)

const twoFiles = [call("c1", "a"), call("c2", "b"), reading("c3", "c")]

describe("UiMessageStream", () => {
  it("a turn streams, asks, and goes on when all cards are answered", () =>
    story({ turns: [twoFiles, "a is gone, b stays."] }, async ({ page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      assert.deepStrictEqual(statesOf(ada), ["approval-requested", "approval-requested", "output-available"])
      await approve(ada, "a")
      assert.lengthOf(ada.posts, 1)
      await deny(ada, "b")
      await ada.settled()
      assert.lengthOf(ada.posts, 2)
      assert.deepStrictEqual(server.deleted, ["a"])
      assert.deepStrictEqual(statesOf(ada), ["output-available", "output-denied", "output-available"])
      assert.deepStrictEqual(texts(ada), ["Clean up.", "a is gone, b stays."])
      assert.deepStrictEqual(ada.errors, [])
    }))

  it("rule 7: what a page loads is what it had, with the ids that it gave and got", () =>
    story({ turns: [twoFiles, "a is gone, b stays."] }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      await approve(ada, "a")
      await deny(ada, "b")
      await ada.settled()
      const loaded = await history(server, id)
      const plain = (messages: unknown) => JSON.parse(JSON.stringify(messages))
      const [said, ...others] = ada.chat.messages
      assert.deepStrictEqual(plain(loaded.slice(1)), plain(others))
      assert.deepInclude(loaded[0], { id: said!.id, role: "user" })
    }))

  it("rule 2: a card that could not be decided is asked again, once, and nothing is posted for ever", () =>
    story({ turns: [twoFiles] }, async ({ page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      // What was changed stays on the page.
      await approve(ada, "a", UiMessageStream.withDetails)
      await deny(ada, "b")
      await ada.settled()
      assert.lengthOf(ada.posts, 2)
      assert.deepStrictEqual(statesOf(ada), ["approval-requested", "output-denied", "output-available"])
      assert.deepStrictEqual(server.deleted, [])
      const told = ada.data.filter(({ data }) => data.toolCallId === "c1").map(({ data }) => [data.state, data.reason])
      assert.deepStrictEqual(told, [[
        "open",
        "What was changed did not arrive with the answer, so nothing ran. Please look at it, and answer again."
      ]])
    }))

  it("L4 what was changed runs, and not what was proposed: the first of two cards as well", () =>
    story({ turns: [twoFiles, "Done."] }, async ({ page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      ada.details[card(ada, "a").approval.id] = { params: { path: "a.bak" } }
      await approve(ada, "a", UiMessageStream.withDetails)
      await approve(ada, "b")
      await ada.settled()
      assert.deepStrictEqual(server.deleted, ["a.bak", "b"])
      const { data } = ada.data.find(({ data }) => data.toolCallId === "c1")
      assert.deepInclude(data, { state: "done", edits: [{ op: "replace", path: "/path", value: "a.bak" }] })
    }))

  it("what was changed may be posted ahead of the click: it counts for whoever posted it, and where the click says so", () =>
    story({ turns: [twoFiles, "Done."] }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      const ahead = (person: string, path: string, to: string) =>
        server.handler(
          new Request(`http://localhost/api/chat/${id}/details`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-person": person },
            body: JSON.stringify({ [card(ada, path).approval.id]: { params: { path: to } } })
          })
        )
      assert.strictEqual((await ahead("ada", "a", "a.bak")).status, 204)
      await ahead("bob", "b", "b.bak")
      await approve(ada, "a", UiMessageStream.withDetails)
      await approve(ada, "b", UiMessageStream.withDetails)
      await ada.settled()
      assert.deepStrictEqual(server.deleted, ["a.bak"])
      assert.strictEqual(card(ada, "b").state, "approval-requested")
      await ahead("ada", "b", "b.bak")
      await approve(ada, "b")
      await ada.settled()
      assert.deepStrictEqual(server.deleted, ["a.bak", "b"])
    }))

  it("rule 6: who clicks too late is told who decided what, after the tool has ended", () => {
    const { before, open: release } = gate()
    return story({ turns: [[call("c1", "a")], "a is gone."], before }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      const bob = page({ person: "bob", messages: await history(server, id) })
      const click = approve(ada, "a")
      await until(() => ada.chat.status === "submitted" || ada.chat.status === "streaming")
      const late = deny(bob, "a")
      await until(() => bob.posts.length > 0)
      release()
      await Promise.all([click, late])
      await Promise.all([ada.settled(), bob.settled()])
      assert.deepStrictEqual(server.deleted, ["a"])
      assert.deepStrictEqual([statesOf(ada), statesOf(bob)], [["output-available"], ["output-available"]])
      assert.isTrue(card(bob, "a").approval.approved)
      assert.deepStrictEqual([ada.posts.length, bob.posts.length], [2, 1])
      const told = bob.chat.messages.flatMap(({ parts }) => parts).find(({ type }) => type === "data-approval") as any
      assert.deepInclude(told.data, { state: "done", decidedBy: { id: "ada", name: "ADA", via: "conversation" } })
      assert.deepStrictEqual(bob.errors, [])
    })
  })

  it("who approves what somebody else has denied sees the denial, and its reason", () =>
    story({ turns: [[call("c1", "a")], "a stays."] }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      const bob = page({ person: "bob", messages: await history(server, id) })
      await deny(ada, "a", "Not on a Friday.")
      await ada.settled()
      await approve(bob, "a")
      await bob.settled()
      assert.deepStrictEqual(server.deleted, [])
      assert.deepInclude(card(bob, "a"), { state: "output-denied" })
      assert.deepInclude(card(bob, "a").approval, { approved: false, reason: "Not on a Friday." })
    }))

  it("who clicks too late reads what the model has said since, and sees what it asks, as after a reload; nothing twice", () => {
    const turns = [
      [ScriptedModel.text("First a."), call("c1", "a")],
      [ScriptedModel.text("Then b."), call("c2", "b")],
      "Both are gone."
    ]
    return story({ turns }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      const bob = page({ person: "bob", messages: await history(server, id) })
      const cyd = page({ person: "cyd", messages: await history(server, id) })
      await approve(ada, "a")
      await ada.settled()
      await deny(bob, "a")
      await bob.settled()
      assert.deepStrictEqual(texts(bob), ["Clean up.", "First a.Then b."])
      assert.deepStrictEqual(statesOf(bob), ["output-available", "approval-requested"])
      await approve(bob, "b")
      await bob.settled()
      assert.deepStrictEqual(server.deleted, ["a", "b"])
      for (const late of [ada, cyd]) {
        await deny(late, late === ada ? "b" : "a")
        await late.settled()
      }
      const kept = await history(server, id)
      for (const { chat, errors } of [ada, bob, cyd]) {
        const words = ({ parts }: UIMessage) => parts.filter(({ type }) => type === "text" || type.startsWith("tool-"))
        assert.deepStrictEqual(errors, [])
        assert.deepStrictEqual(
          words(chat.messages[1]!).map((part: any) => part.text ?? part.state),
          words(kept[1]!).map((part: any) => part.text ?? part.state)
        )
      }
    })
  })

  it("rule 3: a new message supersedes what is open, which costs no page its answer", () =>
    story({ turns: [[call("c1", "a")], "I leave it."] }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      await ada.chat.sendMessage({ text: "No, wait." })
      await ada.settled()
      assert.deepStrictEqual(ada.errors, [])
      assert.strictEqual(texts(ada).at(-1), "I leave it.")
      assert.deepInclude(ada.data.at(-1), { type: "data-approval", transient: true })
      assert.strictEqual(ada.data.at(-1).data.state, "failed")
      // A click on what is not asked any more rides on the next message, and runs nothing.
      await approve(ada, "a")
      await ada.chat.sendMessage({ text: "And now?" })
      await ada.settled()
      assert.deepStrictEqual([ada.errors, server.deleted], [[], []])
      assert.deepInclude((await history(server, id))[1]?.parts[1], { state: "output-error" })
    }))

  it("a page that comes back in the middle of a turn reads all of its message, and then the rest", () => {
    const { before, open: release } = gate()
    return story({ turns: [[call("c1", "a")], "a is gone."], before }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      const click = approve(ada, "a")
      await until(() => ada.posts.length === 2)
      await ada.chat.stop()
      await click
      const again = page({ messages: await history(server, id) })
      const resumed = again.chat.resumeStream()
      await until(() => again.chat.status === "streaming")
      assert.deepStrictEqual(statesOf(again), ["approval-responded"])
      release()
      await resumed
      await again.settled()
      assert.deepStrictEqual(statesOf(again), ["output-available"])
      assert.deepStrictEqual(texts(again), ["Clean up.", "a is gone."])
      assert.deepStrictEqual(again.chat.messages.map(({ id }) => id), ada.chat.messages.map(({ id }) => id))
      assert.lengthOf(again.posts, 0)
      assert.deepStrictEqual(server.deleted, ["a"])
    })
  })

  it("a message that is posted again is not said twice", () =>
    story({ turns: ["Hello!"] }, async ({ id, page, server }) => {
      let isLost = true
      const ada = page({
        fetch: async (request, next) => {
          const response = await next(request)
          if (!isLost) return response
          isLost = false
          await response.body?.cancel()
          throw new TypeError("fetch failed")
        }
      })
      await ada.chat.sendMessage({ text: "Hi." })
      assert.strictEqual(ada.chat.status, "error")
      await ada.chat.sendMessage()
      await ada.settled()
      assert.deepStrictEqual(texts(ada), ["Hi.", "Hello!"])
      assert.deepStrictEqual((await history(server, id)).map(({ role }) => role), ["user", "assistant"])
    }))

  it("a message whose turn has failed is tried again, and not said again", () => {
    const failed = AiError.make({
      module: "test",
      method: "streamText",
      reason: new AiError.UnknownError({ description: "a secret of the provider" })
    })
    return story({ turns: [failed, "Hello!"] }, async ({ id, page, server }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Hi." })
      assert.deepStrictEqual(
        ada.errors.map(({ message }) => message),
        ["The model did not answer. What was done is kept; try again."]
      )
      await ada.chat.sendMessage()
      await ada.settled()
      assert.deepStrictEqual((await history(server, id)).map(({ role }) => role), ["user", "assistant"])
      assert.strictEqual(texts(ada).at(-1), "Hello!")
    })
  })

  it("who wants an answer anew gets what was said, and what was begun goes on", () =>
    story({ turns: [[call("c1", "a")], "Done."] }, async ({ page }) => {
      const ada = page()
      await ada.chat.sendMessage({ text: "Clean up." })
      await ada.chat.regenerate()
      assert.deepStrictEqual(statesOf(ada), ["approval-requested"])
      await approve(ada, "a")
      await ada.settled()
      await ada.chat.regenerate()
      assert.deepStrictEqual(texts(ada), ["Clean up.", "Done."])
      assert.deepStrictEqual(ada.errors, [])
    }))

  it("a message that has never arrived is said where its answer is wanted anew", () =>
    story({ turns: ["Hello!", "All is well."] }, async ({ id, page, server }) => {
      let isAway = false
      const fetch: PageOptions["fetch"] = (request, next) =>
        isAway ? Promise.reject(new TypeError("away")) : next(request)
      const ada = page({ fetch })
      await ada.chat.sendMessage({ text: "Hi." })
      isAway = true
      await ada.chat.sendMessage({ text: "How are you?" })
      isAway = false
      await ada.chat.regenerate()
      assert.deepStrictEqual(texts(ada), ["Hi.", "Hello!", "How are you?", "All is well."])
      assert.deepStrictEqual(texts(page({ messages: await history(server, id) })), texts(ada))
    }))

  it("a tool that fails says so in a sentence, and the model goes on", () =>
    story(
      { turns: [[call("c1", "a")], "I could not."], before: () => Effect.fail("There is no such file.") },
      async ({ page }) => {
        const ada = page()
        await ada.chat.sendMessage({ text: "Clean up." })
        await approve(ada, "a")
        await ada.settled()
        assert.deepInclude(card(ada, "a"), { state: "output-error", errorText: "There is no such file." })
        assert.strictEqual(texts(ada).at(-1), "I could not.")
      }
    ))

  it("files of a message are in the history, and posted again they are not said twice", () =>
    story({ turns: ["I see it."] }, async ({ id, page, server }) => {
      const files = [
        { type: "file" as const, mediaType: "image/png", filename: "a.png", url: "data:image/png;base64,AAAA" },
        { type: "file" as const, mediaType: "image/png", url: "https://example.com/b.png" }
      ]
      const ada = page()
      await ada.chat.sendMessage({ text: "Look.", files })
      ada.chat.messages = ada.chat.messages.slice(0, 1)
      await ada.chat.sendMessage()
      assert.deepStrictEqual([texts(ada), ada.errors], [["Look.", "I see it."], []])
      const kept = await history(server, id)
      assert.deepStrictEqual(kept.map(({ role }) => role), ["user", "assistant"])
      assert.deepStrictEqual(kept[0]?.parts, [...files, { type: "text", text: "Look.", state: "done" }])
      await page().chat.sendMessage({ text: "And this?", files: [{ ...files[0]!, url: "file:///etc/passwd" }] })
      assert.lengthOf(await history(server, id), 2)
    }))
})
