/** What no table can hold: a forbidden command within any line, spelled in any way. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Forbidding from "../../src/internal/forbidding/forbidding.ts"
import * as Lines from "../lines.ts"
import * as Ordinary from "../ordinary.ts"

const runs = { arbitrary: { runs: 300, seed: "forbidding" } }

const rm = Forbidding.make(["rm *"])
const push = Forbidding.make(["git push --force *"])

const Letter = Schema.Literals(["", "\"\"", "''", "\\", "\\\n", "$1", "${a}", "$()", "``", "$@"])
const Around = Schema.Literals(["", "'", "\""])
const Folder = Schema.Literals(["", "/bin/", "./", "$HOME/", "~/bin/", "\"$a\"/", "../x/", "/usr/*/"])
const Before = Schema.Literals([
  "",
  "sudo ",
  "sudo -u ada ",
  "env A=b ",
  "exec -a ls ",
  "command ",
  "nohup nice -n 5 ",
  "timeout 5 ",
  "ls | xargs ",
  "A=b ",
  "find . -exec ",
  "! ",
  "time ",
  "ls; ",
  "(",
  "{ ",
  "if ",
  "echo $(",
  "echo \"`",
  "cat <(",
  "f() { ",
  ">/dev/null ",
  "mytool ",
  "git bisect run ",
  "busybox "
])
const Line = Schema.Literals(Ordinary.lines.map(({ line }) => line).filter((line) => !line.endsWith("EOF\n)\"")))

/** Closes what was opened. */
const after: { readonly [before: string]: string } = {
  "(": ")",
  "{ ": "; }",
  "if ": "; then :; fi",
  "echo $(": ")",
  "echo \"`": "`\"",
  "cat <(": ")",
  "f() { ": "; }; f"
}

describe("a forbidden command is seen", () => {
  it.prop(
    "however its name is spelled and whatever stands before it",
    [Before, Folder, Around, Letter, Letter],
    ([before, folder, around, first, second]) => {
      // What means nothing within quotes would be another name, and backquotes would end others.
      const inside = (letter: string): string => around === "\"" && /["'\\]/.test(letter) ? "" : letter
      if (before === "echo \"`" && (around === "\"" || first === "``" || second === "``")) return
      const name = around === "'" ? `'r'${second}'m'` : `${around}${inside(first)}r${inside(second)}m${around}`
      const line = `${before}${folder}${name} x${after[before] ?? ""}`
      assert.isDefined(rm(line), line)
    },
    runs
  )

  it.prop(
    "wherever it stands between ordinary lines",
    [Line, Schema.Literals([" && ", "; ", "\n", " || ", " & "]), Line],
    ([one, joining, two]) => {
      for (const command of ["r\"\"m -rf x", "$a x", "bash -c 'x'"]) {
        // What ends in a document or runs in the background cannot be joined by every operator.
        const lines = [`${command}${joining}${one}`, `${one}\n${command}`, `${one}\n${command}${joining}${two}`]
        for (const line of lines) assert.isDefined(rm(line), line)
      }
    },
    runs
  )

  it.prop(
    "whatever the order of its words",
    [
      Schema.Literals(["-f", "--force", "--forc", "-uf", "+main", "--force-with-lease", "$x", "\"-f\"", "-\\f"]),
      Schema.Literals(["origin", "", "-u", "--tags", "-o ci.skip", "HEAD:main"]),
      Schema.Literals(["", "-C x", "--no-pager", "-c user.name=a", "--git-dir=x", "--work-tree x", "-p"]),
      Schema.Literals([true, false])
    ],
    ([force, other, global, isFirst]) => {
      const rest = isFirst ? `${force} ${other}` : `${other} ${force}`
      assert.isDefined(push(`git ${global} push ${rest}`))
      assert.isUndefined(push(`git ${global} push ${other}`))
    },
    runs
  )
})

describe("any pattern and any line", () => {
  const Text = Schema.Array(Schema.Literals([
    ..."abrm-_./:=,@%+^~'\"\\$`!#&|;<>(){}[]*? \t\n\u00e9\u4e16\uff52",
    "$(",
    "${",
    "$((",
    "<<A\n",
    "git ",
    "xargs ",
    "sed ",
    "awk ",
    "env ",
    "-c ",
    "bash ",
    " | "
  ])).check(Schema.isMaxLength(16))

  it.prop("get an answer, and no error", [Text, Text, Schema.String], ([pattern, line, text]) => {
    for (const one of [pattern.join(""), text]) {
      const why = Forbidding.make([one])
      for (const other of [line.join(""), text, `git ${line.join("")}`]) {
        assert.include(["undefined", "object"], typeof why(other))
      }
    }
  }, runs)

  it("a line is what itself forbids, and what `git *` allows is what `git *` forbids", () => {
    const git = Forbidding.make(["git *"])
    assert.deepStrictEqual(Lines.harmless.filter((line) => git(line) === undefined), [])
    const lines = Ordinary.lines.map(({ line }) => line)
    assert.deepStrictEqual(lines.filter((line) => Forbidding.make([line])(line) === undefined), [])
  })

  it("no pattern forbids nothing", () => {
    assert.isUndefined(Forbidding.make([])("ls"))
  })
})
