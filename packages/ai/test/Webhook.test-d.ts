import { type Approver, type SuspensionStore, Webhook } from "@assent/ai"
import { Context, Effect, type Layer } from "effect"
import type { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { describe, expectTypeOf, it } from "vitest"

class Keys extends Context.Service<Keys, { readonly isSigned: (body: string) => boolean }>()("test/Keys") {}

class Waker extends Context.Service<Waker, { readonly wake: (id: string) => Effect.Effect<void> }>()("test/Waker") {}

describe("Webhook", () => {
  it("whoever verifies the sender is given the request, and may need services of their own, and fail", () => {
    const options = {
      wake: ({ approvalId }: SuspensionStore.Suspension) => Effect.flatMap(Waker, ({ wake }) => wake(approvalId)),
      by: (request: HttpServerRequest.HttpServerRequest) =>
        Effect.gen(function*() {
          const { isSigned } = yield* Keys
          return isSigned(yield* request.text) ? { id: "bank" } : yield* Effect.fail("not signed" as const)
        })
    }
    expectTypeOf(Webhook.handler(options)).toEqualTypeOf<
      Effect.Effect<HttpServerResponse.HttpServerResponse, never, Keys | Waker | HttpServerRequest.HttpServerRequest>
    >()
    expectTypeOf(Webhook.layer("/hooks", options)).toEqualTypeOf<
      Layer.Layer<never, never, HttpRouter.HttpRouter | Keys | Waker>
    >()
  })

  it("nobody has to be verified", () => {
    const wake = () => Effect.void
    expectTypeOf(Webhook.handler({ wake })).toEqualTypeOf<
      Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
    >()
    expectTypeOf(Webhook.layer("/hooks", { wake })).toEqualTypeOf<Layer.Layer<never, never, HttpRouter.HttpRouter>>()
    Webhook.handler({
      wake,
      by: (request, suspension) => {
        expectTypeOf(request).toEqualTypeOf<HttpServerRequest.HttpServerRequest>()
        expectTypeOf(suspension).toEqualTypeOf<SuspensionStore.Suspension>()
        return Effect.succeed<Approver.Person | undefined>(undefined)
      }
    })
    // @ts-expect-error an id alone is no person
    Webhook.handler({ wake, by: () => Effect.succeed("bank") })
  })
})
