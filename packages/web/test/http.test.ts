/** Over a real connection: a reader who leaves takes nothing along. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { listening } from "./listening.ts"
import { answering, approvalIdsOf, chunksOf, saying } from "./posting.ts"
import { call, routesOf } from "./server.ts"

const statesOf = (messages: any): ReadonlyArray<string> =>
  messages.flatMap(({ parts }: any) =>
    parts.flatMap(({ state, type }: any) => type === "tool-DeleteFile" ? [state] : [])
  )

describe("over HTTP", () => {
  it("who leaves while a tool runs does not stop it, and who comes back reads what it gave", async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => release = resolve)
    let begun = () => {}
    const running = new Promise<void>((resolve) => begun = resolve)
    const { deleted, routes } = routesOf({
      turns: [[call("c1", "a")], "a is gone."],
      before: () => Effect.promise(() => (begun(), released))
    })
    const server = await listening(routes)
    try {
      const [approvalId] = approvalIdsOf(await chunksOf(await server.post(saying("http-1", "Clean up."))))
      const controller = new AbortController()
      const leaving = server.post(answering("http-1", [{ approvalId: approvalId!, approved: true }]), controller.signal)
      await running
      controller.abort()
      await leaving.then((response) => response.text()).catch(() => undefined)
      const again = chunksOf(await server.get("http-1/stream"))
      release()
      assert.deepStrictEqual((await again).flatMap(({ delta }: any) => delta ?? []).join(""), "a is gone.")
      assert.deepStrictEqual(deleted, ["a"])
      assert.deepStrictEqual(statesOf(await (await server.get("http-1")).json()), ["output-available"])
    } finally {
      await server.close()
    }
  })
})
