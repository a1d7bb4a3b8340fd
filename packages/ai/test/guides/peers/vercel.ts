/** The program of Vercel's SDK that docs/coming-from.md shows, with what it needs to run. */
import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from "ai"
import { MockLanguageModelV4 } from "ai/test"

const may = (what: string) => what.includes("debug.log")

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}
const turns = [
  ["debug.log", "thesis.txt"].map((path) => ({
    type: "tool-call" as const,
    toolCallId: path,
    toolName: "deleteFile",
    input: JSON.stringify({ path })
  })),
  [{ type: "text" as const, text: "debug.log is gone; thesis.txt stays." }]
]
const model = new MockLanguageModelV4({
  doGenerate: async () => {
    const content = turns.shift()!
    return {
      content,
      finishReason: { unified: content[0]?.type === "text" ? "stop" : "tool-calls", raw: undefined },
      usage,
      warnings: []
    }
  }
})

// Shown from here
const deleteFile = tool({
  inputSchema: jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } }),
  execute: async ({ path }) => {
    console.log(`deleting ${path}`)
    return "deleted"
  }
})

const messages: Array<ModelMessage> = [{ role: "user", content: "Delete debug.log and thesis.txt." }]
while (true) {
  const turn = await generateText({
    model,
    messages,
    tools: { deleteFile },
    toolApproval: { deleteFile: "user-approval" },
    stopWhen: isStepCount(5)
  })
  messages.push(...turn.responseMessages)
  const answers = turn.content.filter((part) => part.type === "tool-approval-request").map((request) => {
    const approved = may(JSON.stringify(request.toolCall.input))
    return { type: "tool-approval-response", approvalId: request.approvalId, approved, reason: "keep it" } as const
  })
  if (answers.length === 0) {
    console.log(turn.text)
    break
  }
  messages.push({ role: "tool", content: answers })
}
// to here
