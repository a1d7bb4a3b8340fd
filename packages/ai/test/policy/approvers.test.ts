/**
 * Of two policies that name approvers, one person of each list is needed: whoever would satisfy both satisfies what they
 * come to together, and nobody else does. Every set of lists of three people, against every set of people who say yes.
 */
import { assert, describe, it } from "@effect/vitest"
import { Approval, ApprovalPolicy, Approver } from "../../src/index.ts"

const people = ["ada", "bob", "cy"] as const

const subsets = <A>(of: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  of.reduce<ReadonlyArray<ReadonlyArray<A>>>((sets, one) => [...sets, ...sets.map((set) => [...set, one])], [[]])

const lists = subsets(people).filter(({ length }) => length > 0)

/** Nobody in particular, one list, and two. */
const named: ReadonlyArray<Approver.Approvers | undefined> = [
  undefined,
  ...lists,
  ...lists.flatMap((one) => lists.map((other) => [one, other]))
]

const asks = (approvers: Approver.Approvers | undefined): Approval.ApprovalResult =>
  Approval.needsApproval(approvers === undefined ? {} : { approvers })

const isEnough = (result: Approval.ApprovalResult, saying: ReadonlyArray<string>): boolean =>
  result._tag === "NeedsApproval" &&
  Approver.lists(result.approvers).every((ids) => ids.some((id) => saying.includes(id)))

const enough = (result: Approval.ApprovalResult): string =>
  subsets(people).filter((saying) => isEnough(result, saying)).map(String).join(" | ")

const both = (self: Approval.ApprovalResult, that: Approval.ApprovalResult): string =>
  subsets(people).filter((saying) => isEnough(self, saying) && isEnough(that, saying)).map(String).join(" | ")

describe("L16 the approvers of two policies", () => {
  it("L16 who is enough for both is enough, and nobody else", () => {
    const wrong: Array<string> = []
    for (const one of named) {
      for (const other of named) {
        const joined = ApprovalPolicy.strictest(asks(one), asks(other))
        if (enough(joined) !== both(asks(one), asks(other))) {
          wrong.push(`${JSON.stringify([one, other])}: ${enough(joined)}`)
        }
      }
    }
    assert.deepStrictEqual(wrong, [])
  })

  it("L16 of three policies it makes no difference which come together first", () => {
    const wrong: Array<string> = []
    const some = [undefined, ...lists, [["ada"], ["bob", "cy"]]]
    for (const one of some) {
      for (const two of some) {
        for (const three of some) {
          const [a, b, c] = [asks(one), asks(two), asks(three)]
          const left = ApprovalPolicy.strictest(ApprovalPolicy.strictest(a, b), c)
          const right = ApprovalPolicy.strictest(a, ApprovalPolicy.strictest(b, c))
          if (enough(left) !== enough(right)) wrong.push(JSON.stringify([one, two, three]))
        }
      }
    }
    assert.deepStrictEqual(wrong, [])
  })

  it("L16 a list of nobody is satisfied by nobody, beside any other", () => {
    for (const one of named) {
      for (
        const result of [ApprovalPolicy.strictest(asks(one), asks([])), ApprovalPolicy.strictest(asks([]), asks(one))]
      ) {
        assert.strictEqual(enough(result), "")
      }
    }
  })
})
