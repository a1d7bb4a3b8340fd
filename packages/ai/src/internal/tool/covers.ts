/**
 * Which parameters a presentation shows to the byte, so that whoever draws it may leave them out (law L4). Who makes a
 * presentation claims it; what counts is what is made here of just what is drawn, and of the file as it was read.
 */
import * as Approval from "../../Approval.ts"
import * as Origins from "../seal/origins.ts"
import * as Text from "../text.ts"
import type * as Prepare from "./prepare.ts"

/** More is cut, and the cut is said. */
export const maxContentLength = 100_000

// What was proved of a presentation cannot be said by it.
const proofs = new WeakSet<Approval.ApprovalPresentation>()

const isProved = (presentation: Approval.ApprovalPresentation): boolean =>
  presentation.covers === undefined || proofs.has(presentation)

const without = ({ covers: _, ...rest }: Approval.ApprovalPresentation): Approval.ApprovalPresentation =>
  new Approval.ApprovalPresentation(rest)

/** The presentation without a claim that nobody has proved. */
export const onlyProved = (presentation: Approval.ApprovalPresentation): Approval.ApprovalPresentation =>
  isProved(presentation) ? presentation : without(presentation)

/** Another form of what was proved, in which the content is the same. */
export const proved = (
  from: Approval.ApprovalPresentation,
  presentation: Approval.ApprovalPresentation
): Approval.ApprovalPresentation => {
  if (from.covers === undefined) return presentation
  if (!proofs.has(from)) return without(presentation)
  proofs.add(presentation)
  return presentation
}

/**
 * What was said of a call, with only those claims of its presentation that are true. What a file has counts if it was read
 * since the moment in which it was begun to be asked: one that was kept says nothing of the file as it is now.
 */
export const prove = (
  result: Approval.ApprovalResult,
  { encoded: params }: Pick<Prepare.Prepared, "encoded">,
  since: number
): Approval.ApprovalResult => {
  if (result._tag !== "NeedsApproval" || result.presentation?.covers === undefined) return result
  const { presentation } = result
  const names = namesOf(presentation, params, since)
  if (names.length === 0) return new Approval.NeedsApproval({ ...result, presentation: without(presentation) })
  const shown = new Approval.ApprovalPresentation({ ...presentation, covers: names })
  proofs.add(shown)
  return new Approval.NeedsApproval({ ...result, presentation: shown })
}

const namesOf = (
  presentation: Approval.ApprovalPresentation,
  params: Prepare.Prepared["encoded"],
  since: number
): ReadonlyArray<string> => {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return []
  const texts = new Map(
    Object.entries(params).flatMap(([name, value]) => typeof value === "string" ? [[name, value]] : [])
  )
  // Of what is empty there is nothing to be left out.
  const claimed = [...new Set(presentation.covers)].filter((name) => (texts.get(name) ?? "") !== "")
  if (claimed.length === 0) return []
  const origin = presentation.type === "diff" ? Origins.of(presentation) : undefined
  const text = textOf(presentation, origin !== undefined && origin.since > since ? origin : undefined)
  return claimed.filter((name) =>
    texts.get(name) === text &&
    // The file is the one that the call names, and not another one of which the diff is true.
    (origin === undefined || [...texts].some(([other, value]) => other !== name && value === origin.path))
  )
}

/** What is drawn stands for this text, if it is drawn as it is: without an escape, and to the end. */
const textOf = (
  { content, type }: Approval.ApprovalPresentation,
  origin: Origins.Origin | undefined
): string | undefined => {
  if (type === "structured" || Text.escape(content, { maxLength: maxContentLength, multiline: true }) !== content) {
    return undefined
  }
  return type !== "diff"
    ? content
    : origin === undefined
    ? undefined
    : Origins.textOf(content, origin)
}
