import {
  type Approval,
  type ApprovalError,
  type Approver,
  Conversation,
  type ConversationStore,
  DeferredTool,
  Interaction,
  Tool,
  Toolkit
} from "@assent/ai"
import { Context, Effect, Schema, type Stream } from "effect"
import type { LanguageModel, Prompt, Response } from "effect/ai"
import { describe, expectTypeOf, it } from "vitest"

class Ledger extends Context.Service<Ledger, { readonly limit: number }>()("test/Ledger") {}

class Broke extends Schema.TaggedError<Broke>()("Broke", { owed: Schema.Number }) {}

const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.Struct({ paid: Schema.Number }),
  failure: Broke,
  dependencies: [Ledger],
  needsApproval: true
})

const Book = DeferredTool.make("Book", {
  parameters: { from: Schema.String },
  success: Schema.String,
  state: Schema.Number,
  interactions: {
    manager: Interaction.getApproval,
    seat: Interaction.selectMany,
    when: Interaction.form(Schema.Struct({ date: Schema.DateFromString })),
    paid: Interaction.external(Schema.NumberFromString)
  }
})

const toolkit = Toolkit.make(Pay, Book)

const make = Conversation.make({ id: "c1", toolkit })
type Ticket = Effect.Success<typeof make>
declare const conversation: Ticket

