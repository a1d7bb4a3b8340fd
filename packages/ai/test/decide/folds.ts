/** How levels become one: as the engine folds them, and in every wrong way that somebody could come to write. */
import { Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy } from "../../src/index.ts"
import * as Asking from "../../src/internal/asking/asking.ts"
import * as Levels from "../../src/internal/asking/levels.ts"
import { decide } from "../../src/internal/decide/table.ts"
import * as Policies from "../../src/internal/policy/service.ts"
import type { Decide } from "./walk.ts"

export interface Fold {
  readonly policiesOf: typeof Levels.policiesOf
  readonly join: typeof Policies.join
  readonly innermost: typeof Levels.innermost
  readonly decide: Decide
}

export const fold: Fold = {
  policiesOf: Levels.policiesOf,
  join: Policies.join,
  innermost: Levels.innermost,
  decide
}

export interface Wrong {
  readonly name: string
  readonly fold: Fold
}

// =============================================================================
// Which policies have a word
// =============================================================================

type Select = (policies: ReadonlyArray<unknown>) => ReadonlyArray<unknown>

const selecting: Readonly<Record<string, Select>> = {
  "only the innermost policy has a word": (policies) => policies.slice(0, 1),
  "only the outermost policy has a word": (policies) => policies.slice(-1),
  "no policy has a word": () => []
}

// =============================================================================
// How they are one
// =============================================================================

type Said = Approval.ApprovalResult | undefined

type Both = (self: Said, that: Said, own: Effect.Effect<Said, unknown>) => Said | Effect.Effect<Said, unknown>

const isFailed = (said: Said | "failed"): said is "failed" => said === "failed"

/** Of two policies, one of which may have failed. */
const byFailing =
  (both: (self: Said | "failed", that: Said | "failed") => Said | Effect.Effect<Said, unknown>) =>
  (self: ApprovalPolicy.Service, that: ApprovalPolicy.Service): ApprovalPolicy.Service => ({
    decide: (call) =>
      Effect.gen(function*() {
        const says = (policy: ApprovalPolicy.Service) =>
          Effect.catchCause(Policies.said(policy, call), () => Effect.succeed("failed" as const))
        const joined = both(yield* says(self), yield* says(that))
        return Effect.isEffect(joined) ? yield* joined : joined
      })
  })

const by = (both: Both) => (self: ApprovalPolicy.Service, that: ApprovalPolicy.Service): ApprovalPolicy.Service => ({
  decide: (call) =>
    Effect.gen(function*() {
      const joined = both(
        yield* Policies.said(self, call),
        yield* Policies.said(that, call),
        Policies.own(call).says
      )
      return Effect.isEffect(joined) ? yield* joined : joined
    })
})

const order = ["PreApproved", "NeedsApproval", "Blocked"]

const milder = (self: Approval.ApprovalResult, that: Approval.ApprovalResult): Approval.ApprovalResult =>
  order.indexOf(self._tag) <= order.indexOf(that._tag) ? self : that

const stricter = (self: Said, that: Said): Said =>
  self === undefined || that === undefined ? self ?? that : ApprovalPolicy.strictest(self, that)

const failed = Effect.fail("failed")

const asking = Approval.needsApproval({})

const editing = (self: Said, that: Said): boolean =>
  [self, that].some((said) => said?._tag === "NeedsApproval" && said.editable === true)

/** The strictest word, but editing it is let by `edits` alone. */
const byEditing = (edits: (self: Said, that: Said) => boolean) =>
  by((self, that, own) =>
    Effect.map(own, (own) => {
      const said = self === undefined || that === undefined ? stricter(stricter(self, that), own) : stricter(self, that)
      return said?._tag === "NeedsApproval" ? Approval.needsApproval({ editable: edits(self, that) }) : said
    })
  )

const joining: Readonly<
  Record<string, (self: ApprovalPolicy.Service, that: ApprovalPolicy.Service) => ApprovalPolicy.Service>
