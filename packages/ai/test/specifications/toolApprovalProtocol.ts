/** `tool-approval-protocol.md`: the protocol in Effect's AI modules. */
import { inFile, instead, must, type Specification } from "./requirement.ts"

const static41 = inFile(
  "specification",
  "§4.1 static, dynamic and effectful requirements, a service among the dependencies […]"
)
const loop = inFile("specification", "§4.2 the loop asks, carries out the answers, and ends with the model's answer")
const batch = inFile("specification", "§4.3 a user approves and denies multiple tool calls at once")
const collected = inFile("specification", "§3.4 collectToolApprovals joins requests, answers and calls")
const hosted = inFile(
  "laws/L9",
  "L9 B19 approve: reaches the provider once, with its reason, in its place, on every turn, …",
  "L9 B19 deny: is sent to the provider, not made up here, …"
)
const wire = inFile("openai:wire.approvals", "asks, tells the answer once in its place, and goes on")

export const toolApprovalProtocol: Specification = {
  name: "tool-approval-protocol",
  requirements: [
    instead(
      "0",
      "The modules are effect/unstable/ai",
      "the import is `@assent/ai`: effect 4.1 has the modules as `effect/ai`, and its engine runs what nobody approved",
      inFile("Tool", "has everything upstream's has, and wins where it differs"),
      inFile(
        "doors/lock",
        "a call by hand dies, whatever the failure mode, and is opened by withConsent of the test tools alone"
      )
    ),
    must(
      "1.1.1",
      "needsApproval is a boolean, or a function of params and context that gives a boolean or an Effect of one",
      static41,
      inFile("Tool.test-d", "takes booleans, results, and effects of both that may fail")
    ),
    instead(
      "1.1.2",
      "The Effect of needsApproval never fails",
      "it may fail, and may give an ApprovalResult or a Promise: one that fails, dies or hangs asks a person",
      inFile("laws/L1-gate", "L1 …a gate that … is asked, and shows nothing of the cause", "L1 a gate that says …: …")
    ),
    must("1.1.3", "When approval is needed a tool-approval-request is emitted instead of executing", static41),
    must("1.1.4", "The user responds with a tool-approval-response in a tool message", loop),
    must("1.1.5", "Requests come from the framework, or from the provider", static41, hosted),
    must(
      "1.2.1",
      "A request has approvalId and toolCallId",
      inFile(
        "Response",
        "approvalRequest reads the request of a part, and only of its own part",
        "approvalRequests joins requests of others with their calls, each once"
      )
    ),
    must(
      "1.2.2",
      "approvalId is unique for each approval flow",
      inFile("ApprovalSeal", "is URL-safe, at most 512 bytes, and has 128 random bits")
    ),
    must(
      "1.2.3",
      "A response has approvalId, approved, and an optional reason",
      inFile("Prompt", "approvalResponses is one tool message; an Info is no answer, and nothing is no message"),
      batch
    ),
    instead(
      "1.2.4",
      "A response has providerExecuted",
      "the call says who runs it: what a client writes beside its answer must not send a local call to the provider",
      inFile(
        "laws/L9",
        "L9 a request of the provider for a local call does not make it run, …",
        "L9 a provider's id is no approval of a local call, …"
      )
    ),
    must(
      "2.1.1",
      "Pending approvals persist across turns, as conversation history",
      inFile(
        "laws/L5",
        "L5 polling without answers: the same requests each time, one request each, the model is called once"
      ),
      inFile(
        "Chat",
        "a saved chat goes on after fromJson: the open request comes back with what a page shows, and is answered"
      )
    ),
    instead(
      "2.1.2",
      "A request stays open while the user says something else",
      "a new message supersedes it by default, so that no provider sees a dangling call; `onNewMessage: \"keep\"` leaves it open",
      inFile(
        "laws/L6",
        "L6 B16 by default a new message supersedes: a failed result that says so, and the model goes on",
        "L6 keep: the model goes on and sees that the call waits, which stays so; a later answer is told at the end"
      )
    ),
    must("2.1.3", "Responses are matched with requests by approvalId", collected),
    instead(
      "2.1.4",
      "Whoever has the approvalId approves what the history says of the call",
      "the id is a seal over the very call: a history that was edited or invented runs nothing",
      inFile("ApprovalSeal", "is forged for a call that differs in any one bound field")
    ),
    must("2.2", "A denied call is a tool-result of type execution-denied with the reason", batch),
    must(
      "2.3",
      "No built-in timeout: a request waits for the next call, however long",
      inFile("laws/L4-keys", "L4 a request waits as long as nobody set an expiry, and its approval never runs again"),
      inFile("specification", "§2.3 no built-in timeout: a user who answers four weeks later"),
      inFile("SuspensionStore", "keeps what has no expiry until it is over, and lists it, however long that takes")
    ),
    must(
      "2.3.1",
      "Users can wrap with Effect.timeout",
      inFile(
        "ApprovalController.request",
        "a time limit of the caller's own is honest: nothing was approved, nothing is remembered"
      )
    ),
    must("2.4.1", "Framework-initiated: approved, the tool is executed locally", loop),
    must("2.4.2", "Provider-initiated: the answer is sent to the provider, which executes", hosted),
    must(
      "2.4.3",
      "Only responses to provider-executed calls are sent to the model",
      inFile("laws/L9", "L9 beside a local call: each is settled where it belongs, …"),
      inFile("laws/L7", "L7 B17 approval parts left over, without a toolkit: none reaches the provider")
    ),
    must("2.5", "Several responses in one tool message", batch),
    must(
      "3.1.1",
      "The context of needsApproval has toolCallId and messages",
      inFile("laws/L1-gate", "L1 sees the decoded parameters, the call's id, and the conversation")
    ),
    must(
      "3.1.2",
      "Tool.make takes needsApproval beside its other options",
      inFile("Tool", "makes what upstream makes, but for the gate"),
      inFile(
        "Tool.test-d",
        "infers the gate's parameters from plain fields and from schemas, in any order of properties"
      )
    ),
    must(
      "3.1.3",
      "needsApproval may need services that are among the dependencies",
      static41,
      inFile("Tool.test-d", "rejects a service that is not declared", "surfaces every declared service")
    ),
    must(
      "3.2",
      "Response has the request part, in its unions and schemas",
      inFile("Response", "approvalRequest reads the request of a part, and only of its own part"),
      inFile("laws/emission", "L13 requests come just before the finish, results before them, the finish last")
    ),
    must("3.3.1", "Prompt has the response part, with a constructor", batch),
    must(
      "3.3.2",
      "A tool message holds results and responses",
      inFile(
        "laws/L5",
        "L5 three requests answered one by one, last first: each result once, all in one tool message"
      )
    ),
    must(
      "3.4.1",
      "isApprovalNeeded(tool, toolCall, messages)",
      inFile(
        "laws/L1-gate",
        "L1 isApprovalNeeded is true for a gate that …",
        "L1 isApprovalNeeded is false for a tool without a gate, whatever the parameters",
        "L1 isApprovalNeeded is true for parameters that do not decode"
      )
    ),
    must("3.4.2", "streamText emits the request and does not execute", static41),
    must(
      "3.4.3",
      "What needs no approval is executed at once",
      inFile("laws/L5", "L5 an ungated sibling runs at once and only once, the gated one waits")
    ),
    must(
      "3.4.4",
      "needsApproval is not asked about provider-executed tools",
      inFile("laws/L9.inline", "L9 L1 a policy that fails leaves it to a person; one that says nothing, too")
    ),
    must(
      "3.4.5",
      "generateText collects approvals before it calls the model",
      inFile("laws/L2-journal", "L2 done, failed and denied stand in the journal when the model is called")
    ),
    must(
      "3.4.6",
      "collectToolApprovals gives { approved, denied } with request and response",
      collected,
      inFile(
        "LanguageModel",
        "a denial counts before an approval, whatever their order, and the first of a kind before later ones"
      )
    ),
    instead(
      "3.4.7",
      "collectToolApprovals looks for responses in the last message only",
      "it reads the whole history, because an answer may come late, and tells what is `settled` from what is still to run",
      inFile(
        "LanguageModel",
        "sorts the requests of the whole history by their answers, each with its call, request and responses",
        "tells what is still to run from what is settled: it has its result, goes on as another request, or was trimmed"
      )
    ),
    must(
      "3.4.8",
      "A response without a request is dropped",
      inFile("LanguageModel", "names like __proto__ are ids like any other, and an answer without a request is none")
    ),
    must("3.5.1", "OpenAI: mcp_approval_request becomes a request part with its own id", wire),
    must(
      "3.5.2",
      "OpenAI: a response becomes mcp_approval_response with approve and reason",
      wire,
      inFile(
        "openai:conversation.approvals",
        "an answer without a reason has none on the wire; polls tell nobody anything"
      )
    ),
    must("4.1", "Example: static, dynamic and effectful requirements", static41),
    must(
      "4.2",
      "Example: the approval loop",
      loop,
      inFile("specification", "§4.2 several rounds: each request is asked once, each call runs once")
    ),
    must("4.3", "Example: approving and denying in one message", batch),
    must(
      "5.2",
      "Prompt.fromResponseParts keeps approval requests",
      inFile("Prompt", "fromResponseParts keeps the metadata of requests and puts results of earlier calls first")
    ),
    must(
      "5.3",
      "Provider-specific metadata",
      inFile("laws/L9", "L9 what the provider needs of a request travels in the call's metadata, …")
    ),
    must(
      "5.4.1",
      "Integration tests with a mock provider",
      inFile("agentLoop", "a gated call: ends after one model call, and is recognisably waiting")
    ),
    must("5.4.2", "Module documentation and examples", inFile("workspace", "README shows the program it says it shows"))
  ]
}
