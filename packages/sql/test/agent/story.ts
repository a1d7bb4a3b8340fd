/**
 * One tree of agents, three levels deep, and a person with fixed answers, kept in one database. Whoever plays it goes on from
 * where it stands, and sends again what was sent and may not have been heard.
 */
import { type ApprovalError, Conversation, type ConversationStore, LanguageModel, type Prompt } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { Effect, Layer, Logger } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { answerTo, keyOf } from "../../../ai/test/agent/answers.ts"
import * as Tree from "../../../ai/test/agent/tree.ts"
import * as World from "../../../ai/test/agent/world.ts"

export const tree = Tree.agent(
  [Tree.gated([Tree.inner([Tree.pay, Tree.ask], [Tree.pay]), Tree.pay]), Tree.pay],
  [Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.look, Tree.pay]))]
)

const denied = "r.00.01"

/** What the person says to what is asked under a key. */
export const decisionOf = (key: string, kind: string): Tree.Decision =>
  kind === "askUser" ? { _tag: "Text", text: "soon" } : { _tag: key === denied ? "No" : "Yes" }

// =============================================================================
// What no kill takes away
// =============================================================================

interface Lines {
  /** What a tool did. */
  readonly did: string
  /** What is about to be sent. */
  readonly sent: { readonly key: string; readonly kind: string; readonly approvalId: string }
  /** What was asked, as somebody saw it. */
  readonly asked: { readonly key: string; readonly approvalId: string; readonly path: ReadonlyArray<string> }
}

const fileOf = (folder: string, name: keyof Lines): string => Path.join(folder, `${name}.log`)

const note = <Name extends keyof Lines>(folder: string, name: Name, line: Lines[Name]): void =>
  Fs.appendFileSync(fileOf(folder, name), `${JSON.stringify(line)}\n`)

export const read = <Name extends keyof Lines>(folder: string, name: Name): ReadonlyArray<Lines[Name]> =>
  Fs.existsSync(fileOf(folder, name))
    ? Fs.readFileSync(fileOf(folder, name), "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line))
    : []

// =============================================================================
// Playing
// =============================================================================

type Failure = ConversationStore.ConversationError | ApprovalError.ApprovalError

const isHeard = (error: Failure): boolean =>
  error._tag === "ApprovalError" && ["AlreadyDecided", "UnknownApproval"].includes(error.reason._tag)

const heard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.catchIf(Effect.asVoid(effect), (error) => isHeard(error as unknown as Failure), () => Effect.void)

/** Plays it to its end, and gives what the outermost agent says last and every prompt that a model was sent. */
export const played = (folder: string, filename: string) =>
  Effect.gen(function*() {
    const prompts: Array<Prompt.Prompt> = []
    const toolkit = yield* World.makeToolkit({ does: (what) => note(folder, "did", what) })
    const answer = World.answerAs(
      Tree.agentsOf(tree),
      // It looks first, as it is told to.
      (key) => !read(folder, "did").some((what) => what === `paid:${key}` || what.startsWith(`heard:${key}:`))
    )
    const script = yield* ScriptedModel.make({
      turns: [],
      afterLastTurn: (request) => {
        prompts.push(request.prompt)
        return answer(request)
      }
    })
    const text = yield* Effect.gen(function*() {
      // The tools are any tools, and need nothing.
      const conversation = yield* Conversation.make({ id: "story", toolkit }) as Effect.Effect<
        World.Conversing,
        never,
        LanguageModel.LanguageModel
      >
      const decide = ({ approvalId, key, kind }: Lines["sent"]) =>
        conversation.decide(answerTo({ approvalId }, decisionOf(key, kind)))
      for (const sent of read(folder, "sent")) yield* heard(decide(sent))
      const { content } = yield* conversation.history
      let text = (yield* conversation.send(content.length === 0 ? World.promptOf(Tree.rootKey) : [])).text
      while (true) {
        const open = yield* conversation.pending()
        for (const request of open) {
          note(folder, "asked", { key: keyOf(request), approvalId: request.approvalId, path: request.path ?? [] })
        }
        const [first] = open
        if (first === undefined) break
        const sent = { key: keyOf(first), kind: first.interaction, approvalId: first.approvalId }
        note(folder, "sent", sent)
        text = (yield* decide(sent)).text
      }
      return text || (yield* conversation.history).content.flatMap((message) =>
        message.role === "assistant" ? message.content.flatMap((part) => part.type === "text" ? [part.text] : []) : []
      ).at(-1)
    }).pipe(
      Effect.provide(Layer.mergeAll(
        Layer.succeed(LanguageModel.LanguageModel, script.model),
        SqlApproval.layer({ filename, synchronous: "NORMAL", busyTimeout: 50, heartbeat: "100 millis" })
      )),
      Effect.provide(Logger.layer([]))
    )
    return { text, prompts }
  })
