import { ApprovalMatcher } from "@assent/shell"

// A person was asked about `git status`, and said: any git command, for the rest of the session.
const matcher = ApprovalMatcher.shell(["git *", "head -n *"], { param: "command" })

console.log(ApprovalMatcher.toSentence(matcher, "Bash"))

for (
  const command of [
    "git log --oneline 2>/dev/null | head -n 5",
    "git status && rm -rf ~",
    "git log $(rm -rf ~)",
    "GIT_PAGER='rm -rf ~' git log",
    "git -c alias.x='!rm -rf ~' x"
  ]
) {
  console.log(matcher.covers({ command }) ? "runs  " : "asked ", command)
}
