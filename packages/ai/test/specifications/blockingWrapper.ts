/** `blocking-wrapper.md`: approval that blocks where a tool is called. */
import { inFile, type Specification } from "./requirement.ts"

const asked = inFile("Toolkit.guard", "blocks for approval: what is approved runs, once, with what was shown")
const denial = inFile(
  "Toolkit.guard",
  "a denial is a failed result that reads as final, with the person's reason; nothing runs"
)
const described = inFile(
  "ApprovalPolicy.specification",
  "§ Default needs_approval() Logic: required has a default description"
)
const presented = inFile(
  "ApprovalPolicy.specification",
  "blocking-wrapper.md § Toolset Protocol: check_approval returns a presentation"
)
const terminal = inFile(
  "terminal:stories",
  "approves once, denies with a reason, edits, approves for the session, ticks a list, answers, stops"
)
const oneRun = inFile(
  "specifications/blocking",
  "one run: what is approved runs, what is denied the model reads, and it goes on"
)

export const blockingWrapper: Specification = {
  name: "blocking-wrapper",
  requirements: [
    {
      number: "0.1",
      says: "A run accepts a controller directly; no conversion between callbacks and controllers",
      tests: [
        inFile("laws/L1-controller", "L1 a callback layer takes its services along; its failure leaves the call open")
      ]
    },
    {
      number: "0.2",
      says: "A child inherits the same controller",
      tests: [
        inFile("laws/controller.nested", "has its calls asked and run, with the same person"),
        inFile("Toolkit.guard.enclosing", "a handler's own question goes to its controller")
      ]
    },
    {
      number: "1.1",
      says: "The tool blocks for approval; approved, it executes and the model continues",
      tests: [asked, oneRun]
    },
    {
      number: "1.2",
      says: "Denied, the tool returns an error that the model sees and adjusts to, in one continuous conversation",
      tests: [denial, oneRun]
    },
    { number: "1.3", says: "No several runs with a message history passed by hand", tests: [oneRun] },
    {
      number: "1.4",
      says: "PydanticAI's deferred pattern is not used",
      differs:
        "both are there: deferred is the default, because a request must outlive a web request; a controller or a guarded toolkit blocks",
      tests: [
        inFile("agentLoop", "a gated call: ends after one model call, and is recognisably waiting"),
        asked
      ]
    },
    {
      number: "2.1",
      says: "Each type is defined once, in one place",
      tests: [inFile("house.ts", "imports only from its own wing and from below")]
    },
    {
      number: "2.2",
      says: "The wrapper forwards everything else to the inner toolset",
      tests: [
        inFile(
          "specifications/blocking",
          "a guarded toolkit has the tools of what it guards, and calls that need nobody give what they gave"
        )
      ]
    },
    {
      number: "2.3",
      says: "Marked functions and toolsets with their own check go through one wrapper",
      tests: [
        inFile(
          "Toolkit.guard",
          "calls that need nobody run as they are: ungated tools, and what the tool's own logic lets run"
        )
      ]
    },
    {
      number: "3.1",
      says: "check_approval(name, args) returns a request if approval is needed, else nothing",
      tests: [presented]
    },
    { number: "3.2", says: "The prompt function receives the full request", tests: [asked] },
    {
      number: "3.3",
      says: "The prompt function is injected",
      tests: [inFile("ApprovalController.request", "a callback may give …; which one is found out by itself")]
    },
    {
      number: "3.4",
      says: "Without a memory the wrapper makes one of its own",
      differs:
        "nothing is remembered unless the program names a memory: what is remembered must have a scope and an end that somebody chose",
      tests: [
        inFile("laws/memory", "nothing is remembered by default, whatever the answer says"),
        inFile("laws/memory.forgetful", "is warned of once, when a policy with it is used where nothing remembers")
      ]
    },
    {
      number: "4.1",
      says:
        "ApprovalPresentation: text, diff, file_content, command or structured, with content, language and metadata",
      tests: [
        presented,
        inFile(
          "ApprovalPresentation",
          "a diff says whose it is, in which language, and what it was made from",
          "a command says its folder, if it has one, and is a shell's unless it says otherwise",
          "the content of a file says its path; a language only if it was given one",
          "data is indented JSON"
        )
      ]
    },
    { number: "4.2", says: "Without a presentation the prompt renders tool name and arguments", tests: [described] },
    { number: "4.3", says: "ApprovalRequest: tool_name, description, presentation", tests: [asked, presented] },
    {
      number: "4.4",
      says: "ApprovalRequest.payload is what the session is matched by",
      differs:
        "what an answer for the session covers is a matcher that the person reads as `session`: this very call, or what policy or answer name",
      tests: [
        inFile(
          "laws/memory.payload",
          "is what the policy says, the person reads it, and what it does not cover is asked"
        )
      ]
    },
    {
      number: "4.5",
      says: "ApprovalDecision: approved, note, remember none or session",
      tests: [
        inFile(
          "laws/memory",
          "\"session\" is just this call: the same is not asked again, another is",
          "nothing is remembered of an answer that does not say so"
        ),
        inFile("laws/L14", "L14 a denial keeps the person's own words")
      ]
    },
    {
      number: "4.6",
      says: "Memory is keyed by tool name and arguments, with keys in any order",
      tests: [inFile("ApprovalMemory", "\"session\" is this very call; the order of its parameters means nothing")]
    },
    {
      number: "4.7",
      says: "remember none stores nothing",
      tests: [inFile("ApprovalMemory", "nothing is remembered of an answer that says \"none\"")]
    },
    {
      number: "4.8",
      says: "A denial for the session is stored too",
      tests: [inFile("laws/memory", "a remembered no is not asked again, and its note is told to the model")]
    },
    {
      number: "5.1",
      says: "@requires_approval is a marker without configuration",
      tests: [
        inFile("specification", "§4.1 static, dynamic and effectful requirements, a service among the dependencies […]")
      ]
    },
    { number: "5.2", says: "A marked tool is described as name(key='value')", tests: [described] },
    {
      number: "5.3",
      says: "Its payload is all of its arguments",
      tests: [inFile("laws/memory", "\"session\" is just this call: the same is not asked again, another is")]
    },
    {
      number: "6.1",
      says: "The terminal shows tool, description, and the presentation or the arguments",
      tests: [terminal, inFile("terminal:screens", "pages, details, type-ahead, pastes, resizes")]
    },
    { number: "6.2", says: "[a] approve once, [s] approve for session, [d] deny", tests: [terminal] },
    {
      number: "6.3",
      says: "A denial asks for an optional reason",
      tests: [terminal, inFile("laws/L14.results", "L14 a denial with a blank reason is one without")]
    },
    {
      number: "6.4",
      says: "The session is offered whenever somebody is asked",
      differs: "it is offered only where an answer is remembered, and says for how long",
      tests: [inFile("terminal:asker", "is …offered where an answer is remembered for …")]
    },
    {
      number: "7.1",
      says: "A denial is the PermissionError \"User denied write_file: Don't touch env files\"",
      differs:
        "it is a failed result with these words as its reason: Effect's errors are for what ends a turn, and a no does not",
      tests: [denial, oneRun]
    },
    {
      number: "8.1",
      says: "The ApprovalController class is removed: a prompt function and a memory are enough",
      differs:
        "a controller service stays, as async-callbacks.md has it: approve all, strict and deferred are the same seam as a person",
      tests: [inFile("ApprovalController.request", "approveAll approves and strict denies, without asking anybody")]
    },
    {
      number: "8.2",
      says: "ApprovalContext is removed: tool name and arguments are passed directly",
      tests: [inFile("laws/L1-gate", "L1 sees the decoded parameters, the call's id, and the conversation")]
    }
  ]
}
