/**
 * What the author of a library exports, compiled with declarations: each inferred type has a name outside of the packages.
 */
import {
  Approval,
  ApprovalConfig,
  ApprovalController,
  ApprovalEvents,
  ApprovalPolicy,
  Chat,
  Conversation,
  DeferredTool,
  Interaction,
  LanguageModel,
  McpApproval,
  McpClient,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import { AiSdkLanguageModel, AiSdkTool } from "@assent/ai-sdk"
import { ScriptedModel, StrictProvider } from "@assent/ai/testing"
import * as JustTool from "@assent/ai/Tool"
import { OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { Shell } from "@assent/shell"
import { SqlApproval, SqliteClient, SqlStore } from "@assent/sql"
import { TerminalController } from "@assent/terminal"
import { ConversationProxy, ConversationProxyServer, Decider, UiMessageStream } from "@assent/web"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { HttpApi, HttpApiClient } from "effect/http-api"

export class Owners extends Context.Service<Owners, {
  readonly owns: (path: string) => Effect.Effect<boolean, Error>
}>()("Owners") {}

export const Delete = Tool.make("Delete", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: ({ path }) => Effect.flatMap(Owners, ({ owns }) => owns(path)),
  dependencies: [Owners]
})

export const Count = Tool.setNeedsApproval(JustTool.make("Count", { success: Schema.Finite }), true)

export const Remind = DeferredTool.make("Remind", {
  success: Schema.String,
  state: Schema.Array(Schema.String),
  interactions: { later: Interaction.timer, who: Interaction.form(Schema.Struct({ name: Schema.String })) }
})

export const toolkit = Toolkit.make(Delete, Count, Remind)

export const Handlers = toolkit.toLayer({
  Delete: ({ path }) => Effect.succeed(path),
  Count: () => Effect.succeed(1),
  Remind: DeferredTool.handler(Remind, {
    start: () => Remind.suspend.later({ after: "1 day" }, []),
    resume: {
      later: (_, state) => Remind.suspend.who({ prompt: "Who?" }, state),
      who: ({ name }) => Effect.succeed(name)
    }
  })
})

export const guarded = Toolkit.guard(toolkit)

export const files = Effect.flatMap(McpClient.McpClient, (client) => McpApproval.guard(client, { name: "files" }))

export const joined = Toolkit.join(files, toolkit)

export const turn = Effect.gen(function*() {
  const chat = yield* Chat.empty
  const turn = yield* chat.generateText({ prompt: "Tidy up.", toolkit })
  const answers = Response.approvalRequests(turn).map((request) => Approval.approve(request, { remember: "session" }))
  return { turn, answers: Prompt.approvalResponses(answers) }
})

export const parts = LanguageModel.streamText({ prompt: "Tidy up.", toolkit }).pipe(
  Stream.filter((part) => part.type === "tool-result")
)

export const conversation = Conversation.make({ id: "chat-7", toolkit })

export const Model = ScriptedModel.layer({ turns: ["Done."] }).pipe(LanguageModel.approval())

export const violations = StrictProvider.check(Prompt.empty)

export const Policy = ApprovalPolicy.layerConfig(ApprovalConfig.fromFile("approval.yaml"))

export const Person = ApprovalController.layerInteractive(async ({ toolName }) => toolName === "Count")

export const log = Stream.runForEach(ApprovalEvents.stream, (event) => Effect.logInfo(event))

export const Repositories = OpenAiTool.Mcp({ server_label: "github", server_url: "https://api.githubcopilot.com/mcp/" })

export const commands = Toolkit.make(OpenAiTool.LocalShell({}), OpenAiTool.CodeInterpreter({ container: "one" }))

export const Gpt = OpenAiLanguageModel.model("gpt-5")

export const Kept = SqlApproval.layer({
  filename: "approvals.db",
  seal: { key: "a key of 32 bytes or more, of a library" }
})

export const Rows = SqlStore.layer({ prefix: "approval_" }).pipe(
  Layer.provideMerge(SqliteClient.layer({ filename: "approvals.db" }))
)

export const AtTerminal = TerminalController.layer()

export const People = Decider.layer((request) =>
  request.headers["x-person"] === undefined
    ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
    : Effect.succeed({ person: { id: request.headers["x-person"] }, scope: { tenant: "acme" } })
)

export const Routes = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
  Layer.provide(People)
)

export class ChatApi extends HttpApi.make("chats").add(ConversationProxy.toHttpApiGroup("chat")) {}

export const ChatHandlers = ConversationProxyServer.layerHttpApi(ChatApi, "chat", {
  conversation: (id) => Conversation.make({ id, toolkit })
}).pipe(Layer.provide(People))

export const chatting = Effect.flatMap(
  HttpApiClient.make(ChatApi),
  ({ chat }) => chat.decide({ params: { id: "chat-1" }, payload: { approvalId: "id-1", approved: true } })
)

export const following = Effect.flatMap(
  HttpApiClient.make(ChatApi),
  ({ chat }) => chat.send({ params: { id: "chat-1" }, payload: { text: "Hello!" } })
)

export const explain = Shell.explain

export const wrap = <P extends Schema.Constraint>(parameters: P) => Tool.make("Wrapped", { parameters })

export const said = Effect.map(
  turn,
  ({ turn }) => turn.content.map((part) => [part.metadata.openai, part.metadata.assent] as const)
)

export const kept = Prompt.empty.content.map((message) => message.options.assent)

export const wentWrong = parts.pipe(
  Stream.catchTag("AiError", ({ reason }) =>
    Stream.succeed(
      reason._tag === "RateLimitError" || reason._tag === "InvalidRequestError" ? reason.metadata.openai : undefined
    ))
)

export const WebSearch = AiSdkTool.make("WebSearch", {
  id: "anthropic.web_search_20250305",
  args: {},
  isProviderExecuted: true
})

export const makeModel = (model: AiSdkLanguageModel.Model) =>
  AiSdkLanguageModel.model(model, { providerOptions: { anthropic: { effort: "low" } } })
