/** What the drawings are of, as requests. */
import * as Approval from "@assent/ai/Approval"
import type * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as Question from "../../src/internal/call/question.ts"
import * as Session from "../../src/internal/call/session.ts"

export type Fields = Partial<ConstructorParameters<typeof Approval.ApprovalRequest>[0]>

export const request = (toolName: string, params: Approval.ApprovalRequest["params"], fields: Fields = {}) =>
  new Approval.ApprovalRequest({
    approvalId: "request-1",
    toolCallId: "call-1",
    toolName,
    params,
    description: Approval.describe(toolName, params),
    interaction: "approval",
    providerExecuted: false,
    ...fields
  })

export const now = Date.UTC(2026, 10, 22, 17, 25, 32)

export const asked = (
  request: Approval.ApprovalRequest,
  behaviors: ApprovalMatcher.Behaviors | undefined = {}
): Question.Asked => ({
  request,
  choices: behaviors === undefined || request.rememberable === false
    ? undefined
    : (params) => Session.choices(request, params, undefined, behaviors),
  editor: "vim",
  now
})

export const inChat = { conversation: "chat-7" }

export const bash = request("Bash", {
  background: true,
  command: "npm run build -- --watch & disown",
  timeoutMs: 600_000
}, {
  ...inChat,
  path: ["builder"],
  toolDescription: "Runs a command in the shell.",
  reason: "Bash asks for all that is not read-only.",
  order: ["command", "background", "timeoutMs"]
})

const lines = (from: number, to: number, value: (line: number) => number = (line) => line) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
    .map((line) => `export const value${line} = ${value(line)} // line ${line} of the file`)

const changed = (line: number) => line === 600 ? 601 : line

const content = `${lines(1, 1_200, changed).join("\n")}\n`

export const edit = request("WriteFile", { content, path: "src/values.ts" }, {
  ...inChat,
  order: ["path", "content"],
  expiresAt: now + 30 * 24 * 60 * 60 * 1_000,
  issuedAt: now,
  presentation: new Approval.ApprovalPresentation({
    type: "diff",
    covers: ["content"],
    metadata: { path: "src/values.ts" },
    content: [
      "--- src/values.ts",
      "+++ src/values.ts",
      "@@ -597,7 +597,7 @@",
      ...lines(597, 599).map((line) => ` ${line}`),
      ...lines(600, 600).map((line) => `-${line}`),
      ...lines(600, 600, changed).map((line) => `+${line}`),
      ...lines(601, 603).map((line) => ` ${line}`),
      ""
    ].join("\n")
  })
})

export const mail = request("SendEmail", {
  body: "Dear Kai,\n\ninvoice 2231 of 1,240.00 EUR was due on 3 November. Please pay it by Friday, or tell us what is" +
    " missing so that we can help.\n\nKind regards\nAda",
  cc: ["lea@example.com", "ops@example.com"],
  subject: "Invoice 2231 is late",
  to: "kai@example.com"
}, { ...inChat, order: ["to", "cc", "subject", "body"] })

export const mcp = request("github__create_issue", {
  assignees: [{ id: 12, login: "ada" }, { id: 90, login: "kai" }],
  body: "Steps:\n1. Open the shop\n2. Buy as a guest\n3. Error 500",
  labels: ["bug", "checkout", "p1"],
  metadata: {
    nested: { a: [1, 2, 3], b: { c: null, d: true } },
    source: "agent",
    trace: "0af7651916cd43dd8448eb211c80319c"
  },
  owner: "acme",
  repo: "shop",
  title: "Checkout fails for guests"
}, {
  ...inChat,
  source: "mcp.github",
  toolDescription: "Opens an issue.",
  reason: "It is the tool \"create_issue\" of the MCP server github. The server does not say what it does." +
    " The server is not trusted by name.",
  order: ["owner", "repo", "title", "labels", "assignees", "body", "metadata"]
})

export const commands = [
  "npm test",
  "npm run build",
  "git add -A",
  "git commit -m 'Fix the checkout'",
  "git push origin main"
]

export const batch = commands.map((command, index) =>
  request("Bash", { command }, { ...inChat, approvalId: `request-${index + 1}` })
)

export const hostile = request("Bash", { command: "ls\u00a0-la # ok\u001b[2J\ny  Yes, once ›" })

export const plain = request("Bash", { command: "ls -la --color=never packages/terminal/test" }, {
  rememberable: false,
  editable: false
})

export const push = request("Bash", { command: "git push origin main" }, inChat)

export const log = request("Bash", { background: false, command: "git log --oneline" }, {
  ...inChat,
  order: ["command", "background"]
})

const awaiting = (toolName: string, params: Approval.ApprovalRequest["params"], awaited: Approval.Awaited) =>
  request(toolName, params, { interaction: awaited.kind, awaited })

export const form = awaiting(
  "Book",
  { city: "Ulm" },
  new Approval.Awaited({
    name: "trip",
    kind: "form",
    prompt: "Who travels?",
    answerSchema: {
      type: "object",
      properties: {
        name: { type: "string" },
        nights: { type: "integer" },
        board: { type: "string", enum: ["none", "half", "full"] },
        window: { type: "boolean" }
      },
      required: ["name", "nights", "board", "window"]
    }
  })
)

export const deferred = awaiting(
  "AskUser",
  { topic: "deploy" },
  new Approval.Awaited({
    name: "where",
    kind: "askUser",
    prompt: "Which environment shall I deploy to?",
    answerSchema: { type: "string" }
  })
)

export const choosing = (fields: Partial<ConstructorParameters<typeof Approval.Awaited>[0]> = {}) =>
  awaiting(
    "AskUser",
    { topic: "deploy" },
    new Approval.Awaited({
      name: "which",
      kind: "selectOptions",
      prompt: "Which one?",
      answerSchema: {},
      options: [{ value: "a", label: "same" }, { value: "b", label: "same" }, { value: "c", label: "other" }],
      ...fields
    })
  )

export const approval = awaiting(
  "Book",
  { city: "Ulm" },
  new Approval.Awaited({ name: "boss", kind: "getApproval", prompt: "May they go?", answerSchema: {} })
)
