/** The document of an API that has conversations in it. */
import { assert, describe, it } from "@effect/vitest"
import * as OpenApi from "effect/http-api/OpenApi"
import { Api } from "./server.ts"

const spec = OpenApi.fromApi(Api)

const operations = Object.entries(spec.paths).flatMap(([path, methods]) =>
  (["get", "post"] as const).flatMap((method) => {
    const operation = methods[method]
    return operation === undefined ? [] : [{ route: `${method} ${path}`, operation }]
  })
)

const statusesOf = (id: string) =>
  Object.keys(operations.find(({ operation }) => operation.operationId === id)!.operation.responses).join(" ")

describe("OpenAPI", () => {
  it("has every endpoint, each with a summary, a description and described responses", () => {
    assert.deepStrictEqual(operations.map(({ operation, route }) => `${operation.operationId} ${route}`).toSorted(), [
      "chat.answer post /conversations/{id}/answers",
      "chat.cancel post /conversations/{id}/cancel",
      "chat.decide post /conversations/{id}/decisions",
      "chat.follow get /conversations/{id}/turn",
      "chat.history get /conversations/{id}/messages",
      "chat.pending get /conversations/{id}/requests",
      "chat.send post /conversations/{id}/messages",
      "chat.state get /conversations/{id}/requests/state"
    ])
    for (const { operation, route } of operations) {
      assert.match(operation.summary ?? "", /\w/, route)
      assert.match(operation.description ?? "", /\w.*\.$/, route)
      for (const [status, { description }] of Object.entries(operation.responses)) {
        assert.notStrictEqual(description, "Success", `${route} ${status}`)
        assert.match(description, /\w/, `${route} ${status}`)
      }
    }
  })

  it("says with which status what is answered", () => {
    const reading = "401 403 404 422 500 503"
    assert.strictEqual(statusesOf("chat.send"), "200 401 403 404 409 410 413 415 422 429 500 503")
    assert.strictEqual(statusesOf("chat.decide"), "200 202 401 403 404 409 410 413 415 422 429 500 503")
    assert.strictEqual(statusesOf("chat.answer"), statusesOf("chat.decide"))
    assert.strictEqual(statusesOf("chat.cancel"), "204 401 403 404 409 413 415 422 500 503")
    assert.strictEqual(statusesOf("chat.follow"), `200 204 ${reading}`)
    for (const id of ["pending", "history", "state"]) assert.strictEqual(statusesOf(`chat.${id}`), `200 ${reading}`)
  })

  it("shows how something is said, and answered", () => {
    const { schemas } = spec.components
    assert.deepStrictEqual(schemas["Send"]!["examples"], [{ text: "Clean up the logs.", messageId: "m-1" }])
    assert.deepStrictEqual((schemas["ShortAnswer"]!["examples"] as Array<unknown>)[0], {
      approvalId: "ap_1",
      approved: true
    })
    // A body has no field in which it could say who decides.
    for (const name of ["Send", "ShortAnswer", "AnswerToTool", "Cancel"]) {
      assert.notMatch(
        Object.keys(schemas[name]!["properties"] as object).join(" "),
        /by|person|user|scope|tenant/i,
        name
      )
    }
  })
})
