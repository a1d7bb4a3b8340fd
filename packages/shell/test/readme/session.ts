import { ApprovalMatcher, Shell } from "@assent/shell"

// What a person allowed for this session: programs that only read, git commands that only read, and `npm test`.
const patterns = ["*", "git *", "npm test"]
const matcher = ApprovalMatcher.shell(patterns, { param: "command" })

console.log(ApprovalMatcher.toSentence(matcher, "Bash"))

for (
  const command of [
    "git log --oneline 2>/dev/null | head -n 5",
    "grep -rn TODO src && npm test",
    "git add src",
    "git log --output=/etc/passwd",
    "find . -delete",
    "cat ../.ssh/id_rsa",
    "npm run deploy",
    "git status; $(rm -rf ~)"
  ]
) {
  const [refusal] = Shell.explain(command, patterns).refusals
  console.log(matcher.covers({ command }) ? `runs   ${command}` : `asked  ${refusal?.message}`)
}

console.log("offered", Shell.suggestPatterns("git diff --stat | tail -1")?.patterns)
