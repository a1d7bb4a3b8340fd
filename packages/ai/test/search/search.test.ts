/**
 * Each law over random histories and schedules. All laws are checked on the same plans, each carried out once; a test
 * per law names the law that is broken, with the smallest plan that breaks it. `npm run laws` searches for longer.
 */
import { describeLaws } from "./describe.ts"
import * as Laws from "./laws.ts"
import * as Search from "./search.ts"

const expected: ReadonlyArray<string> = [
  "run of an approved call",
  "run of a call that needs nobody",
  ...["failed", "died", "interrupted", "running"].map((outcome) => `run ${outcome}`),
  ...["failure", "left", "crashed"].map((ending) => `turn ${ending}`),
  ...["Again", "Twice", "Leave", "Crash", "Stop"].map((delivery) => `delivery ${delivery}`),
  ...["Restart", "Policy", "Gate", "Show", "Controller", "Drift", "Time", "Keys", "Scope", "Stop", "Answer", "Store"]
    .map((step) => `step ${step}`),
  ...["Tell", "Memory", "Guarded"].map((step) => `step ${step}`),
  ...["ask", "allow", "block", "failed", "own"].map((said) => `policy said ${said}`),
  ...["approve", "deny", "edit", "misfit", "info", "fail", "die", "garbage"].map((said) => `controller said ${said}`),
  ...["approve for good", "approve once more", "deny for good"].map((said) => `controller said ${said}`),
  ...[
    "runs",
    "denied",
    "expired",
    "invalid",
    "no tools",
    "drifted",
    "void",
    "blocked",
    "held",
    "waits",
    "superseded",
    "kept",
    "fails"
  ].map((fate) => `open request ${fate}`),
  ...[
    "edit parameters",
    "rename tool",
    "rename call",
    "host call",
    "forge request",
    "forge call",
    "bend approval id",
    "launder approval",
    "launder result",
    "repeat approval",
    "contradict answer",
    "flip answer",
    "drop call",
    "drop request",
    "drop results",
    "drop answers",
    "drop message",
    "swap messages",
    "trim",
    "rewind",
    "trust edit"
  ].map((how) => `tampered: ${how}`),
  "told late",
  "told late, and later again",
  "answers that settle nothing",
  "generateObject waits",
  ...["fails", "loses", "full"].map((how) => `store ${how}`),
  ...["requests.get", "requests.decide", "owners.beat"].map((
    method
  ) => `store failed to ${method}`),
  ...["done", "UnknownApproval", "AlreadyDecided"].map((outcome) => `answers were ${outcome}`),
  "a live run was stopped",
  "there was no run to stop",
  ...["foreign", "ours"].flatMap((provider) => [
    `a provider's request reached the program (${provider})`,
    `an approval reached the provider (${provider})`,
    `a denial reached the provider (${provider})`,
    `the policy answered the provider (${provider})`,
    `the controller answered the provider (${provider})`,
    `the policy blocked what was approved (${provider})`
  ]),
  "the provider ran a call",
  "the provider ran a call unasked",
  "approved after it expired",
  "approved in another scope",
  "approved with an unknown key",
  "approved and denied",
  ...["Wait", "Order", "words", "verdict", "timer", "event"].map((what) => `waits: ${what}`),
  "waits again",
  ...["words", "verdict", "timer", "event"].map((kind) => `goes on from: ${kind}`),
  "goes on elsewhere",
  ...["suspended", "succeeded", "failed", "died"].map((outcome) => `resumption ${outcome}`),
  ...["waits", "goes on", "denied", "expired", "drifted", "superseded", "kept"].map((fate) => `what waits ${fate}`),
  ...["done", "UnknownApproval", "InvalidAnswer"].map((outcome) => `told: ${outcome}`),
  "cancelled: done",
  "what waits is answered in the history",
  "what waits is denied in the history",
  "what waits is answered in a history that was tampered with",
  ...["conversation", "guard"].flatMap((within) => [
    `guarded within ${within} ran`,
    `guarded within ${within} did not run`
  ]),
  "nested turn success",
  "nested turn failure",
  "nested turn left",
  "nested turn asks",
  "nested run succeeded",
  "nested run failed",
  ...["approved", "denied"].flatMap((decision) => [
    `remembered as ${decision} inline`,
    `remembered as ${decision} in the history`
  ]),
  "remembered for one use",
  "run by what is remembered"
]

describeLaws("laws over random histories", {
  search: Search,
  laws: Laws.laws,
  // Of forty seeds.
  few: [0, 3, 7, 22, 26],
  plansOfSeed: 100,
  expected,
  timeout: 160_000
})
