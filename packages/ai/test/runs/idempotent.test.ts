/**
 * L2: what a dead process ran is run again only where the tool says that it may be (`Tool.Idempotent`), and there always:
 * an entry that is still "running", a resume, and with parameters that somebody edited.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, DeferredTool, Interaction, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

const parameters = { page: Schema.Number }
const Sync = Tool.make("Sync", { parameters, success: Schema.String, needsApproval: true })
const Publish = DeferredTool.from(Tool.make("Publish", { parameters, success: Schema.String }), {
  state: Schema.Number,
  interactions: { editor: Interaction.getApproval }
})

const sync = ScriptedModel.toolCall({ id: "sync-1", name: "Sync", params: { page: 1 } })
const publish = ScriptedModel.toolCall({ id: "publish-1", name: "Publish", params: { page: 1 } })

const idempotent = { Sync: Sync.annotate(Tool.Idempotent, true), Publish: Publish.annotate(Tool.Idempotent, true) }
const once = { Sync, Publish }

type Kind = "idempotent" | "not idempotent"

/** What is different about one of the processes, beside what both have. */
type Others = Pick<R.Options, "controller" | "within">

/**
 * A process and another one over what they share. Every step of a handler is noted; the first one named so waits for ever.
 */
const two = Effect.fnUntraced(
  function*(
    kind: Kind,
    waits: string,
    way: R.Way,
    turns: ReadonlyArray<ScriptedModel.Turn>,
    others: { readonly first?: Others; readonly next?: Others } = {}
  ) {
    const hold = yield* R.makeHold
    const steps: Array<string> = []
    const step = (name: string, given: unknown) =>
      Effect.suspend(() => {
        const isFirst = !steps.some((step) => step.startsWith(name))
        steps.push(`${name} ${given}`)
        return name === waits && isFirst ? hold.wait : Effect.void
      })
    const tools = kind === "idempotent" ? idempotent : once
    const shared = yield* Processes.makeShared
    const dying = Processes.make(shared)
    const options = {
      turns,
      busyFor: "10 minutes",
      more: Object.values(tools),
      handlers: {
        Sync: ({ page }: { readonly page: number }) => Effect.as(step("Sync", page), `synced ${page}`),
        Publish: DeferredTool.handler(Publish, {
          start: ({ page }) =>
            Effect.andThen(step("start", page), Publish.suspend.editor({ prompt: "May it go out?" }, page)),
          resume: {
            editor: ({ approved }, page) => Effect.as(step("editor", approved), `published ${page}`)
          }
        })
      }
    } as const
    const first = yield* R.make(way, { ...options, ...others.first, store: dying.store })
    const next = yield* R.make("send", { ...options, ...others.next, turns: [], store: shared })
    return { dying, first, hold, next, steps }
  }
)

/** The process dies in a turn, and the other one says something. */
const dieIn = Effect.fnUntraced(function*(
  { dying, hold, next }: Effect.Success<ReturnType<typeof two>>,
  turn: Effect.Effect<unknown, unknown>
) {
  yield* Effect.forkDetach(turn)
  yield* hold.entered
  dying.die()
  const taken = yield* Effect.forkChild(next.say("And now?"))
  assert.isTrue(yield* R.endsWithin(taken, 9), "in under ten seconds")
  yield* Fiber.join(taken)
})

/** The model's calls, asked for a later turn: nobody answers inline. */
const waits = Effect.fnUntraced(function*({ conversation, serving }: R.World) {
  const outcome = yield* serving(conversation!.send("Go on."))
  assert.strictEqual(outcome._tag, "Waiting")
  const [request] = yield* conversation!.pending()
  return { conversation: conversation!, request: request! }
})

