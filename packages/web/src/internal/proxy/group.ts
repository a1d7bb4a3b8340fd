/** The endpoints. */
import { Approval } from "@assent/ai"
import type * as Context from "effect/Context"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as Decider from "../../Decider.ts"
import * as Errors from "./errors.ts"
import { RequestGuard } from "./guard.ts"
import * as Model from "./model.ts"

// A longer one finds no route in effect's router.
const params = {
  id: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)).annotate({
    description: "The id of the conversation, among those of whoever asks."
  })
}

const said = HttpApiSchema.StreamSse({ data: Model.Part, error: Errors.TurnFailed })

const describe = (summary: string, description: string): Context.Context<never> =>
  OpenApi.annotations({ summary, description })

// The document does not read the description of a stream.
const describeEvents = OpenApi.annotations({
  transform: (operation) => {
    const responses = operation["responses"] as OpenApi.OpenAPISpecResponses
    return { ...operation, responses: { ...responses, 200: { ...responses[200]!, description: events } } }
  }
})

const events =
  "What the turn says, from `turn-start` to `turn-end`, each in the `data` of an event, as JSON. Where the turn" +
  " fails, the last event is the `failureEvent`, and says of what in `data`: `[{ _tag: \"Fail\", error }]`."

const makeGroup = <const Name extends string>(name: Name) =>
  HttpApiGroup.make(name).add(
    HttpApiEndpoint.post("send", "/:id/messages", {
      params,
      payload: Model.SendPayload,
      success: said,
      error: Errors.deciding
    }).annotateMerge(describe(
      "Say something",
      "Says something, and takes a turn, whose events are the response: what is said, as it comes. The turn goes on when" +
        " whoever reads it leaves; `follow` reads it from its beginning. Answers that go with it are decided first, and what" +
        " becomes of each is in the last event. A message that is sent again under its own id is not said again."
    )).annotateMerge(describeEvents),
    HttpApiEndpoint.post("decide", "/:id/decisions", {
      params,
      payload: Model.DecidePayload,
      success: [Model.Decided, Model.Accepted],
      error: Errors.deciding
    }).annotateMerge(describe(
      "Decide",
      "Decides open requests, and takes a turn. It waits until what was answered is settled, and not for the model. One" +
        " answer that has no effect is told so by the status; of several, each has its own fate in the response."
    )),
    HttpApiEndpoint.post("answer", "/:id/answers", {
      params,
      payload: Model.AnswerPayload,
      success: [Model.Decided, Model.Accepted],
      error: Errors.deciding
    }).annotateMerge(describe(
      "Answer what a tool waits for",
      "Gives a tool the value that it waits for, and takes a turn. A request that asks for consent is not answered so."
    )),
    HttpApiEndpoint.get("pending", "/:id/requests", {
      params,
      success: Schema.Array(Approval.ApprovalRequest).annotate({ description: "The open requests, in their order." }),
      error: Errors.reading
    }).annotateMerge(describe("What is open", "The requests of the conversation that wait for somebody.")),
    HttpApiEndpoint.get("state", "/:id/requests/state", {
      params,
      query: { approvalId: Schema.String.annotate({ description: "The id of the request." }) },
      success: Model.RequestState,
      error: [...Errors.reading, Errors.UnknownRequest]
    }).annotateMerge(describe("What became of a request", "How it stands, who decided, and what the tool gave.")),
    HttpApiEndpoint.get("history", "/:id/messages", {
      params,
      success: Model.History,
      error: Errors.reading
    }).annotateMerge(describe(
      "What was said",
      "The messages, with ids that stay, what is open, and whether a turn is being taken."
    )),
    HttpApiEndpoint.get("follow", "/:id/turn", {
      params,
      success: [said, HttpApiSchema.NoContent],
      error: Errors.reading
    }).annotateMerge(describe(
      "Follow the turn",
      "The turn that is being taken, whoever began it: all of it from its beginning, then as it comes. 204 if none is."
    )).annotateMerge(describeEvents),
    HttpApiEndpoint.post("cancel", "/:id/cancel", {
      params,
      payload: Model.CancelPayload,
      success: HttpApiSchema.NoContent,
      error: Errors.posting
    }).annotateMerge(describe(
      "Cancel",
      "Stops what goes on in the conversation, and takes back what is open. Nobody's \"no\": the model may ask again."
    ))
  )

/** The endpoints of a group of this name, under a path, with the middleware that says who asks. */
export type Group<
  Name extends string,
  Path extends `/${string}` = "/conversations",
  M extends HttpApiMiddleware.AnyId = Decider.Middleware
> = HttpApiGroup.AddMiddleware<
  HttpApiGroup.AddMiddleware<HttpApiGroup.AddPrefix<ReturnType<typeof makeGroup<Name>>, Path>, RequestGuard>,
  M
>

export const make = <Name extends string, Path extends `/${string}`, M extends HttpApiMiddleware.AnyId, S>(
  name: Name,
  path: Path | undefined,
  middleware: Context.Key<M, S> | undefined
): Group<Name, Path, M> => {
  const endpoints = makeGroup(name)
    .prefix(path ?? "/conversations")
    .middleware(RequestGuard)
    .annotate(OpenApi.Description, "Conversations with a model whose tools ask before they run.")
  // Outside, so that nothing is read of whoever is not let in. The defaults are those of the type parameters.
  const group = middleware === undefined ? endpoints.middleware(Decider.Middleware) : endpoints.middleware(middleware)
  return group as unknown as Group<Name, Path, M>
}
