/** Who may decide, and who does: for the tests of L16. */
import { Effect } from "effect"
import * as Approvers from "../../src/Approver.ts"
import { Approval, ApprovalController, ApprovalEvents, type Approver, Prompt } from "../../src/index.ts"
import * as Trust from "../../src/internal/environment/trust.ts"
import * as Asked from "./asked.ts"
import * as Support from "./support.ts"

export const ada = { id: "ada", name: "Ada" }
export const bob = { id: "bob", name: "Bob" }
export const eve = { id: "eve", name: "Eve" }

type Naming = Pick<Approval.Question, "approvers" | "editable" | "rememberable" | "selfApproval">

/** The policy names who may decide. */
export const naming = (question: Naming) => Asked.withPolicy(() => Approval.needsApproval(question))

export const alone: Naming = { approvers: ["ada"] }
export const both: Naming = { approvers: [["ada"], ["bob"]] }

/** The answers at the end of the history are this person's, as a channel says that has logged them in. */
export const by = (person: Approver.Person) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.provideService(Trust.Answering, () => Approvers.decidedBy(person, "conversation")),
    Effect.provideService(Trust.TrustsAnswers, true)
  )

/** Whoever is asked at once. */
export const asking = (
  callback: Parameters<typeof ApprovalController.interactive>[0],
  person?: ApprovalController.By
) =>
  Effect.provideService(
    ApprovalController.ApprovalController,
    ApprovalController.interactive(callback, { by: person })
  )

/** What was published while it ran, of one kind. */
export const published = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<readonly [A, ReadonlyArray<ApprovalEvents.ApprovalEvent>], E, R> =>
  Effect.gen(function*() {
    const events: Array<ApprovalEvents.ApprovalEvent> = []
    const service: ApprovalEvents.Service = {
      ...(yield* ApprovalEvents.make()),
      isObserved: () => true,
      publish: (event) => Effect.sync(() => void events.push(event))
    }
    const value = yield* Effect.provideService(effect, ApprovalEvents.ApprovalEvents, service)
    return [value, events] as const
  })

/** The problems of the decisions that settled nothing. */
export const refusals = (events: ReadonlyArray<ApprovalEvents.ApprovalEvent>): ReadonlyArray<string> =>
  events.flatMap((event) =>
    event._tag === "Refused" && event.reason._tag === "NotAnApprover" ? [event.reason.problem] : []
  )

/** A deletion that was asked about under a policy that names who may decide, and turns that answer it. */
export const deletion = Effect.fnUntraced(function*(mode: Support.Mode, question: Naming) {
  const told = naming(question)
  const begun = yield* told(Asked.deletion(mode))
  const { options, request, tools } = begun
  let { history } = options
  const answer = Effect.fnUntraced(function*(...list: ReadonlyArray<Approval.ApprovalAnswer>) {
    const turn = yield* Support.takeTurn(mode, { ...options, history, prompt: Prompt.approvalResponses(list) })
    history = turn.history
    return turn
  })
  return {
    ...begun,
    told,
    request,
    tools,
    answer: (...list: ReadonlyArray<Approval.ApprovalAnswer>) => told(answer(...list))
  }
})
