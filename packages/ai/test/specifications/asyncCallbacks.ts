/** `async-callbacks.md`: callbacks that may be async. */
import { inFile, type Specification } from "./requirement.ts"

const anyCallback = inFile("ApprovalController.request", "a callback may give …; which one is found out by itself")
const modes = inFile(
  "ApprovalController.request",
  "approveAll approves and strict denies, without asking anybody"
)
const session = inFile(
  "ApprovalController.request",
  "an answer that says so is not asked again for the same, in this conversation"
)

export const asyncCallbacks: Specification = {
  name: "async-callbacks",
  requirements: [
    { number: "F1", says: "Accept async callbacks", tests: [anyCallback] },
    { number: "F2", says: "Accept sync callbacks", tests: [anyCallback] },
    {
      number: "F3",
      says: "Auto-detect the callback's type",
      tests: [anyCallback, inFile("laws/L1-controller", "L1 a callback that gives … is understood")]
    },
    {
      number: "F4",
      says: "Preserve all behaviour of sync callbacks",
      tests: [
        inFile("laws/controller", "the calls of one response are asked one after the other, in their order"),
        inFile(
          "Toolkit.guard",
          "callbacks may be plain, async, or effects; one that throws, rejects, or says nothing runs nothing"
        )
      ]
    },
    {
      number: "F5",
      says: "Nested tool calls with async approval, the stack preserved",
      tests: [
        inFile(
          "laws/controller.nested",
          "is answered by the same person, after its own approval, one question at a time"
        ),
        inFile(
          "specifications/blocking",
          "nested: a plain callback outside and an async one inside, and the other way round"
        )
      ]
    },
    {
      number: "N1",
      says: "Backward compatible: no change for a program with a sync callback",
      tests: [
        anyCallback,
        inFile("ApprovalMemory.test-d", "`request` gives a decision, and its layers keep what their callbacks need")
      ]
    },
    {
      number: "N2",
      says: "Minimal changes: only how a callback is called becomes async-aware; results, decisions and memory stay",
      tests: [
        inFile(
          "specifications/blocking",
          "an async callback is awaited, and its session remembered as a plain one's is"
        )
      ]
    },
    { number: "N3", says: "No new dependencies", tests: [inFile("house.ts", "depends on … alone")] },
    {
      number: "D1",
      says: "One exported type for callbacks of both kinds",
      tests: [
        inFile("ApprovalMemory.test-d", "`request` gives a decision, and its layers keep what their callbacks need")
      ]
    },
    {
      number: "D2",
      says: "The session cache is looked up before the callback is called",
      tests: [
        session,
        inFile(
          "Toolkit.guard",
          "approve for session: an identical call is not asked again, another is; of two at once one asks"
        )
      ]
    },
    {
      number: "D3",
      says: "The callback gets a request with tool_name, tool_args and description",
      tests: [inFile("Toolkit.guard", "blocks for approval: what is approved runs, once, with what was shown")]
    },
    {
      number: "D4",
      says: "A denial raises PermissionError(\"User denied name: note\")",
      differs:
        "a denial is a failed result with the reason: the model reads it as it reads any result, and its siblings go on",
      tests: [
        inFile(
          "Toolkit.guard",
          "a denial is a failed result that reads as final, with the person's reason; nothing runs"
        ),
        inFile("laws/L14", "L14 a denial keeps the person's own words")
      ]
    },
    {
      number: "D5",
      says: "What is blocked raises PermissionError(block_reason)",
      differs: "what a policy forbids is a failed result with its reason, for the same cause",
      tests: [
        inFile(
          "Toolkit.guard",
          "the policy decides first: pre-approved runs, blocked is denied, a dead one asks and does not run"
        )
      ]
    },
    { number: "D6", says: "request_approval asks without a tool: approve_all approves", tests: [modes] },
    { number: "D7", says: "strict denies, and says why", tests: [modes] },
    { number: "D8", says: "A cached decision is returned without asking", tests: [session] },
    {
      number: "D9",
      says: "Interactive mode without a callback raises RuntimeError",
      differs:
        "where nobody answers inline a program's question fails with `ApprovalRequired`, which carries it: the error is data",
      tests: [
        inFile(
          "ApprovalController.request",
          "where nobody answers inline it fails with ApprovalRequired, with the question"
        )
      ]
    },
    {
      number: "D10",
      says: "Only approvals with remember=\"session\" are cached by the controller",
      differs:
        "a denial that says so is remembered too, and is stronger: who said no for the session is not asked again",
      tests: [
        inFile("ApprovalController.request", "a denial is remembered with its note, and is stronger than a yes to more")
      ]
    },
    { number: "T1", says: "Test: a sync callback still works", tests: [anyCallback] },
    {
      number: "T2",
      says: "Test: an async callback is awaited",
      tests: [
        inFile(
          "specifications/blocking",
          "an async callback is awaited, and its session remembered as a plain one's is"
        )
      ]
    },
    {
      number: "T3",
      says: "Test: nested calls, outer sync and inner async, and vice versa",
      tests: [
        inFile(
          "specifications/blocking",
          "nested: a plain callback outside and an async one inside, and the other way round"
        )
      ]
    },
    {
      number: "T4",
      says: "Test: session approvals are cached with async callbacks",
      tests: [
        inFile(
          "specifications/blocking",
          "an async callback is awaited, and its session remembered as a plain one's is"
        )
      ]
    },
    { number: "T5", says: "Test: approve_all and strict bypass the callback", tests: [modes] },
    {
      number: "T6",
      says: "Test: tool A calls tool B, and both need approval",
      tests: [
        inFile(
          "Toolkit.guard",
          "nested: a handler that calls a guarded tool asks too, and who leaves the outer leaves the inner"
        )
      ]
    },
    {
      number: "T7",
      says: "A timeout is the user's own to put around the callback",
      tests: [
        inFile(
          "ApprovalController.request",
          "a time limit of the caller's own is honest: nothing was approved, nothing is remembered"
        )
      ]
    },
    {
      number: "T8",
      says: "A callback that is cancelled mid-flight propagates the cancellation",
      tests: [
        inFile(
          "laws/controller",
          "a callback that never ends: whoever stops waiting runs nothing, and the request is as it was"
        ),
        inFile("ApprovalController.request", "whoever leaves takes their question along, and the next is asked")
      ]
    },
    {
      number: "O3",
      says: "Keep request_approval_sync beside request_approval",
      differs: "there is one `request`: it runs synchronously where its callback does, so two would be one too many",
      tests: [inFile("specifications/blocking", "a program's question runs synchronously where its callback is plain")]
    }
  ]
}
