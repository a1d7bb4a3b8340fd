/**
 * L15: the model gets no path, key name or instruction that is meant for developers, in whatever goes wrong; and what could
 * not be kept is told as what ran.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  Store,
  Tool
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failureReason } from "../laws/support.ts"
import { intercept } from "../store/intercept.ts"
import * as R from "./support.ts"

/** Names of the library and of its settings, code, places on a disk, and what only a program can do. */
const forDevelopers = new RegExp(
  [
    "ASSENT_\\w*",
    "@assent",
    "effect/ai",
    "\\b(LanguageModel|DeferredTool|Approval[A-Z]\\w+|SqlApproval|SuspensionStore|ConversationStore|McpServer)\\b",
    "\\b(maxResultSize|onNewMessage|stateVersion|migrate|toLayer|layer)\\b",
    "`|yield\\*",
    "\\b([Ff]ix the|[Pp]ass the|[Pp]rovide|[Ss]et) ",
    "/(etc|home|srv|tmp|var)/",
    "\\.(ts|db)\\b"
  ].join("|")
)

const path = "/var/lib/assent/approvals.db"

const Wide = Tool.make("Wide", { success: Schema.Unknown, needsApproval: true })
const Sealed = DeferredTool.make("Sealed", {
  success: Schema.String,
  state: Schema.String,
  interactions: { text: Interaction.askUser }
})
const Sealed2 = DeferredTool.make("Sealed", {
  success: Schema.String,
  state: Schema.String,
  stateVersion: 2,
  interactions: { text: Interaction.askUser }
})

const wide = ScriptedModel.toolCall({ id: "wide-1", name: "Wide", params: {} })
const sealed = ScriptedModel.toolCall({ id: "sealed-1", name: "Sealed", params: {} })

const sealing = (tool: typeof Sealed): Pick<R.Options, "more" | "handlers"> => ({
  more: [Wide, tool],
  handlers: {
    Sealed: DeferredTool.handler(tool, {
      start: () => tool.suspend.text({ prompt: "Well?" }, "state"),
      resume: { text: (text) => Effect.succeed(text) }
    }) as R.Handler
  }
})

const deferred = ApprovalController.deferred

const answered = (world: R.World, given: Approval.ApprovalAnswer): Effect.Effect<unknown, unknown> =>
  world.conversation === undefined
    ? world.say(Prompt.approvalResponses([given]))
    : world.serving(world.conversation.decide(given))

/** The call was asked, and another program, in which something is otherwise, gets the answer. */
const askedThen = (
  call: ScriptedModel.TurnPart,
  answer: (open: { readonly approvalId: string }) => Approval.ApprovalAnswer,
  otherwise: Partial<R.Options>,
  first: Partial<R.Options> = {}
) =>
(way: R.Way) =>
  Effect.gen(function*() {
    const options = { ...sealing(Sealed), controller: deferred }
    const world = yield* R.make(way, { turns: [[call]], ...options, ...first })
    yield* world.begin
    const history = yield* world.history
    const [open] = world.conversation === undefined
      ? LanguageModel.collectToolApprovals(history.content).pending
      : yield* world.conversation.pending()
    const next = yield* R.make(way, { turns: [], store: world.store, history, ...options, ...otherwise })
    yield* Effect.exit(answered(next, answer(open!)))
    return next
  })

/** The call runs in the first turn, approved inline. */
const ran = (call: ScriptedModel.TurnPart, options: Partial<R.Options>) => (way: R.Way) =>
  Effect.tap(R.make(way, { turns: [[call]], ...sealing(Sealed), ...options }), ({ begin }) => Effect.exit(begin))

/** A store that refuses some operations, and says where it is. */
const refusing = (operations: ReadonlyArray<string>) =>
  Effect.map(Store.makeMemory(), (memory) =>
    intercept(memory, (operation, _, run) =>
      operations.includes(operation)
        ? Effect.fail(
          new Store.StoreError({
            operation,
            reason: "Unavailable",
            description: `${path} cannot be written. Set ASSENT_APPROVAL_KEY.`
          })
        )
        : run))

const yes = (open: { readonly approvalId: string }) => Approval.approve(open)
const said = (open: { readonly approvalId: string }) => Approval.answer(open, "Ada")

type Story = (way: R.Way) => Effect.Effect<R.World, unknown, any>

