/** What differs from the specifications on purpose, as the README has it. */
import { asyncCallbacks } from "./asyncCallbacks.ts"
import { blockingWrapper } from "./blockingWrapper.ts"
import { configApproval } from "./configApproval.ts"
import type { Specification } from "./requirement.ts"
import { suspendResume } from "./suspendResume.ts"
import { toolApprovalProtocol } from "./toolApprovalProtocol.ts"

export const specifications: ReadonlyArray<Specification> = [
  toolApprovalProtocol,
  configApproval,
  blockingWrapper,
  asyncCallbacks,
  suspendResume
]

export const begin = "<!-- differences:begin -->"

export const end = "<!-- differences:end -->"

/** The list between the two markers: one line for each difference, with the file of its first test. */
export const toMarkdown = (): string =>
  specifications.flatMap(({ name, requirements }) => [
    `- \`${name}\``,
    ...requirements.flatMap(({ differs, says, tests }) =>
      differs === undefined ? [] : [`  - It says: ${says}. Here ${differs}. (\`${tests[0]?.file}\`)`]
    )
  ]).join("\n")
