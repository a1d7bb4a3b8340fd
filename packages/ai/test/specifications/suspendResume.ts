/** `suspend-resume.md`: functions that suspend, and are resumed. */
import { inFile, instead, must, type Specification } from "./requirement.ts"

const twoApprovals = inFile("waiting/basic", "two approvals, one after the other, and then the result")
const stepByStep = inFile(
  "conversation/waiting",
  "gives a typed answer to what one tool waits for, step by step, until the model has it all"
)
const first = inFile(
  "conversation/texts",
  "answers the first of several questions; the rest stay open, and the model is called when none is"
)
const one = inFile("conversation/waiting", "answers the one question that a tool has put to the user")
const routed = inFile(
  "conversation/waiting",
  "answers the question that the program says it answers, where several are open"
)
const batch = inFile("waiting/basic", "several wait in one batch, and are answered in any order")
const beside = inFile("waiting/basic", "beside a plain tool: that one runs, and the model is called when both are done")
const cleared = inFile("conversation/clear", "takes back …, and nothing else; the model is not called")

export const suspendResume: Specification = {
  name: "suspend-resume",
  requirements: [
    must("1.1", "A function can suspend and is resumed with further input", twoApprovals),
    must(
      "1.2",
      "The conversation pauses until external input is provided",
      inFile(
        "laws/L5",
        "L5 polling without answers: the same requests each time, one request each, the model is called once"
      )
    ),
    must("2.1", "AskUserHandler(question)", one),
    must("2.2", "GetApprovalHandler(prompt)", twoApprovals),
    must(
      "2.3",
      "SelectFromOptionsHandler(question, options)",
      inFile("waiting/basic", "options, one of which is chosen", "options, several of which are chosen")
    ),
    must(
      "2.4",
      "WebhookHandler(webhook_url)",
      inFile(
        "webhook/answers",
        "is the base with the token, and shows neither",
        "takes one answer, wakes the conversation, and the tool goes on with it as its schema reads it"
      )
    ),
    must(
      "2.5",
      "TimerHandler(delay_seconds, message)",
      inFile("waiting/basic", "a timer, on the turn that comes when it is due, or much later")
    ),
    must(
      "2.6",
      "DeferredResult carries state and handler, generic in handler and resumer",
      inFile("DeferredTool.test-d", "suspends with what its interactions and its state want")
    ),
    must(
      "3.1",
      "resume(resumer, state) gives a result or suspends again",
      twoApprovals,
      inFile(
        "DeferredTool.test-d",
        "gives its handlers parameters, answers and state, beside plain tools, without casts"
      )
    ),
    instead(
      "3.2",
      "FunctionCall carries status, state and handler",
      "state stays in a store of the program, and status in the journal: neither the model nor a client may read or write them",
      inFile("DeferredTool", "no state, no prompt and no request"),
      inFile("waiting/laws", "an answer under an id that was made up, or moved to another call, goes on from nothing")
    ),
    must("4.1", "Example: the shopping function asks one question", one),
    must("4.2", "Example: manager, then director, with state between them", stepByStep),
    must(
      "4.3",
      "Example: rejected by the manager or by the director",
      inFile(
        "specifications/suspending",
        "an expense is rejected by the manager, or by the director after the manager's yes"
      )
    ),
    instead(
      "4.4",
      "A text with \"yes\" or \"approve\" in it approves",
      "a text is never consent: an approval is decided by `decide` or `resume`, and \"yes, but…\" approves nothing",
      inFile("conversation/turns", "a text is never consent"),
      inFile("conversation/texts", "answers the question beside an approval, and never the approval")
    ),
    must(
      "5.1",
      "Flow: functions run until the model answers",
      inFile("conversation/turns", "calls the model again as long as there are results to show it")
    ),
    must(
      "5.2",
      "Flow: a suspension is stored, and the send returns it",
      inFile("conversation/turns", "waits with every request that is open, and goes on with what is decided")
    ),
    must("5.3", "Flow: resume makes the function message and calls the model", one),
    must(
      "6.1",
      "Structured responses: resume_function(name, action)",
      stepByStep,
      inFile("Conversation.test-d", "resume takes the answer of the very interaction")
    ),
    instead(
      "6.2",
      "Handler aliases such as on_expense_approval_response are generated",
      "nothing is generated: `resume(tool, interaction, answer)` is typed by the tool, and `describe` documents what it may wait for",
      inFile("Conversation.test-d", "resume takes the answer of the very interaction"),
      inFile("DeferredTool", "says of each tool what it may wait for, and how that is answered")
    ),
    must(
      "6.3",
      "A webhook's payload resumes the function",
      inFile(
        "webhook/answers",
        "takes one answer, wakes the conversation, and the tool goes on with it as its schema reads it"
      )
    ),
    must(
      "6.4",
      "A menu selection resumes the function",
      inFile(
        "conversation/waiting",
        "answers a choice by one of its options, in any case, and is a new message otherwise"
      )
    ),
    must("6.5", "Text responses are handled in the message handler", one),
    must(
      "6.6",
      "get_suspended_functions(handler_type) and has_suspended_hitl",
      inFile("specifications/suspending", "what is pending is listed by kind, and is nothing once it is answered")
    ),
    must(
      "6.7",
      "Timers need no handler: they resume by themselves",
      inFile(
        "conversation/waiting",
        "goes on when a timer is due, and does nothing where nobody is waited for",
        "is what watches a store's timers calls"
      )
    ),
    must(
      "6.8",
      "Documentation is generated for each function's handlers",
      inFile("DeferredTool", "says of each tool what it may wait for, and how that is answered")
    ),
    must("6.9", "Strategy A, suspend first: a text goes to what is suspended, else it is a message", one, first),
    must("6.10", "Strategy B, keyword detection", routed),
    must(
      "6.11",
      "Strategy C, try the suspended one first, else normal chat",
      routed,
      inFile(
        "conversation/waiting",
        "answers a choice by one of its options, in any case, and is a new message otherwise"
      )
    ),
    must(
      "7.1",
      "send takes a text or a message",
      inFile("conversation/turns", "a prompt that says nothing is refused, and stands in nobody's way"),
      one
    ),
    must(
      "7.2",
      "With several suspended calls a text resumes the first",
      first,
      inFile("conversation/texts", "is the same after a restart, and by whichever process")
    ),
    must("7.3", "Plain and suspending functions can be mixed", beside),
    must("7.4", "A function that suspends again is stored again", stepByStep),
    must(
      "7.5",
      "The result is either a response or a suspension",
      inFile("Conversation.test-d", "its outcome says of which kind it is, with parts typed by its tools")
    ),
    instead(
      "7.6",
      "Execution stops at the first function that suspends",
      "its siblings run, and several may wait at once: one that waits says nothing of the others, and a provider wants every result",
      batch,
      beside
    ),
    must("7.7", "Handlers may be plain or awaitable", inFile("waiting/made", "… suspends")),
    must(
      "8.1",
      "Memory: store_suspended_call",
      inFile("SuspensionStore", "keeps, gives, takes once, and forgets what was remembered when it is over")
    ),
    must(
      "8.2",
      "Memory: get_suspended_calls",
      inFile("SuspensionStore", "lists those that wait, in order, page by page, by scope")
    ),
    must(
      "8.3",
      "Memory: clear_suspended_calls",
      cleared,
      inFile(
        "conversation/clear",
        "is final: what was taken back cannot be decided, delivered or resumed, and the error says so"
      )
    ),
    instead(
      "8.4",
      "Clearing leaves the calls without a result",
      "each gets a failed result that says it was cancelled, because no provider takes a history with a dangling call",
      inFile("conversation/clear", "after it the conversation goes on, with onNewMessage \"…\"")
    ),
    instead(
      "8.5",
      "The methods are part of the conversation's memory, and optional",
      "what waits has a store of its own, which several conversations and processes share; the default is in memory",
      inFile("SuspensionStore", "is one for the process, and is not named")
    ),
    must("9.1", "Experience: asked, the user types the answer, the model goes on", one),
    must("9.2", "Experience: suspension, still suspended, completion", stepByStep),
    must(
      "9.3",
      "Users continue a normal conversation while something is suspended",
      inFile("conversation/waiting", "what waits beside the conversation is still pending while the model goes on")
    ),
    must("10.1", "Existing functions and memories work unchanged", beside),
    must(
      "10.2",
      "Type safety: a handler and its resumer match",
      inFile("DeferredTool.test-d", "refuses what does not belong to it")
    ),
    must(
      "10.3",
      "Suspended state outlives the process where the memory does",
      inFile("conversation/processes", "goes on in another process, with the same requests, after each of its steps")
    ),
    instead(
      "A4",
      "No resume API beside send",
      "`decide` and `resume` stand beside `send` for what a text must not decide; a question is answered by `send` alone",
      stepByStep,
      one
    )
  ]
}