const stories: { readonly [what: string]: Story } = {
  "an approval sealed with another key": askedThen(R.pay, yes, { key: "another key of the tests of runs, 32 bytes" }),
  "an answer to a tool that waits, sealed with another key": askedThen(sealed, said, {
    key: "another key of the tests of runs, 32 bytes"
  }),
  "an approval that nobody asked": askedThen(R.pay, () => Approval.approve({ approvalId: "made-up" }), {}),
  "a state of another version": askedThen(sealed, said, sealing(Sealed2)),
  "a tool that is not there any more": askedThen(sealed, said, { more: [] }),
  "what is waited for is lost": (way) =>
    Effect.flatMap(Store.makeMemory(), (waitingIn) => askedThen(sealed, said, { waitingIn })(way)),
  "a result of another type": ran(R.pay, { handlers: { Pay: () => Effect.succeed(5) } }),
  "a result that is no JSON": ran(wide, { ...sealing(Sealed), handlers: { Wide: () => Effect.succeed(5n) } }),
  "a result that contains itself": ran(wide, {
    handlers: {
      Wide: () =>
        Effect.sync(() => {
          const value: Record<string, unknown> = {}
          value["self"] = value
          return value
        })
    }
  }),
  "a result that is too large": ran(R.pay, {
    approval: { maxResultSize: 100 },
    handlers: { Pay: () => Effect.succeed("x".repeat(1_000)) }
  }),
  "a tool that dies": ran(R.pay, { handlers: { Pay: () => Effect.die(new Error(`no such file: ${path}`)) } }),
  "a tool that cannot begin to wait": (way) =>
    Effect.flatMap(refusing(["requests.suspend"]), (store) => ran(sealed, { store, controller: deferred })(way)),
  "a suspension that was caught": ran(sealed, {
    controller: deferred,
    handlers: {
      Sealed: DeferredTool.handler(Sealed, {
        start: () => Effect.as(Effect.exit(Sealed.suspend.text({ prompt: "Well?" }, "state")), "went on"),
        resume: { text: (text) => Effect.succeed(text) }
      }) as R.Handler
    }
  }),
  "parameters that do not fit": ran({ ...R.pay, params: { amount: "five" } }, {}),
  "a tool that there is not": ran({ ...R.pay, name: "Transfer" }, {})
}

const ways: ReadonlyArray<R.Way> = ["send", "stream", "Chat.generateText", "streamText"]

describe("the model is told nothing that is meant for developers", () => {
  for (const [what, story] of Object.entries(stories)) {
    R.inWays(`after ${what}`, function*(way) {
      const world = yield* story(way)
      yield* Effect.exit(world.say("And now?"))
      yield* Effect.exit(world.say("Well?"))
      const prompts = yield* world.script.requests
      assert.isAbove(prompts.length, 0, "the model was called")
      const told = prompts.flatMap(({ prompt }) => prompt.content).flatMap((message) =>
        message.role === "system"
          ? [message.content]
          : (message.content as ReadonlyArray<Prompt.Part>).flatMap((part) =>
            part.type === "tool-result" ? [JSON.stringify(part.result)] : part.type === "text" ? [part.text] : []
          )
      )
      assert.strictEqual([...new Set(told)].filter((text) => forDevelopers.test(text)).join("\n"), "")
    }, ways)
  }
})

describe("a result that could not be kept", () => {
  const kept: { readonly [what: string]: Story } = {
    "it is too large": stories["a result that is too large"]!,
    "it is no JSON": stories["a result that is no JSON"]!,
    "it contains itself": stories["a result that contains itself"]!
  }
  for (const [what, story] of Object.entries(kept)) {
    R.inWays(`is told as one of a call that ran: ${what}`, function*(way) {
      const world = yield* story(way)
      yield* world.say("And now?")
      const reason = failureReason(yield* R.toldOf(world, what === "it is too large" ? "pay-1" : "wide-1"))
      assert.match(reason, /\bran\b/)
      assert.notMatch(reason, /nothing ran/i)
    }, ways)
  }

  R.inWays("nor could what a tool waits for: it is told that the tool had begun", function*(way) {
    const world = yield* stories["a tool that cannot begin to wait"]!(way)
    yield* world.say("And now?")
    const reason = failureReason(yield* R.toldOf(world, "sealed-1"))
    assert.match(reason, /\bran\b|begun|began/)
    assert.notMatch(reason, /nothing ran/i)
  }, ways)
})
