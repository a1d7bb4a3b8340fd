import { Approval, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Decider, UiMessageStream } from "@assent/web"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import { HttpRouter } from "effect/http"

// Yours, as it is: async functions.
interface User {
  readonly id: string
  readonly name: string
}

const userOf = async (session: string | undefined): Promise<User | undefined> =>
  session === "s-1" ? { id: "ada", name: "Ada" } : undefined

const deleteFile = async (path: string): Promise<string> => {
  console.log(`deleting ${path}`)
  return "deleted"
}

// Effect begins here: what the model may call, who sends a request, and which model it is.
const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.promise(() => deleteFile(path)) })

// For each request: the person, who decides, and whose conversations they see. Nothing that is posted says it.
const People = Decider.layer((request) =>
  Effect.flatMap(
    Effect.promise(() => userOf(request.cookies["session"])),
    (user) =>
      user === undefined
        ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
        : Effect.succeed({ person: user, scope: { principal: user.id } })
  )
)

// Any provider's model stands here; this one follows a script, so that no key is needed.
const Model = ScriptedModel.layer({
  turns: [
    [ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "debug.log" } })],
    "debug.log is gone."
  ]
})

const conversation = (id: string) => Conversation.make({ id, toolkit })

// What both the routes and the rest of the program need. A database is added here.
const Services = Layer.merge(Handlers, Model)
const runtime = ManagedRuntime.make(Services)
const routes = UiMessageStream.layer({ conversation }).pipe(Layer.provide([People, Services]))

// And ends here: a function from Request to Promise<Response>. The memo map lets it share the services of the runtime.
const web = HttpRouter.toWebHandler(routes, { disableLogger: true, memoMap: runtime.memoMap })

export const handler = (request: Request): Promise<Response> => web.handler(request)

/** What waits in a conversation, for the rest of the program. */
export const waitingIn = (id: string, user: User): Promise<ReadonlyArray<Approval.ApprovalRequest>> =>
  runtime.runPromise(
    Effect.flatMap(conversation(id), ({ pending }) => pending()).pipe(
      Effect.provideService(Approval.Scope, { principal: user.id })
    )
  )

export const dispose = async (): Promise<void> => {
  await web.dispose()
  await runtime.dispose()
}
