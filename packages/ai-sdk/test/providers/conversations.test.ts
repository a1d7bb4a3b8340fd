/**
 * Random conversations over each provider: calls and texts of the model, answers in time, late, twice or never, and words of
 * the user between them. Nothing that goes out is refused. `RUNS=60 npm test -- providers/conversations` tries more.
 */
import { Approval, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { providers } from "./index.ts"
import { deleteFile, play, sendMail, silent, stuck } from "./play.ts"
import type { Provider, Reply, ScriptedCall } from "./strict.ts"

const runs = Number(process.env["RUNS"] ?? 2)

const turns = 7

/** One that comes up as often as it says. */
const chance = (share: number) => Effect.map(Random.next, (value) => value < share)

/** Ids that are the provider's in their form. */
const idOf = ({ ids: [first] }: Provider, count: number): string => {
  const number = String(count)
  return `${first.slice(0, first.length - number.length)}${number}`
}

const randomReplies = Effect.fnUntraced(function*(provider: Provider) {
  let made = 0
  const replies: Array<Reply> = []
  for (let turn = 0; turn < turns; turn++) {
    if (yield* chance(0.45)) {
      replies.push({ text: `Text ${turn}.` })
      continue
    }
    const calls: Array<ScriptedCall> = []
    const count = 1 + Math.floor(3 * (yield* Random.next))
    while (calls.length < count) {
      const id = idOf(provider, 10 + made++)
      const path = (yield* chance(0.3)) ? stuck : (yield* chance(0.2)) ? silent : `/tmp/${made}`
      calls.push((yield* chance(0.5)) ? sendMail(id) : deleteFile(id, path))
    }
    replies.push({ calls })
  }
  return replies
})

const converse = Effect.fnUntraced(function*(provider: Provider) {
  const replies = yield* randomReplies(provider)
  const way = (yield* chance(0.5)) ? "generateText" : "streamText"
  const approval = { onNewMessage: (yield* chance(0.5)) ? "keep" as const : "supersede" as const }
  return yield* play(provider, way, {
    replies,
    approval,
    tell: Effect.fnUntraced(function*(send) {
      const open = new Map<string, Approval.ApprovalRequest>()
      for (let turn = 0; turn < turns; turn++) {
        const answers: Array<Parameters<typeof Prompt.approvalResponses>[0][number]> = []
        for (const [id, request] of open) {
          if (yield* chance(0.4)) continue
          // Some are answered again.
          if (yield* chance(0.7)) open.delete(id)
          answers.push((yield* chance(0.5)) ? Approval.approve(request) : Approval.deny(request, "Because."))
        }
        const isSaid = answers.length === 0 || (yield* chance(0.3))
        const said = Prompt.approvalResponses(answers)
        const requests = yield* send(isSaid ? Prompt.concat(said, `Message ${turn}.`) : said)
        for (const request of requests) open.set(request.approvalId, request)
      }
    })
  })
})

describe("random conversations", () => {
  it.effect.each(providers)("$name takes all that goes out", (provider) =>
    Effect.gen(function*() {
      for (let run = 0; run < runs; run++) {
        const { server } = yield* Random.withSeed(converse(provider), `${provider.name} ${run}`)
        assert.deepStrictEqual(server.refusals, [], `run ${run}`)
        assert.isAbove(server.bodies.length, 2)
      }
    }), { timeout: 120_000 })
})
