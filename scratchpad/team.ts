/**
 * A lead with a researcher and a treasurer, each an agent of its own. What the treasurer asks reaches the people who may
 * decide, with the path of agents that led to it: two of them have to agree, and between their answers the program is stopped.
 * Then somebody changes their mind while the treasurer waits: a yes that comes late pays nothing.
 *
 * At a terminal Grace and Kim are asked there, one after the other. Without one, or with `--answers file`, they answer as a
 * file says: `scratchpad/team/answers.json`.
 */
import { Approval, ApprovalController, ApprovalError, Conversation } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { TerminalController } from "@assent/terminal"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { fileURLToPath } from "node:url"
import * as Team from "./team/agents.ts"
import * as Story from "./waiting/story.ts"

// =============================================================================
// The program: every run has layers of its own, and a folder
// =============================================================================

const Program = (directory: string) =>
  Layer.mergeAll(Team.Handlers, Team.Model, SqlApproval.layer({ filename: `${directory}/team.db` })).pipe(
    Layer.provide(Layer.succeed(Team.Office, { directory }))
  )

const open = Conversation.make({ id: "team", toolkit: Team.toolkit, instructions: "You are the lead." })

type Talk = Effect.Success<typeof open>
type Outcome = Effect.Success<ReturnType<Talk["send"]>>

const shown = ({ path = [], presentation }: Approval.ApprovalRequest) =>
  `${["lead", ...path].join(" > ")} asks: ${presentation?.content}`

// =============================================================================
// Who answers
// =============================================================================

const people = { grace: { id: "grace", name: "Grace" }, kim: { id: "kim", name: "Kim" } } as const

type Person = keyof typeof people

/** Lets one of them answer what waits, and says how the conversation goes on. */
type Answering = (conversation: Talk, who: Person) => Effect.Effect<Outcome, unknown, NodeServices.NodeServices>

const isDecision = Schema.is(Approval.ApprovalDecision)

/** Each in their turn is asked at the terminal about what is open. Who leaves with Ctrl-C has said nothing. */
const atTerminal: Answering = (conversation, who) =>
  Effect.gen(function*() {
    const controller = yield* TerminalController.make({ by: people[who] })
    const answers: Array<Approval.ApprovalAnswer> = []
    for (const request of yield* conversation.pending()) {
      const said = yield* TerminalController.untilStopped(controller.ask!(request)).pipe(
        Effect.provideService(ApprovalController.ApprovalController, controller)
      )
      const decision = said !== undefined && "decision" in said ? said.decision : said
      if (isDecision(decision)) {
        answers.push(new Approval.ApprovalAnswer({ approvalId: request.approvalId, decision }))
      }
    }
    return yield* conversation.decide(answers, { by: people[who] })
  })

const Answer = Schema.Struct({
  by: Schema.Literals(["grace", "kim"]),
  tool: Schema.String,
  approved: Schema.Boolean
})

/** The next answer of a person that the file has. */
const fromFile = Effect.fnUntraced(function*(file: string) {
  const text = yield* FileSystem.FileSystem.use((fs) => fs.readFileString(file))
  const left = [...(yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Answer)))(text))]
  const answering: Answering = (conversation, who) =>
    Effect.gen(function*() {
      const index = left.findIndex(({ by }) => by === who)
      const [answer] = left.splice(index, 1)
      const request = (yield* conversation.pending()).find(({ toolName }) => toolName === answer?.tool)
      yield* Story.expect(index >= 0 && request !== undefined, `There is no answer of ${who}, or nothing to answer.`)
      yield* Story.line(who, answer!.approved ? "approves" : "declines")
      const decision = answer!.approved ? Approval.approve(request!) : Approval.deny(request!, "not now")
      return yield* conversation.decide(decision, { by: people[who] })
    })
  return answering
})

// =============================================================================
// The story
// =============================================================================

const story = Effect.fnUntraced(function*(answering: Answering) {
  const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "team-" }))
  const step = <A, E, R>(take: (conversation: Talk) => Effect.Effect<A, E, R>) =>
    Effect.provide(Effect.scoped(Effect.flatMap(open, take)), Program(directory))

  const say = (text: string) =>
    step((conversation) =>
      Effect.gen(function*() {
        yield* Story.line("you", text)
        const outcome = yield* conversation.send(text)
        const requests = outcome._tag === "Waiting" ? outcome.requests : []
        for (const request of requests) yield* Story.line("", shown(request))
        if (outcome._tag === "Completed") yield* Story.line("lead", outcome.text)
        return requests
      })
    )

  yield* say("Buy the lamp.")
  const half = yield* step((conversation) => answering(conversation, "grace"))
  yield* Story.line("", "… the program stops, and starts again …")
  // Where Grace has declined, nobody is left to be asked.
  const bought = half._tag === "Waiting" ? yield* step((conversation) => answering(conversation, "kim")) : half
  yield* Story.line("lead", bought.text)

  const [request] = yield* say("Buy the chair.")
  yield* step((conversation) => answering(conversation, "grace"))
  yield* say("Leave it, we sit on the floor.")
  yield* Story.line("kim", "approves, too late")
  const late = yield* step((conversation) =>
    conversation.decide(Approval.approve(request!), { by: people.kim }).pipe(
      Effect.map(() => "nothing is said"),
      ApprovalError.catchReason("AlreadyDecided", ({ message }) => Effect.succeed(message))
    )
  )
  yield* Story.line("", late)

  const paid = yield* FileSystem.FileSystem.use((fs) =>
    Effect.orElseSucceed(fs.readFileString(`${directory}/paid`), () => "")
  )
  yield* Story.line("paid", paid.trim() || "nothing")
  return { bought: bought.text, paid }
}, Effect.scoped)

const answers = Flag.String("answers").pipe(
  Flag.withDescription("A file of answers, in the place of people at a terminal"),
  Flag.optional
)

const team = Command.make("team", { answers }, ({ answers }) =>
  Effect.gen(function*() {
    if (Option.isNone(answers) && process.stdin.isTTY && process.stdout.isTTY) {
      return yield* story(atTerminal)
    }
    const file = Option.getOrElse(answers, () => fileURLToPath(new URL("./team/answers.json", import.meta.url)))
    const { paid } = yield* story(yield* fromFile(file))
    if (Option.isSome(answers)) return
    yield* Story.expect(paid === "120 to Lamps & Chairs Ltd\n", `It should have paid for the lamp alone: ${paid}`)
  }))

Command.run(team, { version: "0.0.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
