/** What no table can hold: wherever a word that is not known stands among those that are, the line is not covered. */
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { programs } from "../src/internal/programs/all.ts"
import { type Command, entriesOf, type Kind } from "../src/internal/programs/program.ts"

interface Named {
  readonly name: string
  readonly command: Command
}

const commands: ReadonlyArray<Named> = programs.flatMap(({ command, commands, program }) => [
  ...(command === undefined ? [] : [{ name: program, command }]),
  ...Object.entries(commands ?? {}).map(([subcommand, command]) => ({ name: `${program} ${subcommand}`, command }))
]).filter(({ command }) => command.noOptions !== true && command.optionsFirst !== true)

/** A word of the kind, quoted. */
const sample = (kind: Kind): string => {
  if (typeof kind === "string") {
    const samples = {
      path: "src/a.ts",
      revision: "HEAD~1",
      text: "'a b'",
      glob: "'*.ts'",
      number: "3",
      sedScript: "1,5p",
      jqFilter: ".a",
      awkProgram: "'{print $1}'"
    }
    return samples[kind]
  }
  if ("oneOf" in kind) return entriesOf(kind.oneOf)[0]!
  const found = [
    "1",
    "1,3",
    "+5",
    "AM",
    "f",
    "644",
    "ts",
    "a",
    "+%F",
    "iso",
    "1,3:a.ts",
    "%h",
    "a.tar",
    "u+x",
    "refname",
    "+1k",
    "x1"
  ]
    .find((text) => kind.like.test(text))
  assert.isDefined(found, String(kind.like))
  return found
}

/** Everything that may stand after the name, of which a line draws some. */
const wordsOf = ({ command }: Named): ReadonlyArray<string> => [
  ...entriesOf(command.flags),
  ...Object.entries(command.values ?? {}).flatMap(([options, kind]) =>
    entriesOf(options).flatMap((option) => [
      `${option} ${sample(kind)}`,
      option.startsWith("--") ? `${option}=${sample(kind)}` : `${option}${sample(kind)}`
    ])
  ),
  ...(command.operands ?? []).map(([kind]) => sample(kind))
]

/** No program of the table has one of these, in any of its commands. */
const unknown = ["--zz", "--output=/x", "--exec-path=x", "--zz=1", "-@", "--no-such", "-=x", "--pre=x"]

const Draw = Schema.Struct({
  command: Schema.Literals(commands.map((_, index) => index)),
  words: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))).check(Schema.isMaxLength(4)),
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
  strange: Schema.Literals(unknown)
})

const everything = ApprovalMatcher.shell(["*", ...commands.map(({ name }) => `${name} *`)], { param: "command" })

const lineOf = (named: Named, words: ReadonlyArray<string>): string => {
  const { command, name } = named
  const needed = entriesOf(command.needs)[0]
  const value = Object.entries(command.values ?? {}).find(([options]) => entriesOf(options).includes(needed ?? ""))?.[1]
  const operands = (command.operands ?? []).filter(([, count]) => count === "one").map(([kind]) => sample(kind))
  return [
    name,
    ...(needed === undefined ? [] : [needed]),
    ...(value === undefined ? [] : [sample(value)]),
    ...words,
    ...operands
  ]
    .join(" ")
}

describe("random words of programs that are known", () => {
  let covered = 0
  let drawn = 0

  it.prop("with one that is not known are not covered", [Draw], ([{ at, command, strange, words }]) => {
    const named = commands[command]!
    const known = wordsOf(named)
    const drawnWords = known.length === 0 ? [] : words.map((index) => known[index % known.length]!)
    const line = lineOf(named, drawnWords)
    drawn++
    if (everything.covers({ command: line })) covered++
    const place = Math.min(at, drawnWords.length)
    const strangely = lineOf(named, [...drawnWords.slice(0, place), strange, ...drawnWords.slice(place)])
    assert.isFalse(everything.covers({ command: strangely }), strangely)
  }, { arbitrary: { runs: 3_000, seed: "known" } })

  it("are covered without it, mostly", () => {
    assert.isAtLeast(covered / drawn, 0.5, `${covered} of ${drawn}`)
  })
})
