import { type Approval, type Approver, type ConversationStore, OpenRequests } from "@assent/ai"
import { Context, Effect, Schema, type Stream } from "effect"
import { describe, expectTypeOf, it } from "vitest"

class Mailer
  extends Context.Service<Mailer, { readonly send: (text: string) => Effect.Effect<void> }>()("test/Mailer")
{}

class Bounced extends Schema.TaggedError<Bounced>()("Bounced", { address: Schema.String }) {}

declare const event: OpenRequests.Event

describe("OpenRequests", () => {
  it("streams what is open and what happens, and fails as the store does", () => {
    expectTypeOf(OpenRequests.stream({ tenant: "acme", issuedBefore: 5 })).toEqualTypeOf<
      Stream.Stream<OpenRequests.OpenRequest, ConversationStore.ConversationError>
    >()
    expectTypeOf(OpenRequests.events()).toEqualTypeOf<
      Stream.Stream<OpenRequests.Event, ConversationStore.ConversationError>
    >()
    OpenRequests.events({ filter: { tenant: "acme", kind: "askUser" }, after: "7", every: "5 seconds" })
    // @ts-expect-error: what was asked when is no question of what happened when
    OpenRequests.events({ filter: { issuedBefore: 5 } })
    expectTypeOf(OpenRequests.latest).toEqualTypeOf<Effect.Effect<string, ConversationStore.ConversationError>>()
  })

  it("tells by its kind what an event has", () => {
    // @ts-expect-error: an event that was missed has no request
    void event.request
    if (event.kind === "missed") {
      expectTypeOf(event).toEqualTypeOf<OpenRequests.Missed>()
      return
    }
    expectTypeOf(event.request).toEqualTypeOf<Approval.ApprovalRequest>()
    expectTypeOf(event.scope).toEqualTypeOf<Approval.ApprovalScope>()
    expectTypeOf(event.kind).toEqualTypeOf<"opened" | "decided" | "expired">()
    // @ts-expect-error: only what is decided was decided by somebody
    void event.decidedBy
    if (event.kind !== "decided") return
    expectTypeOf(event.decidedBy).toEqualTypeOf<Approver.DecidedBy | undefined>()
    expectTypeOf(event.decision).toEqualTypeOf<OpenRequests.Decision>()
    expectTypeOf(event.reason).toEqualTypeOf<string | undefined>()
  })

  it("follows with whatever the handler needs, and never ends or fails", () => {
    const handle = (event: OpenRequests.Event) =>
      Effect.gen(function*() {
        const mailer = yield* Mailer
        if (event.kind === "missed") return yield* new Bounced({ address: "a" })
        return yield* mailer.send(event.request.description)
      })
    expectTypeOf(OpenRequests.follow("mails", handle, { lease: "1 minute" })).toEqualTypeOf<
      Effect.Effect<never, never, Mailer>
    >()
  })
})
