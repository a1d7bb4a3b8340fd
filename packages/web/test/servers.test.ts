/** Two servers over one database: a turn is read on either, and ids are the same on both, also after a restart. */
import { assert, describe, it } from "@effect/vitest"
import * as Cluster from "./random/cluster.ts"
import { call, card, cards, gate, history, open, texts, until } from "./server.ts"

describe("two servers", () => {
  it("a page that comes back to another server reads the turn from its beginning, and what follows", async () => {
    const { before, open: release } = gate()
    let begun = 0
    const cluster = Cluster.make({
      turns: [[call("c1", "a")], "a is gone."],
      before: () => (begun++, before())
    })
    try {
      const [first, second] = cluster.servers
      const ada = open(first, { id: "servers-1" })
      await ada.chat.sendMessage({ text: "Clean up." })
      const click = ada.chat.addToolApprovalResponse({ id: card(ada, "a").approval.id, approved: true })
      await until(() => begun > 0)
      await ada.chat.stop()
      await click
      const again = open(second, { id: "servers-1", messages: await history(second, "servers-1") })
      const resumed = again.chat.resumeStream()
      await until(() => cards(again)[0]?.state === "approval-responded")
      release()
      await resumed
      await again.settled()
      assert.deepStrictEqual(cards(again).map(({ state }) => state), ["output-available"])
      assert.deepStrictEqual(texts(again), ["Clean up.", "a is gone."])
      assert.deepStrictEqual([again.errors, cluster.deleted()], [[], ["a"]])
      const ids = (await history(second, "servers-1")).map(({ id }) => id)
      assert.deepStrictEqual(ids, ada.chat.messages.map(({ id }) => id))
      await cluster.restart(0)
      assert.deepStrictEqual((await history(first, "servers-1")).map(({ id }) => id), ids)
    } finally {
      await cluster.dispose()
    }
  }, 20_000)
})
