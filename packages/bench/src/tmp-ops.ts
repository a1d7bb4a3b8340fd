import { Approval, LanguageModel, Prompt, Response } from "@assent/ai"
import * as Toolkit from "@assent/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Provider from "./provider.ts"
import { gated, live, using } from "./tools.ts"
const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const size = 100, what = process.argv[2] ?? "resume"
const requested = Provider.calls(
  Array.from(
    { length: size },
    (_, index) => ({ id: `call-${index}`, name: "DeleteFile", params: { path: `/tmp/${index}`, force: true } })
  )
)
const done = Provider.text(["Done."])
const g = globalThis as any
const program = Effect.gen(function*() {
  const model = LanguageModel.withApproval(
    yield* Provider.makeModel((messages) => messages.length === 1 ? requested : done)
  )
  const ask = using(model)(LanguageModel.generateText({ prompt: "Delete all", toolkit: gated }))
  for (let i = 0; i < 2; i++) {
    if (i === 1 && what === "ask") g.__on = true
    const turn = yield* ask
    const prompt = Prompt.fromMessages([
      user("Delete all"),
      ...Prompt.fromResponseParts(turn.content).content,
      ...Prompt.approvalResponses(
        Response.approvalRequests(turn).map((r) => what === "deny" ? Approval.deny(r, "no") : Approval.approve(r))
      ).content
    ])
    if (i === 1) g.__on = what !== "ask"
    yield* using(model)(LanguageModel.generateText({ prompt, toolkit: gated }))
    g.__on = false
  }
  const per = (m: Map<string, number>, n: number) =>
    [...m].sort((a, b) => b[1] - a[1]).slice(0, n).map(([k, v]) => (v / size).toFixed(2).padStart(8) + " " + k).join(
      "\n"
    )
  console.log(what, "ops per call", [...g.__ops.values()].reduce((a: number, b: number) => a + b, 0) / size)
  console.log(per(g.__ops, 25))
  console.log(per(g.__sites, 90))
})
await Effect.runPromise(Effect.provide(program, live))
