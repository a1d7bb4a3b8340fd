/** Which of three hundred ordinary lines a rule that forbids refuses, each with its reason. */
import { assert, describe, it } from "@effect/vitest"
import * as Forbidding from "../../src/internal/forbidding/forbidding.ts"
import * as Ordinary from "../ordinary.ts"

/** Refused whatever is forbidden: who can tell what a text does. */
const texts: ReadonlyArray<readonly [line: string, tag: Forbidding.Reason["_tag"]]> = [
  ["node -e \"console.log(require('./package.json').version)\"", "Text"],
  ["python3 -c \"import sys; print(sys.path)\"", "Text"],
  ["python3 - <<'EOF'\nimport json\nprint(len(json.load(open('report.json'))))\nEOF", "Text"]
]

const expected: ReadonlyArray<
  readonly [pattern: string, refused: ReadonlyArray<readonly [line: string, tag: Forbidding.Reason["_tag"]]>]
> = [
  ["rm *", [
    ["grep -A5 -B5 \"rm -rf\" scripts/clean.sh", "Named"],
    ["git rm --cached .env", "Named"],
    ["rm src/placeholder.test.ts", "Named"],
    ["rm -rf dist", "Named"],
    ["rm -rf node_modules package-lock.json && npm install", "Named"],
    ["rm -f /tmp/test-output.txt", "Named"],
    // The same act in other words, which is known: see `acts.ts`.
    ["find . -name '*.pyc' -delete", "Same"],
    ["find . -name '__pycache__' -type d -exec rm -rf {} +", "Named"]
  ]],
  ["git push *", [
    ["git push -u origin fix/confirm-dialog", "Named"],
    ["git push origin HEAD 2>&1 | tail -5", "Named"]
  ]],
  ["git push --force *", []],
  ["curl *", [
    ["curl -s http://localhost:3000/health", "Named"],
    ["curl -sL https://registry.npmjs.org/zod/latest | jq .version", "Named"],
    ["curl -X POST localhost:8080/api/login -H 'Content-Type: application/json' -d '{\"user\":\"a\"}'", "Named"]
  ]],
  ["npm publish *", []],
  ["npm install *", [
    ["rm -rf node_modules package-lock.json && npm install", "Named"],
    ["npm install", "Named"],
    ["npm install --save-dev vitest @vitest/coverage-v8", "Named"]
  ]],
  // A word of its own, wherever it stands: whoever forbids what is an ordinary word pays for it.
  ["format *", [
    ["npm run format", "Named"],
    ["uv run pytest -k \"format\"", "Named"],
    ["find src -iname '*format*'", "Named"],
    ["git add . && git commit -m \"Fix the date format\"", "Named"],
    ["git log --pretty=format:\"%h %ad %an %s\" --date=short -15", "Named"],
    ["gh pr create --title \"Fix the date format\" --body \"Closes #41\"", "Named"]
  ]],
  ["sudo *", []]
]

describe.each(expected)("of three hundred ordinary lines `%s` refuses", (pattern, refused) => {
  it("what is listed, for its reason, and nothing else", () => {
    const why = Forbidding.make([pattern])
    const found = Ordinary.lines.flatMap(({ line }) => {
      const reason = why(line)
      return reason === undefined ? [] : [[line, reason._tag] as const]
    })
    const sorted = (rows: ReadonlyArray<readonly [string, string]>) => rows.map((row) => JSON.stringify(row)).toSorted()
    assert.deepStrictEqual(sorted(found), sorted([...refused, ...texts]))
  })
})

describe("why a line is refused", () => {
  it.each<readonly [line: string, tag: Forbidding.Reason["_tag"]]>([
    ["rm x", "Named"],
    ["find . -delete", "Same"],
    ["bash -c \"$x\"", "Text"],
    ["$program x", "Unknown"],
    ["echo 'x", "Unreadable"]
  ])("%s: %s", (line, tag) => {
    assert.strictEqual(Forbidding.make(["rm *"])(line)?._tag, tag)
  })
})

describe("the lines", () => {
  it("hold letters of `rm` in other words, of which none is refused", () => {
    const letters = Ordinary.lines.filter(({ line }) => /[a-z]rm|rm[a-z-]/i.test(line) && !/\brm\s/.test(line))
    assert.isAtLeast(letters.length, 15)
    const why = Forbidding.make(["rm *"])
    assert.deepStrictEqual(letters.filter(({ line }) => why(line) !== undefined), [])
  })
})
