/** `config-approval.md`: what needs approval, said in a configuration. */
import { inFile, type Specification } from "./requirement.ts"

const here = (...titles: ReadonlyArray<string>) => inFile("ApprovalPolicy.specification", ...titles)

const own = here("§ Default needs_approval() Logic: a tool's own logic returns a description")

export const configApproval: Specification = {
  name: "config-approval",
  requirements: [
    {
      number: "1.1",
      says: "A tool can be configured without needs_approval logic of its own",
      tests: [here("§ Examples: Simple Custom Toolset")]
    },
    {
      number: "1.2",
      says: "The file of the use case: required, none, and {}",
      tests: [here("§ Use Case: the file, word for word, configures tools without logic of their own")]
    },
    {
      number: "1.3",
      says: "One approval field with the same meaning for sandbox paths, custom tools and shell commands",
      tests: [
        here("files by path", "action: approve of shell commands is approval: required; who writes it is told so")
      ]
    },
    {
      number: "1.4",
      says: "Sandbox paths are approval: {write: required}",
      differs: "each operation is a tool, with rules by path below it; who writes the old form is told the new one",
      tests: [here("approval: {write: required} of the sandbox is a rule; who writes it is told so", "files by path")]
    },
    {
      number: "2.1",
      says: "tool_configs is a parameter of the wrapper",
      tests: [inFile("specifications/blocking", "a configuration is given to a guarded toolkit beside its callback")]
    },
    {
      number: "2.2",
      says: "Room for further settings per tool",
      tests: [inFile("ApprovalPolicy.questions", "all of it is part of the result")]
    },
    {
      number: "3.1",
      says: "An inner needs_approval() decides where nothing is configured",
      tests: [own, here("§ Examples: Toolset with Custom Logic needs no configuration")]
    },
    { number: "3.2", says: "required: always prompt", tests: [here("§ Approval Values: required always asks")] },
    { number: "3.3", says: "none: never prompt", tests: [here("§ Approval Values: none never asks")] },
    {
      number: "3.4",
      says: "Missing or {}: default logic, so the decorator is checked",
      tests: [
        here("§ Approval Values: missing uses default logic", "§ Approval Values: {} and default use default logic")
      ]
    },
    {
      number: "3.5",
      says: "Default: no approval needed",
      tests: [here("§ Approval Values: missing uses default logic")]
    },
    { number: "3.6", says: "needs_approval returns False, True, or a dict with a description", tests: [own] },
    {
      number: "3.7",
      says: "The default description is \"Tool call: name\"",
      differs: "it is name(key='value'), as blocking-wrapper.md has it: who decides has to see with what",
      tests: [here("§ Default needs_approval() Logic: required has a default description")]
    },
    {
      number: "4.1",
      says: "Config overrides the inner logic (option A, recommended)",
      tests: [here("§ Examples: Mixed, the configuration overrides the tool's logic (option A)")]
    },
    {
      number: "4.2",
      says: "Option C: config can only make it stricter",
      tests: [here("§ Open Question, option C: tighten can require approval, and cannot skip it")]
    },
    { number: "5.1", says: "pre_approved keeps working", tests: [here("§ Deprecate pre_approved: the old way")] },
    {
      number: "5.2",
      says: "It is the same as approval: none",
      tests: [here("§ Deprecate pre_approved: the new way is the same")]
    },
    {
      number: "5.3",
      says: "pre_approved emits a deprecation warning at construction",
      tests: [
        here("§ Testing: pre_approved emits a deprecation warning, once at construction, with the lines to write")
      ]
    },
    {
      number: "5.4",
      says: "pre_approved is written over what tool_configs says of the same tool",
      differs: "the stricter word wins: a deprecated list must not open what is said to be asked",
      tests: [inFile("specifications/blocking", "pre_approved does not loosen what is said of the tool elsewhere")]
    },
    {
      number: "6.1",
      says: "Future: once_per_session prompts once, then remembers",
      tests: [
        here("§ Approval Values, future: once_per_session asks"),
        inFile(
          "laws/memory.payload",
          "is what the policy says, the person reads it, and what it does not cover is asked"
        )
      ]
    },
    {
      number: "6.2",
      says: "Future: deny blocks entirely",
      tests: [here("§ Approval Values, future: deny blocks entirely")]
    },
    { number: "7.1", says: "Test: tool_configs required", tests: [here("§ Approval Values: required always asks")] },
    { number: "7.2", says: "Test: tool_configs none", tests: [here("§ Approval Values: none never asks")] },
    {
      number: "7.3",
      says: "Test: missing uses the decorator",
      tests: [here("§ Approval Values: missing uses default logic")]
    },
    {
      number: "7.4",
      says: "Test: config overrides inner needs_approval",
      tests: [here("§ Examples: Mixed, the configuration overrides the tool's logic (option A)")]
    },
    {
      number: "7.5",
      says: "Test: pre_approved has a deprecation warning",
      tests: [
        here("§ Testing: pre_approved emits a deprecation warning, once at construction, with the lines to write")
      ]
    },
    {
      number: "8.1",
      says: "Documentation shows how to migrate",
      tests: [here("§ Deprecate pre_approved: lint says the line to write too")]
    }
  ]
}
