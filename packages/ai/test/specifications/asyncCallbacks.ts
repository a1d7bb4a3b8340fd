/** `async-callbacks.md`: callbacks that may be async. */
import { inFile, instead, must, type Specification } from "./requirement.ts"

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
    must("F1", "Accept async callbacks", anyCallback),
    must("F2", "Accept sync callbacks", anyCallback),
    must(
      "F3",
      "Auto-detect the callback's type",
      anyCallback,
      inFile("laws/L1-controller", "L1 a callback that gives … is understood")
    ),
    must(
      "F4",
      "Preserve all behaviour of sync callbacks",
      inFile("laws/controller", "the calls of one response are asked one after the other, in their order"),
      inFile(
        "Toolkit.guard",
        "callbacks may be plain, async, or effects; one that throws, rejects, or says nothing runs nothing"
      )
    ),
    must(
      "F5",
      "Nested tool calls with async approval, the stack preserved",
      inFile(
        "laws/controller.nested",
        "is answered by the same person, after its own approval, one question at a time"
      ),
      inFile(
        "specifications/blocking",
        "nested: a plain callback outside and an async one inside, and the other way round"
      )
    ),
    must(
      "N1",
      "Backward compatible: no change for a program with a sync callback",
      anyCallback,
      inFile("ApprovalMemory.test-d", "`request` gives a decision, and its layers keep what their callbacks need")
    ),
    must(
      "N2",
      "Minimal changes: only how a callback is called becomes async-aware; results, decisions and memory stay",
      inFile(
        "specifications/blocking",
        "an async callback is awaited, and its session remembered as a plain one's is"
      )
    ),
    must("N3", "No new dependencies", inFile("house.ts", "depends on … alone")),
    must(
      "D1",
      "One exported type for callbacks of both kinds",
      inFile("ApprovalMemory.test-d", "`request` gives a decision, and its layers keep what their callbacks need")
    ),
    must(
      "D2",
      "The session cache is looked up before the callback is called",
      session,
      inFile(
        "Toolkit.guard",
        "approve for session: an identical call is not asked again, another is; of two at once one asks"
      )
    ),
    must(
      "D3",
      "The callback gets a request with tool_name, tool_args and description",
      inFile("Toolkit.guard", "blocks for approval: what is approved runs, once, with what was shown")
    ),
    instead(
      "D4",
      "A denial raises PermissionError(\"User denied name: note\")",
      "a denial is a failed result with the reason: the model reads it as it reads any result, and its siblings go on",
      inFile(
        "Toolkit.guard",
        "a denial is a failed result that reads as final, with the person's reason; nothing runs"
      ),
      inFile("laws/L14", "L14 a denial keeps the person's own words")
    ),
    instead(
      "D5",
      "What is blocked raises PermissionError(block_reason)",
      "what a policy forbids is a failed result with its reason, for the same cause",
      inFile(
        "Toolkit.guard",
        "the policy decides first: pre-approved runs, blocked is denied, a dead one asks and does not run"
      )
    ),
    must("D6", "request_approval asks without a tool: approve_all approves", modes),
    must("D7", "strict denies, and says why", modes),
    must("D8", "A cached decision is returned without asking", session),
    instead(
      "D9",
      "Interactive mode without a callback raises RuntimeError",
      "where nobody answers inline a program's question fails with `ApprovalRequired`, which carries it: the error is data",
      inFile(
        "ApprovalController.request",
        "where nobody answers inline it fails with ApprovalRequired, with the question"
      )
    ),
    instead(
      "D10",
      "Only approvals with remember=\"session\" are cached by the controller",
      "a denial that says so is remembered too, and is stronger: who said no for the session is not asked again",
      inFile("ApprovalController.request", "a denial is remembered with its note, and is stronger than a yes to more")
    ),
    must("T1", "Test: a sync callback still works", anyCallback),
    must(
      "T2",
      "Test: an async callback is awaited",
      inFile(
        "specifications/blocking",
        "an async callback is awaited, and its session remembered as a plain one's is"
      )
    ),
    must(
      "T3",
      "Test: nested calls, outer sync and inner async, and vice versa",
      inFile(
        "specifications/blocking",
        "nested: a plain callback outside and an async one inside, and the other way round"
      )
    ),
    must(
      "T4",
      "Test: session approvals are cached with async callbacks",
      inFile(
        "specifications/blocking",
        "an async callback is awaited, and its session remembered as a plain one's is"
      )
    ),
    must("T5", "Test: approve_all and strict bypass the callback", modes),
    must(
      "T6",
      "Test: tool A calls tool B, and both need approval",
      inFile(
        "Toolkit.guard",
        "nested: a handler that calls a guarded tool asks too, and who leaves the outer leaves the inner"
      )
    ),
    must(
      "T7",
      "A timeout is the user's own to put around the callback",
      inFile(
        "ApprovalController.request",
        "a time limit of the caller's own is honest: nothing was approved, nothing is remembered"
      )
    ),
    must(
      "T8",
      "A callback that is cancelled mid-flight propagates the cancellation",
      inFile(
        "laws/controller",
        "a callback that never ends: whoever stops waiting runs nothing, and the request is as it was"
      ),
      inFile("ApprovalController.request", "whoever leaves takes their question along, and the next is asked")
    ),
    instead(
      "O3",
      "Keep request_approval_sync beside request_approval",
      "there is one `request`: it runs synchronously where its callback does, so two would be one too many",
      inFile("specifications/blocking", "a program's question runs synchronously where its callback is plain")
    )
  ]
}
