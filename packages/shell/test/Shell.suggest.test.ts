/** What is offered of a command beside other parameters. */
import { ApprovalMatcher, Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import { lines } from "./ordinary.ts"

const sentences = (params: Record<string, string | boolean | number>): ReadonlyArray<string> =>
  Shell.suggest({ toolName: "Bash", params }).map(({ sentence }) => sentence)

describe("suggest", () => {
  it("offers this call, its commands with the rest as it is, and every call", () => {
    assert.deepStrictEqual(sentences({ command: "git log --oneline", background: false }), [
      "only this call: git log --oneline, background=false",
      "commands that match `git log *`, with background=false as here",
      "every call of Bash, whatever it runs"
    ])
  })

  it("covers no command elsewhere, in another way, or with what was not there", () => {
    const params = { command: "git log", cwd: "src", timeoutMs: 10 }
    const [, offered] = Shell.suggest({ toolName: "Bash", params })
    assert.isTrue(offered!.matcher.covers({ ...params, command: "git log -5" }))
    for (
      const other of [{ cwd: "/tmp" }, { timeoutMs: 11 }, { env: "A=1" }, { cwd: undefined }, { command: "git push" }]
    ) {
      assert.isFalse(offered!.matcher.covers({ ...params, ...other }), JSON.stringify(other))
    }
  })

  it("lets the description of a command be any, and says so", () => {
    const [, sentence] = sentences({ command: "ls", description: "Looks around." })
    assert.strictEqual(sentence, "commands that match `ls *`, with any description")
  })

  it("says what a sentence leaves out", () => {
    const [exact, offered] = Shell.suggest({ toolName: "Bash", params: { command: "git status && ls" } })
    assert.isUndefined(exact!.note)
    assert.strictEqual(offered!.note, "git status and its options; ls and its options; reads git's settings")
  })

  it("offers nothing between for what cannot be read", () => {
    assert.lengthOf(sentences({ command: "npm run build -- --watch & disown" }), 2)
    assert.lengthOf(sentences({ text: "ls" }), 2)
  })

  it("tells of each of many ordinary lines all that it grants, which is the line and what its patterns cover", () => {
    let offered = 0
    for (const { line } of lines) {
      const suggestions = Shell.suggest({ toolName: "Bash", params: { command: line, background: true } })
      for (const { matcher, sentence } of suggestions) {
        assert.isTrue(matcher.covers({ command: line, background: true }), line)
        if (matcher.description._tag !== "Shell") continue
        offered++
        assert.isFalse(matcher.covers({ command: line, background: false }), line)
        const patterns = matcher.description.allowed.map((pattern) =>
          ApprovalMatcher.toSentence(ApprovalMatcher.shell([pattern], { param: "command" }), "Bash").split(
            "matches "
          )[1]!
        )
        for (const pattern of patterns) assert.include(sentence, pattern.slice(1, -1))
      }
    }
    assert.isAtLeast(offered, 250)
  })
})
