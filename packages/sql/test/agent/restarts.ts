/**
 * Three levels of agents, each of which asks, and a program that ends after every single step: what is said, or one answer.
 * Whoever goes on has nothing but the database, and every prompt of every level is read by the strict provider.
 */
import { LanguageModel, type Prompt } from "@assent/ai"
import { ScriptedModel, StrictProvider } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { Effect, Layer, Logger } from "effect"
import { answerTo, keyOf, no, text, yes } from "../../../ai/test/agent/answers.ts"
import { numbers, pick } from "../../../ai/test/agent/numbers.ts"
import * as Person from "../../../ai/test/agent/person.ts"
import * as Tree from "../../../ai/test/agent/tree.ts"
import * as World from "../../../ai/test/agent/world.ts"
import { notesIn } from "./story.ts"

/** What a program does: the task is said, or what was asked is answered. */
export type Step = { readonly approvalId: string; readonly decision: Tree.Decision } | undefined

/** How it stands when the program ends. */
export interface Standing {
  readonly text: string
  readonly open: ReadonlyArray<Asked>
  /** What a provider would have refused of all that its models were sent. */
  readonly refused: ReadonlyArray<string>
}

export interface Asked {
  readonly key: string
  readonly approvalId: string
  readonly toolCallId: string
  readonly interaction: string
  readonly path: ReadonlyArray<string>
}

/** Takes one step, with layers of its own over the file. */
export const take = (folder: string, filename: string, step: Step): Effect.Effect<Standing, unknown> =>
  Effect.gen(function*() {
    const prompts: Array<Prompt.Prompt> = []
    const toolkit = yield* World.makeToolkit({ does: (what) => notesIn(folder).note("did", what) })
    const answer = World.answerAs(Tree.agentsOf(Person.tree))
    const script = yield* ScriptedModel.make({
      turns: [],
      afterLastTurn: (request) => {
        prompts.push(request.prompt)
        return answer(request)
      }
    })
    return yield* Effect.gen(function*() {
      const conversation = yield* World.conversationOf({ id: "story", toolkit })
      const { text } = step === undefined
        ? yield* conversation.send(World.promptOf(Tree.rootKey))
        : yield* conversation.decide(answerTo(step, step.decision))
      const open = (yield* conversation.pending()).map((request) => ({
        key: keyOf(request),
        approvalId: request.approvalId,
        toolCallId: request.toolCallId,
        interaction: request.interaction,
        path: request.path ?? []
      }))
      const refused = prompts.flatMap((prompt) => StrictProvider.check(prompt).map(({ message }) => message))
      return { text, open, refused }
    }).pipe(
      Effect.provide(Layer.mergeAll(
        Layer.succeed(LanguageModel.LanguageModel, script.model),
        SqlApproval.layer({ filename, synchronous: "NORMAL" })
      )),
      Effect.provide(Logger.layer([]))
    )
  })

const decisionOf = (interaction: string, random: () => number): Tree.Decision =>
  interaction === "askUser" ? text("soon") : random() < 0.2 ? no : yes

/** Plays it to its end, in an order of answers that the seed says, and gives what is wrong, and how many programs ran. */
export const problemsOf = Effect.fnUntraced(function*(
  folder: string,
  filename: string,
  seed: number,
  taking: typeof take
): Effect.fn.Return<{ readonly problems: ReadonlyArray<string>; readonly steps: number }, unknown> {
  const random = numbers(seed)
  const decisions = new Map<string, Tree.Decision>()
  const ids = new Map<string, string>()
  const problems: Array<string> = []
  let step: Step
  for (let steps = 1;; steps++) {
    const { open, refused, text } = yield* taking(folder, filename, step)
    const expected = Tree.stand(Person.tree, decisions)
    const wrong = (is: boolean, what: string) => is && problems.push(`after ${steps} steps: ${what}`)
    for (const message of refused) wrong(true, `refused: ${message}`)
    const nameOf = (key: string, kind: string, callIds: ReadonlyArray<string>, path: ReadonlyArray<string>) =>
      `${key} (${kind}) as ${callIds.join("/")} in ${path.join(" > ")}`
    const asked = open.map(({ interaction, key, path, toolCallId }) => nameOf(key, interaction, [toolCallId], path))
    const meant = expected.open.map(({ callIds, key, kind, path }) => nameOf(key, kind, callIds, path))
    wrong(asked.toSorted().join() !== meant.toSorted().join(), `asked is ${asked.join()}, and not ${meant.join()}`)
    for (const { approvalId, key } of open) {
      wrong((ids.get(key) ?? approvalId) !== approvalId, `${key} has another id`)
      ids.set(key, approvalId)
    }
    const did = notesIn(folder).read("did").toSorted()
    wrong(did.join() !== expected.did.toSorted().join(), `it did ${did.join()}, and not ${expected.did.join()}`)
    if (open.length === 0 || problems.length > 0) {
      wrong(text !== expected.text, `it says ${text}, and not ${expected.text}`)
      return { problems, steps }
    }
    const { approvalId, interaction, key } = pick(random, open)
    const decision = decisionOf(interaction, random)
    decisions.set(key, decision)
    step = { approvalId, decision }
  }
})