for (const kind of ["idempotent", "not idempotent"] as const) {
  const isIdempotent = kind === "idempotent"
  describe(`a process that dies while a tool runs that is ${kind}`, () => {
    const then = isIdempotent ? "it is run again, once, and the model is told its result" : "it is not run again"

    R.inWays(`approved inline: ${then}`, function*(way) {
      const worlds = yield* two(kind, "Sync", way, [[sync]])
      yield* dieIn(worlds, worlds.first.begin)
      if (isIdempotent) yield* R.assertToldResult(worlds.next, "sync-1", "synced 1")
      else yield* R.assertToldUnknown(worlds.next, "sync-1")
      assert.deepStrictEqual(worlds.steps, isIdempotent ? ["Sync 1", "Sync 1"] : ["Sync 1"])
      yield* worlds.next.say("Thanks.")
      assert.lengthOf(worlds.steps, isIdempotent ? 2 : 1)
    }, R.conversationWays)

    R.inWays(`approved with an edit: ${then}`, function*(way) {
      const worlds = yield* two(kind, "Sync", way, [[sync]])
      const { conversation, request } = yield* waits(worlds.first)
      yield* dieIn(
        worlds,
        worlds.first.serving(conversation.decide(Approval.approve(request, { params: { page: 2 } })))
      )
      if (isIdempotent) yield* R.assertToldResult(worlds.next, "sync-1", "synced 2")
      else yield* R.assertToldUnknown(worlds.next, "sync-1")
      assert.deepStrictEqual(worlds.steps, isIdempotent ? ["Sync 2", "Sync 2"] : ["Sync 2"])
    }, ["send"])

    R.inWays(`resumed by an answer: ${then}`, function*(way) {
      const worlds = yield* two(kind, "editor", way, [[publish]])
      const { conversation, request } = yield* waits(worlds.first)
      yield* dieIn(worlds, worlds.first.serving(conversation.decide(Approval.approve(request))))
      if (isIdempotent) yield* R.assertToldResult(worlds.next, "publish-1", "published 1")
      else yield* R.assertToldUnknown(worlds.next, "publish-1")
      assert.deepStrictEqual(worlds.steps, [
        "start 1",
        ...(isIdempotent ? ["editor true", "editor true"] : ["editor true"])
      ])
      yield* worlds.next.say("Thanks.")
      assert.lengthOf(worlds.steps, isIdempotent ? 3 : 2)
    }, ["send"])
  })
}

const Ada = { id: "ada", name: "Ada" }

const asks = (approvers?: ReadonlyArray<string>) =>
  ApprovalPolicy.make(() => Approval.needsApproval(approvers === undefined ? {} : { approvers }))

const under = (policy: ApprovalPolicy.Service): Others => ({
  within: (effect) => Effect.provideService(effect, ApprovalPolicy.ApprovalPolicy, policy)
})

const byAda = ApprovalController.interactive(() => ApprovalController.decided(true, Ada))

describe("of an idempotent run that was approved inline, and of which no message says yes", () => {
  const told = Effect.fnUntraced(function*(others: { readonly first?: Others; readonly next?: Others }) {
    const worlds = yield* two("idempotent", "Sync", "send", [[sync]], others)
    yield* dieIn(worlds, worlds.first.begin)
    return worlds
  })

  const stories: Readonly<
    Record<string, { readonly first?: Others; readonly next?: Others; readonly again: boolean }>
  > = {
    "a policy that blocks it by now lets it not be repeated": {
      next: under(ApprovalPolicy.make(() => Approval.blocked("Not today."))),
      again: false
    },
    "a policy that fails lets it not be repeated": {
      next: under(ApprovalPolicy.make(() => Effect.fail("no policy"))),
      again: false
    },
    "parameters that a person edited are not in the history, so nothing is repeated": {
      first: { controller: ApprovalController.interactive(() => new Approval.Approved({ params: { page: 2 } })) },
      again: false
    },
    "where only some may decide it is repeated if one of them did": {
      first: { ...under(asks(["ada"])), controller: byAda },
      next: under(asks(["ada"])),
      again: true
    },
    "where only others may decide by now it is not repeated": {
      first: { ...under(asks(["ada"])), controller: byAda },
      next: under(asks(["grace"])),
      again: false
    }
  }

  for (const [title, { again, ...others }] of Object.entries(stories)) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const { next, steps } = yield* told(others)
        assert.lengthOf(steps, again ? 2 : 1)
        if (again) yield* R.assertToldResult(next, "sync-1", "synced 1")
        else yield* R.assertToldUnknown(next, "sync-1")
      }))
  }
})
