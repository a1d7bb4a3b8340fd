/** `config-approval.md`: what needs approval, said in a configuration. */
import { inFile, instead, must, type Specification } from "./requirement.ts"

const here = (...titles: ReadonlyArray<string>) => inFile("ApprovalPolicy.specification", ...titles)

const own = here("§ Default needs_approval() Logic: a tool's own logic returns a description")

export const configApproval: Specification = {
  name: "config-approval",
  requirements: [
    must(
      "1.1",
      "A tool can be configured without needs_approval logic of its own",
      here("§ Examples: Simple Custom Toolset")
    ),
    must(
      "1.2",
      "The file of the use case: required, none, and {}",
      here("§ Use Case: the file, word for word, configures tools without logic of their own")
    ),
    must(
      "1.3",
      "One approval field with the same meaning for sandbox paths, custom tools and shell commands",
      here("files by path", "action: approve of shell commands is approval: required; who writes it is told so")
    ),
    instead(
      "1.4",
      "Sandbox paths are approval: {write: required}",
      "each operation is a tool, with rules by path below it; who writes the old form is told the new one",
      here("approval: {write: required} of the sandbox is a rule; who writes it is told so", "files by path")
    ),
    must(
      "2.1",
      "tool_configs is a parameter of the wrapper",
      inFile("specifications/blocking", "a configuration is given to a guarded toolkit beside its callback")
    ),
    must(
      "2.2",
      "Room for further settings per tool",
      inFile("ApprovalPolicy.questions", "all of it is part of the result")
    ),
    must(
      "3.1",
      "An inner needs_approval() decides where nothing is configured",
      own,
      here("§ Examples: Toolset with Custom Logic needs no configuration")
    ),
    must("3.2", "required: always prompt", here("§ Approval Values: required always asks")),
    must("3.3", "none: never prompt", here("§ Approval Values: none never asks")),
    must(
      "3.4",
      "Missing or {}: default logic, so the decorator is checked",
      here("§ Approval Values: missing uses default logic", "§ Approval Values: {} and default use default logic")
    ),
    must("3.5", "Default: no approval needed", here("§ Approval Values: missing uses default logic")),
    must("3.6", "needs_approval returns False, True, or a dict with a description", own),
    instead(
      "3.7",
      "The default description is \"Tool call: name\"",
      "it is name(key='value'), as blocking-wrapper.md has it: who decides has to see with what",
      here("§ Default needs_approval() Logic: required has a default description")
    ),
    must(
      "4.1",
      "Config overrides the inner logic (option A, recommended)",
      here("§ Examples: Mixed, the configuration overrides the tool's logic (option A)")
    ),
    must(
      "4.2",
      "Option C: config can only make it stricter",
      here("§ Open Question, option C: tighten can require approval, and cannot skip it")
    ),
    must("5.1", "pre_approved keeps working", here("§ Deprecate pre_approved: the old way")),
    must("5.2", "It is the same as approval: none", here("§ Deprecate pre_approved: the new way is the same")),
    must(
      "5.3",
      "pre_approved emits a deprecation warning at construction",
      here("§ Testing: pre_approved emits a deprecation warning, once at construction, with the lines to write")
    ),
    instead(
      "5.4",
      "pre_approved is written over what tool_configs says of the same tool",
      "the stricter word wins: a deprecated list must not open what is said to be asked",
      inFile("specifications/blocking", "pre_approved does not loosen what is said of the tool elsewhere")
    ),
    must(
      "6.1",
      "Future: once_per_session prompts once, then remembers",
      here("§ Approval Values, future: once_per_session asks"),
      inFile(
        "laws/memory.payload",
        "is what the policy says, the person reads it, and what it does not cover is asked"
      )
    ),
    must("6.2", "Future: deny blocks entirely", here("§ Approval Values, future: deny blocks entirely")),
    must("7.1", "Test: tool_configs required", here("§ Approval Values: required always asks")),
    must("7.2", "Test: tool_configs none", here("§ Approval Values: none never asks")),
    must("7.3", "Test: missing uses the decorator", here("§ Approval Values: missing uses default logic")),
    must(
      "7.4",
      "Test: config overrides inner needs_approval",
      here("§ Examples: Mixed, the configuration overrides the tool's logic (option A)")
    ),
    must(
      "7.5",
      "Test: pre_approved has a deprecation warning",
      here("§ Testing: pre_approved emits a deprecation warning, once at construction, with the lines to write")
    ),
    must("8.1", "Documentation shows how to migrate", here("§ Deprecate pre_approved: lint says the line to write too"))
  ]
}
