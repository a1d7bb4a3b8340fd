/** What the laws say becomes of a call in a nesting: L1, L3, L11 and L16, and nothing of how the engine does it. */
import * as N from "./nestings.ts"

type Lists = ReadonlyArray<ReadonlyArray<N.By>>

/** Of each list one person is needed, where the word asks for somebody's; nobody in particular, without a list. */
const listsOf: Readonly<Partial<Record<N.Word, Lists>>> = {
  ada: [["ada"]],
  bob: [["bob"]],
  either: [["ada", "bob"]],
  both: [["ada"], ["bob"]]
}

/** From what lets the most run to what lets nothing run. */
const order = ["run", "ask", "fail", "block"] as const
type Verdict = (typeof order)[number]

const verdictOf = (word: N.Word, gated: boolean): Verdict => {
  switch (word) {
    case "allow":
      return "run"
    case "none":
    case "silent":
      return gated ? "ask" : "run"
    case "block":
    case "fail":
      return word
    default:
      return "ask"
  }
}

interface Judged {
  readonly verdict: Verdict
  readonly lists: Lists
  /** Who may not decide, because it is for them. */
  readonly requester: N.By | undefined
  readonly namesPeople: boolean
}

/** What the policies come to together (law L11): the strictest word, and one person of each list that any of them names. */
const judge = ({ gated, levels }: N.World): Judged => {
  const named = levels.flatMap(({ policy }) => policy === "none" ? [] : [policy])
  const verdicts = (named.length === 0 ? ["none" as const] : named).map((word) => verdictOf(word, gated))
  const verdict = order.findLast((one) => verdicts.includes(one))!
  // What failed names nobody: then any denial counts, and no approval (law L1).
  const lists = verdict === "ask" ? named.flatMap((word) => listsOf[word] ?? []) : []
  const isSelfExcluded = verdict === "ask" && named.includes("other")
  return {
    verdict,
    lists,
    requester: isSelfExcluded ? N.requester : undefined,
    namesPeople: lists.length > 0 || isSelfExcluded
  }
}

const isSomebody = ({ who }: N.Level): boolean => who === "yes" || who === "no" || who === "deferred"

/** Whether this person's word is of any use to it (law L16). */
export const mayDecide = (world: N.World, by: N.By): boolean => {
  const { lists, namesPeople, requester } = judge(world)
  if (!namesPeople) return true
  return by !== "nobody" && by !== requester && (lists.length === 0 || lists.some((ids) => ids.includes(by)))
}

/** What an approval that counts comes to, beside those that were given before. */
const approved = (lists: Lists, given: ReadonlySet<N.By>): N.End =>
  lists.every((ids) => ids.some((id) => given.has(id))) ? "ran" : "open"

export interface Expected {
  readonly end: N.End
  readonly asked: ReadonlyArray<number>
  /** Nothing that anybody said changes anything. */
  readonly isUnchanged: boolean
}

/** What becomes of the call where it is made. */
const begun = (world: N.World, given: Set<N.By>): Expected => {
  const { levels } = world
  const { lists, namesPeople, verdict } = judge(world)
  const at = levels.findIndex(isSomebody)
  const ends = (end: N.End, asked: ReadonlyArray<number> = []): Expected => ({
    end,
    asked,
    isUnchanged: end === "open"
  })
  if (verdict === "run") return ends("ran")
  if (verdict === "block" || levels.some(({ who }) => who === "strict")) return ends("refused")
  if (at < 0) {
    const isYes = levels.some(({ who }) => who === "approveAll") && verdict === "ask" && !namesPeople
    return ends(isYes ? "ran" : "open")
  }
  const { by, who } = levels[at]!
  if (who === "deferred") return ends("open")
  if (!mayDecide(world, by)) return ends("open", [at])
  if (who === "no") return ends("refused", [at])
  if (verdict === "fail") return ends("open", [at])
  given.add(by)
  return { end: approved(lists, given), asked: [at], isUnchanged: false }
}

/** What becomes of it then, by each who decides later. */
export const expect = (world: N.World): ReadonlyArray<Expected> => {
  const { lists, verdict } = judge(world)
  const given = new Set<N.By>()
  const first = begun(world, given)
  const moments = [first]
  let { end } = first
  for (const { by, says } of world.later) {
    const person = world.way === "conversation" ? by : "nobody"
    if (end !== "open") {
      moments.push({ end, asked: [], isUnchanged: true })
    } else if (!mayDecide(world, person)) {
      moments.push({ end, asked: [], isUnchanged: true })
    } else if (says === "no") {
      end = "refused"
      moments.push({ end, asked: [], isUnchanged: false })
    } else if (verdict === "fail") {
      moments.push({ end, asked: [], isUnchanged: false })
    } else {
      given.add(person)
      end = approved(lists, given)
      moments.push({ end, asked: [], isUnchanged: false })
    }
  }
  return moments
}
