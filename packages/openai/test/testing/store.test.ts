import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import { create, echo, invalid, output, refused, setup, stream, user } from "./support.ts"

const { functionCall, reasoning, text } = ResponsesServer

const reference = (id: string | undefined): Responses.ResponseInputItem => ({ type: "item_reference", id: String(id) })

const notKept = (id: string) =>
  invalid(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.` +
      " Try again with `store` set to true, or remove this item from your input.",
    { status: 404 }
  )

describe("ResponsesServer: what is kept", () => {
  it.effect("a previous response goes on with all its items", () =>
    Effect.gen(function*() {
      const seen: Array<ReadonlyArray<unknown>> = []
      const look: ResponsesServer.Turn = (request) => {
        seen.push(request.context.map((item) => item["type"]))
        return "Done"
      }
      const { client } = yield* setup({ turns: [[functionCall({ name: "look" })], look, look] })
      const first = yield* create(client, { input: "Hi" })
      const second = yield* create(client, {
        input: [output("call_00000001", "a thing")],
        previous_response_id: first.id
      })
      yield* create(client, { input: "More", previous_response_id: second.id })
      assert.deepStrictEqual(seen, [
        ["message", "function_call", "function_call_output"],
        ["message", "function_call", "function_call_output", "message", "message"]
      ])
    }))

  it.effect("an unknown previous response is refused", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["Hello!", "Hello!"] })
      const expected = (id: string) =>
        invalid(`Previous response with id '${id}' not found.`, {
          param: "previous_response_id",
          code: "previous_response_not_found"
        })
      const unknown = yield* refused(create(client, { input: "Hi", previous_response_id: "resp_x" }))
      assert.deepStrictEqual(unknown, expected("resp_x"))
      const first = yield* create(client, { input: "Hi", store: false })
      const notStored = yield* refused(create(client, { input: "Hi", previous_response_id: first.id }))
      assert.deepStrictEqual(notStored, expected(first.id))
    }))

  it.effect("a response whose stream did not come to its last event is not kept", () =>
    Effect.gen(function*() {
      const { cut, halfCharacter } = ResponsesServer
      const { client } = yield* setup({
        turns: ["Hello", [text("Hel"), cut()], [text("Hel"), halfCharacter({ afterEvents: 8 })]]
      })
      yield* stream(client, { input: "Hi" })
      yield* Effect.flip(stream(client, { input: "Hi" }))
      yield* Effect.flip(stream(client, { input: "Hi" }))
      yield* Effect.promise(() => client.responses.retrieve("resp_00000001"))
      for (const id of ["resp_00000002", "resp_00000003"]) {
        const error = yield* refused(create(client, { input: "Hi", previous_response_id: id }))
        assert.strictEqual(error.code, "previous_response_not_found")
      }
    }))

  it.effect("a reference stands for its item, if it is kept", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["Hello!", (request) => JSON.stringify(request.context[1]), "Bye"] })
      const first = yield* create(client, { input: "Hi" })
      const second = yield* create(client, { input: [user("Hi"), reference(first.output[0]?.id), user("What?")] })
      assert.include(second.output_text, "Hello!")
      const unknown = yield* refused(create(client, { input: [reference("msg_x"), user("Hi")] }))
      assert.deepStrictEqual(unknown, invalid("Item with id 'msg_x' not found.", { status: 404 }))
      const third = yield* create(client, { input: "Hi", store: false })
      const forgotten = yield* refused(create(client, { input: [reference(third.output[0]?.id)], store: false }))
      assert.deepStrictEqual(forgotten, notKept(String(third.output[0]?.id)))
    }))

  it.effect("an item twice is refused: within the input, or besides a previous response", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["Hello!"] })
      const first = yield* create(client, { input: "Hi" })
      const message = `Duplicate item found with id ${first.output[0]?.id}.` +
        " Remove duplicate items from your input and try again."
      const twice = yield* refused(create(client, { input: [...echo(first), ...echo(first), user("Hi")] }))
      assert.deepStrictEqual(twice, invalid(message))
      const besides = yield* refused(
        create(client, { input: [...echo(first), user("Hi")], previous_response_id: first.id })
      )
      assert.deepStrictEqual(besides, invalid(message))
    }))

  it.effect("a conversation keeps items, and not those of a response that is not stored", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["One", "Two", "Three"] })
      const conversation = yield* Effect.promise(() =>
        client.conversations.create({ items: [{ type: "message", role: "developer", content: "Be kind." }] })
      )
      const first = yield* create(client, { input: "Hi", conversation: conversation.id })
      assert.deepStrictEqual(first.conversation, { id: conversation.id })
      yield* create(client, { input: "Secret", conversation: conversation.id, store: false })
      yield* create(client, { input: "More", conversation: { id: conversation.id } })
      const items = yield* Effect.promise(async () => {
        const page = await client.conversations.items.list(conversation.id)
        return page.data.map((item) => item.type === "message" ? JSON.stringify(item.content) : item.type)
      })
      assert.strictEqual(items.length, 5)
      assert.notInclude(items.join(), "Secret")
      assert.notInclude(items.join(), "Two")
      const unknown = yield* refused(create(client, { input: "Hi", conversation: "conv_x" }))
      assert.deepStrictEqual(
        unknown,
        invalid("Conversation with id 'conv_x' not found.", { status: 404, param: null })
      )
      const both = yield* refused(
        create(client, { input: "Hi", conversation: conversation.id, previous_response_id: first.id })
      )
      assert.strictEqual(both.code, "mutually_exclusive_parameters")
    }))

  it.effect("responses can be read and deleted", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["One"] })
      const first = yield* create(client, { input: "Hi" })
      const read = yield* Effect.promise(() => client.responses.retrieve(first.id))
      assert.deepStrictEqual(read.output, first.output)
      const inputs = yield* Effect.promise(() => client.responses.inputItems.list(first.id))
      assert.deepStrictEqual(inputs.data.map((item) => item.type), ["message"])
      yield* Effect.promise(() => client.responses.delete(first.id))
      const gone = yield* refused(
        Effect.tryPromise({ try: () => client.responses.retrieve(first.id), catch: (e) => e })
      )
      assert.deepStrictEqual(
        gone,
        invalid(`Response with id '${first.id}' not found.`, { status: 404, param: null })
      )
    }))
})

describe("ResponsesServer: reasoning and what follows it", () => {
  const turns: ReadonlyArray<ResponsesServer.Turn> = [[reasoning("Hm"), functionCall({ name: "look" })], "Done"]

  it.effect("both or none", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns })
      const first = yield* create(client, { input: "Hi" })
      const [thought, call] = echo(first)
      assert.isDefined(thought)
      assert.isDefined(call)
      const id = String(first.output[0]?.id)
      const alone = yield* refused(create(client, { input: [user("Hi"), thought, user("So?")] }))
      const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`
      assert.deepStrictEqual(alone, invalid(message))
      const last = yield* refused(create(client, { input: [user("Hi"), thought] }))
      assert.deepStrictEqual(last, invalid(message))
      const withoutIt = yield* refused(create(client, { input: [user("Hi"), call, output("call_00000001", "x")] }))
      assert.deepStrictEqual(
        withoutIt,
        invalid(
          "Item 'fc_00000001' of type 'function_call' was provided without its required 'reasoning' item:" +
            ` '${id}'.`
        )
      )
      const both = yield* create(client, { input: [user("Hi"), thought, call, output("call_00000001", "x")] })
      assert.strictEqual(both.output_text, "Done")
    }))

  it.effect("without store it takes its encrypted content, as it was given", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [...turns, ...turns] })
      const plain = yield* create(client, { input: "Hi", store: false })
      const lost = yield* refused(
        create(client, { input: [user("Hi"), ...echo(plain), output("call_00000001", "x")], store: false })
      )
      assert.deepStrictEqual(lost, notKept("rs_00000001"))
      yield* create(client, { input: "Hi", store: false })

      const include: Array<Responses.ResponseIncludable> = ["reasoning.encrypted_content"]
      const first = yield* create(client, { input: "Hi", store: false, include })
      const second = [user("Hi"), ...echo(first), output("call_00000002", "x")]
      const forged = second.map((item) =>
        item.type === "reasoning" ? { ...item, encrypted_content: "gAAAAABforged" } : item
      )
      const refusal = yield* refused(create(client, { input: forged, store: false, include }))
      assert.strictEqual(refusal.code, "invalid_encrypted_content")
      const done = yield* create(client, { input: second, store: false, include })
      assert.strictEqual(done.output_text, "Done")
    }))
})
