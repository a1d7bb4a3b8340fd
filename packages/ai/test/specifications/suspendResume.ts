/** `suspend-resume.md`: functions that suspend, and are resumed. */
import { inFile, type Specification } from "./requirement.ts"

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
    { number: "1.1", says: "A function can suspend and is resumed with further input", tests: [twoApprovals] },
    {
      number: "1.2",
      says: "The conversation pauses until external input is provided",
      tests: [
        inFile(
          "laws/L5",
          "L5 polling without answers: the same requests each time, one request each, the model is called once"
        )
      ]
    },
    { number: "2.1", says: "AskUserHandler(question)", tests: [one] },
    { number: "2.2", says: "GetApprovalHandler(prompt)", tests: [twoApprovals] },
    {
      number: "2.3",
      says: "SelectFromOptionsHandler(question, options)",
      tests: [inFile("waiting/basic", "options, one of which is chosen", "options, several of which are chosen")]
    },
    {
      number: "2.4",
      says: "WebhookHandler(webhook_url)",
      tests: [
        inFile(
          "webhook/answers",
          "is the base with the token, and shows neither",
          "takes one answer, wakes the conversation, and the tool goes on with it as its schema reads it"
        )
      ]
    },
    {
      number: "2.5",
      says: "TimerHandler(delay_seconds, message)",
      tests: [inFile("waiting/basic", "a timer, on the turn that comes when it is due, or much later")]
    },
    {
      number: "2.6",
      says: "DeferredResult carries state and handler, generic in handler and resumer",
      tests: [inFile("DeferredTool.test-d", "suspends with what its interactions and its state want")]
    },
    {
      number: "3.1",
      says: "resume(resumer, state) gives a result or suspends again",
      tests: [
        twoApprovals,
        inFile(
          "DeferredTool.test-d",
          "gives its handlers parameters, answers and state, beside plain tools, without casts"
        )
      ]
    },
    {
      number: "3.2",
      says: "FunctionCall carries status, state and handler",
      differs:
        "state stays in a store of the program, and status in the journal: neither the model nor a client may read or write them",
      tests: [
        inFile("DeferredTool", "no state, no prompt and no request"),
        inFile("waiting/laws", "an answer under an id that was made up, or moved to another call, goes on from nothing")
      ]
    },
    { number: "4.1", says: "Example: the shopping function asks one question", tests: [one] },
    { number: "4.2", says: "Example: manager, then director, with state between them", tests: [stepByStep] },
    {
      number: "4.3",
      says: "Example: rejected by the manager or by the director",
      tests: [
        inFile(
          "specifications/suspending",
          "an expense is rejected by the manager, or by the director after the manager's yes"
        )
      ]
    },
    {
      number: "4.4",
      says: "A text with \"yes\" or \"approve\" in it approves",
      differs:
        "a text is never consent: an approval is decided by `decide` or `resume`, and \"yes, but…\" approves nothing",
      tests: [
        inFile("conversation/turns", "a text is never consent"),
        inFile("conversation/texts", "answers the question beside an approval, and never the approval")
      ]
    },
    {
      number: "5.1",
      says: "Flow: functions run until the model answers",
      tests: [inFile("conversation/turns", "calls the model again as long as there are results to show it")]
    },
    {
      number: "5.2",
      says: "Flow: a suspension is stored, and the send returns it",
      tests: [inFile("conversation/turns", "waits with every request that is open, and goes on with what is decided")]
    },
    { number: "5.3", says: "Flow: resume makes the function message and calls the model", tests: [one] },
    {
      number: "6.1",
      says: "Structured responses: resume_function(name, action)",
      tests: [stepByStep, inFile("Conversation.test-d", "resume takes the answer of the very interaction")]
    },
    {
      number: "6.2",
      says: "Handler aliases such as on_expense_approval_response are generated",
      differs:
        "nothing is generated: `resume(tool, interaction, answer)` is typed by the tool, and `describe` documents what it may wait for",
      tests: [
        inFile("Conversation.test-d", "resume takes the answer of the very interaction"),
        inFile("DeferredTool", "says of each tool what it may wait for, and how that is answered")
      ]
    },
    {
      number: "6.3",
      says: "A webhook's payload resumes the function",
      tests: [
        inFile(
          "webhook/answers",
          "takes one answer, wakes the conversation, and the tool goes on with it as its schema reads it"
        )
      ]
    },
    {
      number: "6.4",
      says: "A menu selection resumes the function",
      tests: [
        inFile(
          "conversation/waiting",
          "answers a choice by one of its options, in any case, and is a new message otherwise"
        )
      ]
    },
    { number: "6.5", says: "Text responses are handled in the message handler", tests: [one] },
    {
      number: "6.6",
      says: "get_suspended_functions(handler_type) and has_suspended_hitl",
      tests: [
        inFile("specifications/suspending", "what is pending is listed by kind, and is nothing once it is answered")
      ]
    },
    {
      number: "6.7",
      says: "Timers need no handler: they resume by themselves",
      tests: [
        inFile(
          "conversation/waiting",
          "goes on when a timer is due, and does nothing where nobody is waited for",
          "is what watches a store's timers calls"
        )
      ]
    },
    {
      number: "6.8",
      says: "Documentation is generated for each function's handlers",
      tests: [inFile("DeferredTool", "says of each tool what it may wait for, and how that is answered")]
    },
    {
      number: "6.9",
      says: "Strategy A, suspend first: a text goes to what is suspended, else it is a message",
      tests: [one, first]
    },
    { number: "6.10", says: "Strategy B, keyword detection", tests: [routed] },
    {
      number: "6.11",
      says: "Strategy C, try the suspended one first, else normal chat",
      tests: [
        routed,
        inFile(
          "conversation/waiting",
          "answers a choice by one of its options, in any case, and is a new message otherwise"
        )
      ]
    },
    {
      number: "7.1",
      says: "send takes a text or a message",
      tests: [inFile("conversation/turns", "a prompt that says nothing is refused, and stands in nobody's way"), one]
    },
    {
      number: "7.2",
      says: "With several suspended calls a text resumes the first",
      tests: [first, inFile("conversation/texts", "is the same after a restart, and by whichever process")]
    },
    { number: "7.3", says: "Plain and suspending functions can be mixed", tests: [beside] },
    { number: "7.4", says: "A function that suspends again is stored again", tests: [stepByStep] },
    {
      number: "7.5",
      says: "The result is either a response or a suspension",
      tests: [inFile("Conversation.test-d", "its outcome says of which kind it is, with parts typed by its tools")]
    },
    {
      number: "7.6",
      says: "Execution stops at the first function that suspends",
      differs:
        "its siblings run, and several may wait at once: one that waits says nothing of the others, and a provider wants every result",
      tests: [batch, beside]
    },
    { number: "7.7", says: "Handlers may be plain or awaitable", tests: [inFile("waiting/made", "… suspends")] },
    {
      number: "8.1",
      says: "Memory: store_suspended_call",
      tests: [inFile("SuspensionStore", "keeps, gives, takes once, and forgets what was remembered when it is over")]
    },
    {
      number: "8.2",
      says: "Memory: get_suspended_calls",
      tests: [inFile("SuspensionStore", "lists those that wait, in order, page by page, by scope")]
    },
    {
      number: "8.3",
      says: "Memory: clear_suspended_calls",
      tests: [
        cleared,
        inFile(
          "conversation/clear",
          "is final: what was taken back cannot be decided, delivered or resumed, and the error says so"
        )
      ]
    },
    {
      number: "8.4",
      says: "Clearing leaves the calls without a result",
      differs:
        "each gets a failed result that says it was cancelled, because no provider takes a history with a dangling call",
      tests: [inFile("conversation/clear", "after it the conversation goes on, with onNewMessage \"…\"")]
    },
    {
      number: "8.5",
      says: "The methods are part of the conversation's memory, and optional",
      differs:
        "what waits has a store of its own, which several conversations and processes share; the default is in memory",
      tests: [inFile("SuspensionStore", "is one for the process, and is not named")]
    },
    { number: "9.1", says: "Experience: asked, the user types the answer, the model goes on", tests: [one] },
    { number: "9.2", says: "Experience: suspension, still suspended, completion", tests: [stepByStep] },
    {
      number: "9.3",
      says: "Users continue a normal conversation while something is suspended",
      tests: [
        inFile("conversation/waiting", "what waits beside the conversation is still pending while the model goes on")
      ]
    },
    { number: "10.1", says: "Existing functions and memories work unchanged", tests: [beside] },
    {
      number: "10.2",
      says: "Type safety: a handler and its resumer match",
      tests: [inFile("DeferredTool.test-d", "refuses what does not belong to it")]
    },
    {
      number: "10.3",
      says: "Suspended state outlives the process where the memory does",
      tests: [
        inFile("conversation/processes", "goes on in another process, with the same requests, after each of its steps")
      ]
    },
    {
      number: "A4",
      says: "No resume API beside send",
      differs:
        "`decide` and `resume` stand beside `send` for what a text must not decide; a question is answered by `send` alone",
      tests: [stepByStep, one]
    }
  ]
}
