/** What no table can hold: whatever an allowed command is joined with, and however its words are quoted. */
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as CommandLine from "../src/internal/line/commandLine.ts"
import * as Lines from "./lines.ts"

const git = ApprovalMatcher.shell(["git *"], { param: "command" })
const covers = (command: string) => git.covers({ command })

/** Without an escaped quote, which closes one that is open in what stands before. */
const Line = Schema.Literals(Lines.reading.filter((line) => !line.includes("\\'")))

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

const runs = { arbitrary: { runs: 500, seed: "shell" } }

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
  const echo = ApprovalMatcher.shell(["echo *"], { param: "command" })
  const echoes = (command: string) => echo.covers({ command })

  it.prop("in single quotes every text is one word, and is matched as it is", [Value], ([parts]) => {
    const value = parts.join("")
    const quoted = `'${value.replaceAll("'", "'\\''")}'`
    assert.isTrue(echoes(`echo ${quoted}`))
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
    assert.isTrue(echoes(`echo ${quoted}`), quoted)
    assert.strictEqual(
      ApprovalMatcher.shell([`git log ${quoted}`], { param: "command" }).covers({
        command: `git log '${value.replaceAll("'", "'\\''")}'`
      }),
      true
    )
  }, runs)

  it.prop(
    "what is covered stays covered in other quotes",
    [Line, Schema.Array(Schema.Literals(["plain", "single", "double", "split"])).check(Schema.isMinLength(1))],
    ([line, ways]) => {
      const pieces = CommandLine.read(line)!
      let index = 0
      const again = pieces.map(({ operator, words }) =>
        ` ${operator} ${words.map((word) => requote(word, ways[index++ % ways.length]!)).join(" ")}`
      ).join("")
      assert.deepStrictEqual(CommandLine.read(again)?.map(({ words }) => words), pieces.map(({ words }) => words))
      assert.isTrue(covers(again), again)
    },
    runs
  )

  it.prop("any text at all gets an answer", [Schema.String, Value], ([text, parts]) => {
    for (const command of [text, parts.join(""), `git ${text}`, `git ${parts.join("")}`]) {
      assert.isBoolean(covers(command))
      assert.isArray(ApprovalMatcher.shell([command], { param: "command" }).problems)
    }
  }, runs)
})

const requote = (word: string, way: "plain" | "single" | "double" | "split"): string => {
  const single = `'${word.replaceAll("'", "'\\''")}'`
  if (way === "plain" && /^[\w./:,-]+$/.test(word)) return word
  if (way === "double" && !/[!$`]|[^\x20-\x7e]/.test(word)) return `"${word.replaceAll(/["\\]/g, "\\$&")}"`
  return way === "split" && /^\w\w/.test(word) ? `${word[0]}${requote(word.slice(1), "single")}` : single
}
