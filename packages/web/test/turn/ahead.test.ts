/** What is posted ahead is somebody's, for one request of one conversation, and there is no more of it than there may be. */
import { assert, describe, it } from "@effect/vitest"
import * as Ahead from "../../src/internal/turn/ahead.ts"

const ada = { key: "a", person: { id: "ada" } }

const details = (path: string) => ({ params: { path } })

describe("ahead", () => {
  it("goes with the click of whoever posted it, and with no other", () => {
    const ahead = Ahead.make(10_000)
    ahead.put(ada, new Map([["id-1", details("b")]]))
    assert.deepStrictEqual(ahead.get(ada, "id-1"), details("b"))
    assert.isUndefined(ahead.get(ada, "id-2"))
    assert.isUndefined(ahead.get({ ...ada, key: "b" }, "id-1"))
    assert.isUndefined(ahead.get({ ...ada, person: { id: "bob" } }, "id-1"))
    assert.isUndefined(ahead.get({ ...ada, person: undefined }, "id-1"))
    ahead.put(ada, new Map([["id-1", details("c")]]))
    assert.deepStrictEqual(ahead.get(ada, "id-1"), details("c"))
  })

  it("L17 the oldest are dropped, and what comes again is new", () => {
    const ahead = Ahead.make(200)
    for (const id of ["1", "2", "3"]) ahead.put(ada, new Map([[id, details("x".repeat(30))]]))
    ahead.put(ada, new Map([["1", details("y".repeat(30))]]))
    ahead.put(ada, new Map([["4", details("x".repeat(30))]]))
    assert.deepStrictEqual(["1", "2", "3", "4"].map((id) => ahead.get(ada, id) !== undefined), [
      true,
      false,
      false,
      true
    ])
    ahead.put(ada, new Map([["5", details("x".repeat(300))]]))
    assert.deepStrictEqual(["1", "4", "5"].map((id) => ahead.get(ada, id) !== undefined), [false, false, false])
  })
})