describe("Conversation", () => {
  it("needs the model, the handlers, and what they need", () => {
    type Needed = Effect.Services<typeof make>
    expectTypeOf<LanguageModel.LanguageModel>().toExtend<Needed>()
    expectTypeOf<Ledger>().toExtend<Needed>()
    expectTypeOf<Tool.HandlersFor<Toolkit.Tools<typeof toolkit>>>().toExtend<Needed>()
    expectTypeOf<Effect.Error<typeof make>>().toBeNever()
  })

  it("a turn needs nothing more, and fails with what its tools fail with, among others", () => {
    const sent = conversation.send("Hello.")
    expectTypeOf<Effect.Services<typeof sent>>().toBeNever()
    expectTypeOf<Broke>().toExtend<Effect.Error<typeof sent>>()
    expectTypeOf<ApprovalError.ApprovalError>().toExtend<Effect.Error<typeof sent>>()
    expectTypeOf<ConversationStore.ConversationError>().toExtend<Effect.Error<typeof sent>>()
    expectTypeOf<Stream.Error<ReturnType<Ticket["stream"]>>>().toEqualTypeOf<Effect.Error<typeof sent>>()
    expectTypeOf(conversation.pending).returns.toEqualTypeOf<ReturnType<Ticket["pending"]>>()
    expectTypeOf<Effect.Error<ReturnType<Ticket["pending"]>>>().toEqualTypeOf<ConversationStore.ConversationError>()
  })

  it("its outcome says of which kind it is, with parts typed by its tools", () => {
    type Outcome = Effect.Success<ReturnType<Ticket["send"]>>
    expectTypeOf<Outcome["_tag"]>().toEqualTypeOf<"Completed" | "Waiting" | "Limited" | "Stopped">()
    expectTypeOf<Extract<Outcome, { readonly _tag: "Limited" }>["limit"]>().toEqualTypeOf<"steps" | "tokens" | "time">()
    type Result = Extract<Outcome["content"][number], Response.ToolResultPart<"Pay", any, any>>
    expectTypeOf<Extract<Result, { readonly isFailure: false }>["result"]>().toEqualTypeOf<{ readonly paid: number }>()
  })

  it("a turn that is followed says what its tools may say, and fails as a turn does", () => {
    type Turn = Effect.Success<ReturnType<Ticket["start"]>>
    expectTypeOf<Turn>().toEqualTypeOf<Conversation.Turn<Toolkit.Tools<typeof toolkit>>>()
    expectTypeOf<Effect.Success<Ticket["turn"]>>().toEqualTypeOf<Turn | undefined>()
    expectTypeOf<Effect.Error<Ticket["turn"]>>().toEqualTypeOf<ConversationStore.ConversationError>()
    expectTypeOf<Turn["messageId"]>().toEqualTypeOf<string>()
    expectTypeOf<Turn["parts"]>().toEqualTypeOf<ReturnType<Ticket["stream"]>>()
    expectTypeOf<Turn["outcome"]>().toEqualTypeOf<ReturnType<Ticket["send"]>>()
    expectTypeOf<Effect.Error<ReturnType<Ticket["start"]>>>().toEqualTypeOf<Effect.Error<Turn["outcome"]>>()
    expectTypeOf<Effect.Services<ReturnType<Ticket["start"]>>>().toBeNever()
  })

  it("send, stream and start take answers with the text, and who gave them", () => {
    const answer = {} as Approval.ApprovalAnswer
    const options = { answers: [answer, { approvalId: "x", approved: true }], by: { id: "ada" }, messageId: "1" }
    conversation.send("Go on.", options)
    conversation.stream([], { answers: answer })
    conversation.start("Go on.", options)
    // @ts-expect-error who decided is said beside the answers, not by whom the turn is taken
    conversation.send("Go on.", { answers: answer, decidedBy: { id: "ada" } })
    // @ts-expect-error not a person
    conversation.start([], { answers: answer, by: "ada" })
  })

  it("resume takes the answer of the very interaction", () => {
    expectTypeOf(conversation.resume<typeof Book, "manager">).parameter(2).toEqualTypeOf<Interaction.Verdict>()
    expectTypeOf(conversation.resume<typeof Book, "seat">).parameter(2).toEqualTypeOf<ReadonlyArray<string>>()
    expectTypeOf(conversation.resume<typeof Book, "when">).parameter(2).toEqualTypeOf<{ readonly date: Date }>()
    expectTypeOf(conversation.resume<typeof Book, "paid">).parameter(2).toEqualTypeOf<number>()
    conversation.resume(Book, "manager", { approved: true })
    conversation.resume(Book, "manager", { approved: true }, { by: { id: "ada" }, request: { approvalId: "x" } })
    // @ts-expect-error it is no text
    conversation.resume(Book, "manager", "yes")
    // @ts-expect-error there is no such interaction
    conversation.resume(Book, "director", { approved: true })
    // @ts-expect-error this tool does not wait
    conversation.resume(Pay, "manager", { approved: true })
  })

  it("a reading and a state are those of messages and requests, and need nothing", () => {
    expectTypeOf(conversation.read).toEqualTypeOf<
      Effect.Effect<Conversation.Reading, ConversationStore.ConversationError>
    >()
    expectTypeOf<Conversation.Reading["messages"][number]["message"]>().toEqualTypeOf<Prompt.Message>()
    expectTypeOf<Conversation.Reading["pending"][number]>().toEqualTypeOf<Approval.ApprovalRequest>()
    expectTypeOf(conversation.stateOf).returns.toEqualTypeOf<
      Effect.Effect<
        Conversation.RequestState | undefined,
        ConversationStore.ConversationError | ApprovalError.ApprovalError
      >
    >()
    expectTypeOf<Conversation.RequestState["decidedBy"]>().toEqualTypeOf<Approver.DecidedBy | undefined>()
    expectTypeOf<Conversation.RequestState["result"]>().toBeUnknown()
    conversation.send("Hello.", { messageId: "msg-1" })
    conversation.stream("Hello.", { messageId: undefined })
    // @ts-expect-error an id is a text
    conversation.send("Hello.", { messageId: 1 })
    // @ts-expect-error a request is named by its id
    conversation.stateOf({ approvalId: "x" })
  })

  it("clear takes names, a kind and a tool, and gives the requests that were taken back", () => {
    const cleared = conversation.clear({ tool: Book, interaction: "manager", kind: "getApproval", reason: "moved" })
    expectTypeOf<Effect.Success<typeof cleared>>().toEqualTypeOf<ReadonlyArray<Approval.ApprovalRequest>>()
    expectTypeOf<Effect.Error<typeof cleared>>().toEqualTypeOf<
      ConversationStore.ConversationError | ApprovalError.ApprovalError
    >()
    conversation.clear()
    conversation.clear({ tool: "Book" })
    // @ts-expect-error there is no such kind
    conversation.clear({ kind: "question" })
  })

  it("who decides is said beside the answer, by the program, and is no part of what is posted", () => {
    expectTypeOf(conversation.decide).parameter(1).toEqualTypeOf<Conversation.DecideOptions | undefined>()
    expectTypeOf<Conversation.DecideOptions["by"]>().toEqualTypeOf<Approver.Person | undefined>()
    expectTypeOf<keyof Approval.ApprovalAnswer>().toEqualTypeOf<"approvalId" | "decision">()
    expectTypeOf<Extract<Approval.ApprovalDecision, { readonly _tag: "Approved" }>>().not.toHaveProperty("by")
    const decided = conversation.decide([], { by: { id: "ada", name: "Ada" } })
    type Reason = Extract<Effect.Error<typeof decided>, ApprovalError.ApprovalError>["reason"]
    expectTypeOf<ApprovalError.NotAnApprover>().toExtend<Reason>()
    // @ts-expect-error a request that was posted says nothing of who answers it
    conversation.resume(Book, "manager", { approved: true }, { approvalId: "x" })
    // @ts-expect-error an id is a text
    conversation.decide([], { by: { id: 1 } })
    // @ts-expect-error a person is no name alone
    conversation.decide([], { by: "ada" })
  })

  it("an effect that makes the toolkit may fail, and need what it needs", () => {
    const failing = Conversation.make({ id: "c1", toolkit: Effect.fail("no toolkit" as const) })
    expectTypeOf<Effect.Error<typeof failing>>().toEqualTypeOf<"no toolkit">()
  })
})
