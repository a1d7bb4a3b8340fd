import { Approval, ApprovalJournal, LanguageModel, Prompt, Response } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Provider from "./provider.ts"
import { gated, live, using } from "./tools.ts"
const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const size = Number(process.argv[2] ?? 100), rounds = Number(process.argv[3] ?? 30), what = process.argv[4] ?? "resume"
const requested = Provider.calls(
  Array.from(
    { length: size },
    (_, index) => ({ id: `call-${index}`, name: "DeleteFile", params: { path: `/tmp/${index}`, force: true } })
  )
)
const done = Provider.text(["Done."])
const program = Effect.gen(function*() {
  const model = LanguageModel.withApproval(
    yield* Provider.makeModel((messages) => messages.length === 1 ? requested : done)
  )
  const ask = using(model)(LanguageModel.generateText({ prompt: "Delete all", toolkit: gated }))
  let total = 0, min = Infinity
  for (let i = 0; i < rounds; i++) {
    let start = performance.now()
    const turn = yield* ask
    if (what !== "ask") {
      const prompt = Prompt.fromMessages([
        user("Delete all"),
        ...Prompt.fromResponseParts(turn.content).content,
        ...Prompt.approvalResponses(
          Response.approvalRequests(turn).map((r) => what === "deny" ? Approval.deny(r, "no") : Approval.approve(r))
        ).content
      ])
      start = performance.now()
      yield* using(model)(LanguageModel.generateText({ prompt, toolkit: gated }))
    }
    const t = performance.now() - start
    if (i > 0 || rounds === 1) {
      total += t
      min = Math.min(min, t)
    }
  }
  console.log(
    what,
    size,
    "per call µs: mean",
    (total / (rounds === 1 ? 1 : rounds - 1) / size * 1000).toFixed(1),
    "min",
    (min / size * 1000).toFixed(1)
  )
})
await Effect.runPromise(Effect.provide(program, live))
