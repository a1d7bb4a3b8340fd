/** `blocking-wrapper.md`: approval that blocks where a tool is called. */
import { inFile, instead, must, type Specification } from "./requirement.ts"

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
    must(
      "0.1",
      "A run accepts a controller directly; no conversion between callbacks and controllers",
      inFile("laws/L1-controller", "L1 a callback layer takes its services along; its failure leaves the call open")
    ),
    must(
      "0.2",
      "A child inherits the same controller",
      inFile("laws/controller.nested", "has its calls asked and run, with the same person"),
      inFile("Toolkit.guard.enclosing", "a handler's own question goes to its controller")
    ),
    must("1.1", "The tool blocks for approval; approved, it executes and the model continues", asked, oneRun),
    must(
      "1.2",
      "Denied, the tool returns an error that the model sees and adjusts to, in one continuous conversation",
      denial,
      oneRun
    ),
    must("1.3", "No several runs with a message history passed by hand", oneRun),
    instead(
      "1.4",
      "PydanticAI's deferred pattern is not used",
      "both are there: deferred is the default, because a request must outlive a web request; a controller or a guarded toolkit blocks",
      inFile("agentLoop", "a gated call: ends after one model call, and is recognisably waiting"),
      asked
    ),
    must(
      "2.1",
      "Each type is defined once, in one place",
      inFile("house.ts", "imports only from its own wing and from below")
    ),
    must(
      "2.2",
      "The wrapper forwards everything else to the inner toolset",
      inFile(
        "specifications/blocking",
        "a guarded toolkit has the tools of what it guards, and calls that need nobody give what they gave"
      )
    ),
    must(
      "2.3",
      "Marked functions and toolsets with their own check go through one wrapper",
      inFile(
        "Toolkit.guard",
        "calls that need nobody run as they are: ungated tools, and what the tool's own logic lets run"
      )
    ),
    must("3.1", "check_approval(name, args) returns a request if approval is needed, else nothing", presented),
    must("3.2", "The prompt function receives the full request", asked),
    must(
      "3.3",
      "The prompt function is injected",
      inFile("ApprovalController.request", "a callback may give …; which one is found out by itself")
    ),
    instead(
      "3.4",
      "Without a memory the wrapper makes one of its own",
      "nothing is remembered unless the program names a memory: what is remembered must have a scope and an end that somebody chose",
      inFile("laws/memory", "nothing is remembered by default, whatever the answer says"),
      inFile("laws/memory.forgetful", "is warned of once, when a policy with it is used where nothing remembers")
    ),
    must(
      "4.1",
      "ApprovalPresentation: text, diff, file_content, command or structured, with content, language and metadata",
      presented,
      inFile(
        "ApprovalPresentation",
        "a diff says whose it is, in which language, and what it was made from",
        "a command says its folder, if it has one, and is a shell's unless it says otherwise",
        "the content of a file says its path; a language only if it was given one",
        "data is indented JSON"
      )
    ),
    must("4.2", "Without a presentation the prompt renders tool name and arguments", described),
    must("4.3", "ApprovalRequest: tool_name, description, presentation", asked, presented),
    instead(
      "4.4",
      "ApprovalRequest.payload is what the session is matched by",
      "what an answer for the session covers is a matcher that the person reads as `session`: this very call, or what policy or answer name",
      inFile(
        "laws/memory.payload",
        "is what the policy says, the person reads it, and what it does not cover is asked"
      )
    ),
    must(
      "4.5",
      "ApprovalDecision: approved, note, remember none or session",
      inFile(
        "laws/memory",
        "\"session\" is just this call: the same is not asked again, another is",
        "nothing is remembered of an answer that does not say so"
      ),
      inFile("laws/L14", "L14 a denial keeps the person's own words")
    ),
    must(
      "4.6",
      "Memory is keyed by tool name and arguments, with keys in any order",
      inFile("ApprovalMemory", "\"session\" is this very call; the order of its parameters means nothing")
    ),
    must(
      "4.7",
      "remember none stores nothing",
      inFile("ApprovalMemory", "nothing is remembered of an answer that says \"none\"")
    ),
    must(
      "4.8",
      "A denial for the session is stored too",
      inFile("laws/memory", "a remembered no is not asked again, and its note is told to the model")
    ),
    must(
      "5.1",
      "@requires_approval is a marker without configuration",
      inFile("specification", "§4.1 static, dynamic and effectful requirements, a service among the dependencies […]")
    ),
    must("5.2", "A marked tool is described as name(key='value')", described),
    must(
      "5.3",
      "Its payload is all of its arguments",
      inFile("laws/memory", "\"session\" is just this call: the same is not asked again, another is")
    ),
    must(
      "6.1",
      "The terminal shows tool, description, and the presentation or the arguments",
      terminal,
      inFile("terminal:screens", "pages, details, type-ahead, pastes, resizes")
    ),
    must("6.2", "[a] approve once, [s] approve for session, [d] deny", terminal),
    must(
      "6.3",
      "A denial asks for an optional reason",
      terminal,
      inFile("laws/L14.results", "L14 a denial with a blank reason is one without")
    ),
    instead(
      "6.4",
      "The session is offered whenever somebody is asked",
      "it is offered only where an answer is remembered, and says for how long",
      inFile("terminal:asker", "is …offered where an answer is remembered for …")
    ),
    instead(
      "7.1",
      "A denial is the PermissionError \"User denied write_file: Don't touch env files\"",
      "it is a failed result with these words as its reason: Effect's errors are for what ends a turn, and a no does not",
      denial,
      oneRun
    ),
    instead(
      "8.1",
      "The ApprovalController class is removed: a prompt function and a memory are enough",
      "a controller service stays, as async-callbacks.md has it: approve all, strict and deferred are the same seam as a person",
      inFile("ApprovalController.request", "approveAll approves and strict denies, without asking anybody")
    ),
    must(
      "8.2",
      "ApprovalContext is removed: tool name and arguments are passed directly",
      inFile("laws/L1-gate", "L1 sees the decoded parameters, the call's id, and the conversation")
    )
  ]
}