> = {
  "the first that says something has the word": by((self, that) => self ?? that),
  "the last that says something has the word": by((self, that) => that ?? self),
  "the milder word holds": by((self, that) =>
    self === undefined || that === undefined ? undefined : milder(self, that)
  ),
  "who says nothing lets it run": by((self, that) =>
    ApprovalPolicy.strictest(self ?? Approval.preApproved(), that ?? Approval.preApproved())
  ),
  "who says nothing asks": by((self, that) => ApprovalPolicy.strictest(self ?? asking, that ?? asking)),
  "who says nothing has no word, not even the tool's": by(stricter),
  "the tool has a word beside every policy": by((self, that, own) =>
    Effect.map(own, (own) => stricter(stricter(self, that), own))
  ),
  "the tool has a word only where both say nothing": by((self, that, own) =>
    self === undefined && that === undefined ? own : stricter(self, that)
  ),
  "what one forbids is asked about where the other asks": by((self, that) =>
    [self, that].some((said) => said?._tag === "NeedsApproval") &&
      [self, that].some((said) => said?._tag === "Blocked")
      ? asking
      : undefined
  ),
  "one that fails has no word": byFailing((self, that) => {
    if (isFailed(self)) return isFailed(that) ? failed : that
    return isFailed(that) ? self : stricter(self, that)
  }),
  "one that fails asks": byFailing((self, that) =>
    stricter(isFailed(self) ? asking : self, isFailed(that) ? asking : that)
  ),
  "one that fails comes before one that forbids": byFailing((self, that) =>
    isFailed(self) || isFailed(that) ? failed : stricter(self, that)
  ),
  "an edit counts where one lets it": byEditing(editing),
  "an edit counts nowhere": byEditing(() => false)
}

// =============================================================================
// Who is asked
// =============================================================================

type Controller = ApprovalController.Service

const { approveAll, deferred } = ApprovalController

const isSomebody = (one: Controller): boolean => one !== Asking.strict && one !== approveAll

const asked: Readonly<Record<string, (controllers: ReadonlyArray<Controller>) => Controller | undefined>> = {
  "the innermost is asked, whatever it is": ([first]) => first,
  "the outermost is asked": (all) => all.find((one) => one === Asking.strict) ?? all.findLast(isSomebody) ?? all[0],
  "that nobody can be asked holds only where it is innermost": (all) =>
    all[0] === Asking.strict ? all[0] : all.find(isSomebody) ?? all.find((one) => one === approveAll) ?? all[0],
  "that nobody can be asked holds only where nobody else is named": (all) =>
    all.find(isSomebody) ?? all.find((one) => one === Asking.strict) ?? all[0],
  "everybody's yes answers where it is innermost": (all) => all.find((one) => one === Asking.strict) ?? all[0],
  "everybody's yes answers wherever it is named": (all) =>
    all.find((one) => one === Asking.strict) ?? all.find((one) => one === approveAll) ?? all[0],
  "everybody's yes comes before that nobody can be asked": (all) =>
    all.find(isSomebody) !== undefined
      ? all.find((one) => one === Asking.strict) ?? all.find(isSomebody)
      : all.find((one) => one === approveAll) ?? all[0],
  "everybody's yes never answers": (all) =>
    all.find((one) => one === Asking.strict) ?? all.find(isSomebody) ?? deferred,
  "whoever answers later leaves it to a person": (all) =>
    all.find((one) => one === Asking.strict) ?? all.find((one) => isSomebody(one) && one !== deferred) ??
      all.find(isSomebody) ?? all[0],
  "whoever answers later comes before a person": (all) =>
    all.find((one) => one === Asking.strict) ?? all.find((one) => one === deferred) ?? all.find(isSomebody) ?? all[0],
  "where nobody is named, nobody can be asked": (all) =>
    all.find((one) => one === Asking.strict) ?? all.find(isSomebody) ?? all[0] ?? Asking.strict,
  "where nobody is named, everybody says yes": (all) =>
    all.find((one) => one === Asking.strict) ?? all.find(isSomebody) ?? all[0] ?? approveAll
}

// =============================================================================
// All of them
// =============================================================================

const memoised = (
  join: (self: ApprovalPolicy.Service, that: ApprovalPolicy.Service) => ApprovalPolicy.Service
): typeof Policies.join => {
  const known = new Map<unknown, Map<unknown, ApprovalPolicy.Service>>()
  const joined = (self: ApprovalPolicy.Service, that: ApprovalPolicy.Service): ApprovalPolicy.Service => {
    const of = known.get(self) ?? new Map<unknown, ApprovalPolicy.Service>()
    known.set(self, of)
    const both = of.get(that) ?? join(self, that)
    of.set(that, both)
    return both
  }
  return (policies) =>
    policies.length === 0 ? ApprovalPolicy.toolGate : (policies as ReadonlyArray<ApprovalPolicy.Service>).reduce(joined)
}

export const wrong: ReadonlyArray<Wrong> = [
  ...Object.entries(selecting).map(([name, select]): Wrong => ({
    name,
    fold: { ...fold, policiesOf: (captured, current) => select(Levels.policiesOf(captured, current)) }
  })),
  ...Object.entries(joining).map(([name, join]): Wrong => ({ name, fold: { ...fold, join: memoised(join) } })),
  ...Object.entries(asked).map(([name, choose]): Wrong => ({
    name,
    fold: {
      ...fold,
      innermost: (captured, current) =>
        choose(Levels.levels(captured, current).controllers as ReadonlyArray<Controller>)
    }
  }))
]
