/** What tests of remembered answers share: a memory and a conversation of their own, and people whose questions are seen. */
import { Effect, type Layer, type Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalMemory,
  ApprovalPolicy,
  Prompt
} from "../../src/index.ts"
import * as C from "./conversation.ts"
import { type Story, tell } from "./story.ts"
import { idle } from "./support.ts"

/** One story in every way, in a conversation with a name and with a memory for its session. */
export const everyWay = (
  title: string,
  story: Story<[way: C.Way]>,
  memory: Layer.Layer<never> = ApprovalMemory.layerSession()
): void => C.everyWay(title, (way) => tell(story, way).pipe(Effect.provide(memory), inConversation("talk")))

export const inConversation = (conversation: string, more?: Approval.ApprovalScope) =>
  Effect.provideService(Approval.Scope, { ...more, conversation })

export const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

/** A policy that wants a person for each deletion, and says more of it. */
export const needs = (options: Parameters<typeof Approval.needsApproval>[0]) =>
  withPolicy((call) => call.toolName === "DeleteFile" ? Approval.needsApproval(options) : undefined)

type Answer = (request: Approval.ApprovalRequest) => ApprovalController.Reply | Effect.Effect<ApprovalController.Reply>

export interface Person {
  /** The paths (or else the parameters) they were asked about, in order. */
  readonly seen: Array<string>
  readonly answers: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Somebody who answers at once. */
export const person = (answer: Answer, options?: ApprovalController.InteractiveOptions): Person => {
  const seen: Array<string> = []
  const controller = ApprovalController.interactive((request) => {
    seen.push(pathOf(request))
    return answer(request)
  }, options)
  return { seen, answers: Effect.provideService(ApprovalController.ApprovalController, controller) }
}

export const pathOf = ({ params }: { readonly params: unknown }): string => {
  const { path } = params as { readonly path?: unknown }
  return typeof path === "string" ? path : JSON.stringify(params)
}

export const yes = (remember?: ApprovalMemory.Remember) =>
  new Approval.Approved(remember === undefined ? {} : { remember })

export const no = (note?: string, remember?: ApprovalMemory.Remember) =>
  new Approval.Denied({
    ...(note === undefined ? undefined : { note }),
    ...(remember === undefined ? undefined : { remember })
  })

/** A conversation in which each turn of the model deletes these paths: `[["a"], ["a", "b"]]`. */
export const deleting = Effect.fnUntraced(function*(
  way: C.Way,
  turns: ReadonlyArray<ReadonlyArray<string> | string>,
  options?: Partial<C.StartOptions>
) {
  const { runs, toolkit } = yield* C.fileTools
  let calls = 0
  const chat = yield* C.start({
    way,
    toolkit,
    turns: turns.map((turn) => typeof turn === "string" ? turn : turn.map((path) => C.deleteCall(`c${++calls}`, path))),
    ...options
  })
  return { chat, runs }
})

/** The memory of a scope, as a person may see it. */
export const listed = (scope: ApprovalMemory.MemoryScope = { conversation: "talk" }) =>
  Effect.flatMap(ApprovalMemory.ApprovalMemory, (memory) => memory.list(scope))

export const events = Effect.gen(function*() {
  const seen: Array<ApprovalEvents.Observed> = []
  const service = yield* ApprovalEvents.make()
  const observed = yield* service.subscribe
  yield* Effect.forkScoped(Stream.runForEach(observed, (event) => Effect.sync(() => void seen.push(event))))
  return {
    seen: Effect.as(idle, seen),
    observe: Effect.provideService(ApprovalEvents.ApprovalEvents, service)
  }
})

/** The tool message that answers by hand, as a page could write it. */
export const posted = (
  ...answers: ReadonlyArray<{ readonly approvalId: string; readonly approved: boolean; readonly assent?: unknown }>
): Prompt.Prompt =>
  Prompt.fromMessages([Prompt.toolMessage({
    content: answers.map(({ approvalId, approved, assent }) =>
      Prompt.toolApprovalResponsePart({
        approvalId,
        approved,
        // Anybody can write anything into a history.
        ...(assent === undefined ? undefined : { options: { assent: assent as Schema.Json } })
      })
    )
  })])

/** A memory for a session. */
export const session = ApprovalMemory.layerSession()
