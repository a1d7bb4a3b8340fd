/**
 * Random command lines, made so that many of them are covered by `git *`, and as many nearly so.
 */
import { ApprovalMatcher } from "@assent/shell"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What is known of git covers too few of random lines: trusted whole, its words may be any. */
const git = ApprovalMatcher.shell(["git *"], { param: "command", trust: ["git"] })

/** Whether the line may run, with git trusted whole. */
export const isCovered = (line: string): boolean => git.covers({ command: line })

/** Fragments of which many lines are covered, and as many nearly so. */
const Fragment = Schema.Literals([
  "git ",
  "git log ",
  "git show ",
  "git ",
  "git add ",
  "-n ",
  "3 ",
  "a.txt ",
  "HEAD~2 ",
  "HEAD^ ",
  "x=y ",
  "'",
  "'",
  "\"",
  "\"",
  "\\",
  " ",
  " ",
  "\n",
  "\t",
  "&& git ",
  "|| git ",
  "; git ",
  "| git ",
  "\ngit ",
  "&",
  "|",
  ";",
  "&&\n git ",
  "2>&1 ",
  ">/dev/null ",
  "> /dev/null ",
  "2>/dev/null ",
  "&>/dev/null ",
  ">&2 ",
  "</dev/null ",
  ">x ",
  "<x ",
  "$x",
  "$(x)",
  "`x`",
  "*",
  "?",
  "~",
  "~root ",
  "{a,b}",
  "!",
  "#",
  " # ",
  "=",
  "^",
  "%",
  "@",
  ":",
  "(",
  ")",
  "[",
  "]",
  "if ",
  "then ",
  "fi ",
  "time ",
  "{ ",
  "{} ",
  "} ",
  "A=b ",
  "echo ",
  "cd / ",
  "touch x ",
  "\u00e9",
  "\\\n",
  "\\'",
  "\\\""
])
const Soup = Schema.Array(Fragment).check(Schema.isMinLength(2), Schema.isMaxLength(14))

/** `count` lines, the same for the same seed; some of them are the same line. */
export const lines = (seed: string, count: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    Effect.orDie(Arbitrary.sampleEffect(Arbitrary.schema(Soup), { count: Math.ceil(count / 2), seed, size: 14 })),
    (soups) => soups.flatMap((parts) => [parts.join(""), `git ${parts.join("")}`]).slice(0, count)
  )
