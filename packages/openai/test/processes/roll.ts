/**
 * One step of a conversation about a hosted call, for `processes.test.ts`: `ask` or `approve`, then the file that holds the
 * conversation, whether OpenAI keeps items, and how the response comes. It prints the calls, requests and results.
 */
import { Approval, ApprovalJournal, ApprovalSeal, Chat, LanguageModel, Prompt, Toolkit } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { Effect, Layer, Ref, Stream } from "effect"
import { readFileSync, writeFileSync } from "node:fs"

const [step, file, store, method] = process.argv.slice(2)

const toolkit = Toolkit.make(OpenAiTool.Mcp({ server_label: "dice", server_url: "https://dice.example.com/mcp" }))

const Live = Layer.mergeAll(
  OpenAiLanguageModel.model("gpt-5.2", { store: store === "true" }).pipe(Layer.provide(OpenAiClient.layerConfig())),
  ApprovalSeal.layer({ key: "a key that both processes know, 32 bytes" }),
  ApprovalJournal.layerMemory()
)

const program = Effect.gen(function*() {
  const chat = step === "ask" ? yield* Chat.empty : yield* Chat.fromJson(readFileSync(file!, "utf8"))
  const { pending } = LanguageModel.collectToolApprovals((yield* Ref.get(chat.history)).content)
  const prompt = step === "ask"
    ? "Roll a die."
    : Prompt.approvalResponses(pending.map((request) => Approval.approve(request)))
  const parts = method === "stream"
    ? yield* Stream.runCollect(chat.streamText({ prompt, toolkit }))
    : (yield* chat.generateText({ prompt, toolkit })).content
  writeFileSync(file!, yield* chat.exportJson)
  const said = parts.flatMap((part) =>
    part.type === "tool-call" || part.type === "tool-result"
      ? [[part.type, part.id]]
      : part.type === "tool-approval-request"
      ? [[part.type, part.toolCallId, part.approvalId]]
      : []
  )
  console.log(JSON.stringify(said))
})

await Effect.runPromise(Effect.provide(program, Live))
