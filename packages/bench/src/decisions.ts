/**
 * What a policy of rules takes for one call, beside writing its parameters as JSON and reading them again: a measure that
 * is the same whatever Assent does. The bounds are what it took at 6b68806, before rules were found by an index; 200 path
 * rules took 250 times the measure then.
 */
import { ApprovalPolicy, Tool } from "@assent/ai"
import type { ApprovalConfig } from "@assent/ai"
import { ApprovalMatcher } from "@assent/shell"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Harness from "./harness.ts"

const Write = Tool.make("write_file", { parameters: { path: Schema.String, content: Schema.String } })
const Run = Tool.make("run", { parameters: { command: Schema.String } })

const write = { path: "src/folder120/ui/Button.tsx", content: "export const Button = () => null" }
const run = { command: "git log -n 5 --oneline" }

const words = ["none", "deny", "required", "once_per_session"] as const

const manyPaths = Array.from({ length: 200 }, (_, index): ApprovalConfig.RuleInput => ({
  path: `src/folder${index}/**`,
  approval: words[index % 4]!
}))
const manyLines = Array.from({ length: 200 }, (_, index): ApprovalConfig.RuleInput => ({
  shell: index === 120 ? "git log *" : `tool${index} run`,
  approval: "none"
}))

const rows: ReadonlyArray<{
  readonly title: string
  readonly tool: Tool.Any
  readonly params: Schema.Json
  readonly rules: ReadonlyArray<ApprovalConfig.RuleInput>
  readonly rest: ApprovalConfig.Value
  readonly expected: string
  readonly operations: number
  readonly bound: number
}> = [
  {
    title: "a path rule that lets it run",
    tool: Write,
    params: write,
    rules: [{ path: "src/**", approval: "none" }],
    rest: "required",
    expected: "PreApproved",
    operations: 100,
    bound: 2
  },
  {
    title: "a path rule that forbids another",
    tool: Write,
    params: write,
    rules: [{ path: "secret/**", approval: "deny" }],
    rest: "required",
    expected: "NeedsApproval",
    operations: 100,
    bound: 2.7
  },
  {
    title: "200 path rules",
    tool: Write,
    params: write,
    rules: manyPaths,
    rest: "required",
    expected: "PreApproved",
    operations: 10,
    bound: 5
  },
  {
    title: "a shell rule that lets it run",
    tool: Run,
    params: run,
    rules: [{ shell: "git log *", approval: "none" }],
    rest: "required",
    expected: "PreApproved",
    operations: 100,
    bound: 7
  },
  {
    title: "a shell rule that forbids another",
    tool: Run,
    params: run,
    rules: [{ shell: "rm *", approval: "deny" }],
    rest: "required",
    expected: "NeedsApproval",
    operations: 100,
    bound: 12
  },
  {
    title: "200 shell rules",
    tool: Run,
    params: run,
    rules: manyLines,
    rest: "required",
    expected: "PreApproved",
    operations: 4,
    bound: 400
  }
]

export const decisions = Effect.gen(function*() {
  for (const { bound, expected, operations, params, rest, rules, title, tool } of rows) {
    const policy = yield* ApprovalPolicy.fromConfig({ [tool.name]: { approval: rest, rules } })
    const call = yield* ApprovalPolicy.makeCall(tool, params)
    const decide = Effect.map(ApprovalPolicy.decide(policy, call, "1 minute"), ({ _tag }) => {
      if (_tag !== expected) throw new Error(`${title}: it is ${_tag} and not ${expected}.`)
    })
    // A rule of a policy is decided by often: what compiles it does not count.
    yield* Effect.replicateEffect(decide, operations * 20, { discard: true })
    yield* Harness.compare(
      { title: `e. A decision by ${title}`, rounds: 60, operations, bound },
      { name: "decision", measure: Harness.timed(Effect.replicateEffect(decide, operations, { discard: true })) },
      {
        name: "JSON, ten times",
        measure: Harness.timed(Effect.sync(() => {
          let length = 0
          for (let i = 0; i < operations * 10; i++) length += JSON.stringify(JSON.parse(JSON.stringify(params))).length
          return length
        }))
      }
    )
  }
}).pipe(Effect.provide(ApprovalMatcher.layer()))
