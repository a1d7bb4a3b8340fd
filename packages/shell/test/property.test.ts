/** What no table can hold: whatever an allowed command is joined with, and however its words are quoted. */
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Lines from "./lines.ts"

const git = ApprovalMatcher.shell(["git *"], { param: "command" })
const covers = (command: string) => git.covers({ command })

const Line = Schema.Literals(Lines.harmless)

const Other = Schema.Literals([
  "rm -rf ~",
  "sh",
  "A=b",
  "(git log)",
  "{ git log; }",
  "! git log",
  "time git log",
  "env git log",
  "$(git log)",
  "`git log`",
  "$x",
  "> x",
  "git log > x",
  "git log $x",
  "git log <(x)",
  "git log <<EOF\nx\nEOF",
  "git log & git log",
  "git log 'x",
  "if git log; then git log; fi",
  "git() { rm x; }",
  "\u00a0",
  "."
])

const Operator = Schema.Literals([
  "&&",
  "||",
  ";",
  "|",
  "&",
  "|&",
  "\n",
  " && ",
  " ; ",
  " | ",
  "\r\n",
  " \\\n",
  ";;",
  "&&\n",
  " > ",
  " < ",
  " <<< "
])

const Joining = Schema.Literals(["&&", "||", ";", "|", "\n", " && ", " ; ", "\n\n", " |\n", ";\n"])

/** Text as a model may write it: what the shell means something by is met often. */
const Value = Schema.Array(Schema.Literals([
  ..."abz09-_./:=,@%+^~'\"\\$`!#&|;<>(){}[]*? \t\n\u00e9\u4e16",
  "$(",
  "${",
  "\\\n",
  "'\\''"
])).check(Schema.isMaxLength(12))

const runs = { arbitrary: { runs: 1_000, seed: "shell" } }

describe("nothing rides on an allowed command", () => {
  it.prop(
    "whatever it is joined with, and by whatever operator",
    [Line, Operator, Other],
    ([line, operator, other]) => {
      // A comment at the end, or a quote that is still open, would be no joining.
      assert.isFalse(covers(`${line}${operator}${other}`))
      assert.isFalse(covers(`${other}${operator}${line}`))
      assert.isFalse(covers(`${line}\n${other}${operator}${line}`))
    },
    runs
  )

  it.prop(
    "and commands that are each allowed are allowed together",
    [Line, Joining, Line],
    ([one, joining, two]) => {
      // What ends in a newline or begins a pipeline cannot be joined by every operator.
      assert.isTrue(covers(`${one.trim()}${joining}${two.trim()}`))
    },
    runs
  )
})

describe("quotes", () => {
  it.prop("in single quotes every text is one word, and is matched as it is", [Value], ([parts]) => {
    const value = parts.join("")
    const quoted = `'${value.replaceAll("'", "'\\''")}'`
    assert.isTrue(covers(`git log ${quoted}`))
    assert.isTrue(
      ApprovalMatcher.shell([`git log ${quoted}`], { param: "command" }).covers({
        command: `git log ${quoted}`
      })
    )
    assert.isFalse(
      ApprovalMatcher.shell([`git log ${quoted}`], { param: "command" }).covers({
        command: `git log ${quoted}x`
      })
    )
  }, runs)

  it.prop("in double quotes a text without `!` is one word, if what needs it is escaped", [Value], ([parts]) => {
    const value = parts.join("").replaceAll("!", "").replaceAll(/[^\x20-\x7e\n\t]/g, "")
    const quoted = `"${value.replaceAll(/["\\$`]/g, "\\$&")}"`
    assert.isTrue(covers(`git log ${quoted}`), quoted)
    assert.strictEqual(
      ApprovalMatcher.shell([`git log ${quoted}`], { param: "command" }).covers({
        command: `git log '${value.replaceAll("'", "'\\''")}'`
      }),
      true
    )
  }, runs)

  it.prop("any text at all gets an answer", [Schema.String, Value], ([text, parts]) => {
    for (const command of [text, parts.join(""), `git ${text}`, `git ${parts.join("")}`]) {
      assert.isBoolean(covers(command))
      assert.isArray(ApprovalMatcher.shell([command], { param: "command" }).problems)
    }
  }, runs)
})
