/** Who asks a server, and the tool that asks them. */
import { Tool } from "@assent/ai"
import { Decider } from "@assent/web"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Who somebody is, a header says here; without one they are Ada. `nobody` is not let in. */
export const People = Decider.layer((request) => {
  const id = request.headers["x-person"] ?? "ada"
  return id === "nobody"
    ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
    : Effect.succeed({
      person: { id, name: id.toUpperCase() },
      scope: { principal: request.headers["x-principal"] ?? "team", tenant: request.headers["x-tenant"] }
    })
})

export const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.String }),
  failure: Schema.String,
  failureMode: "return",
  needsApproval: true
})

/** Deletes a file after what it waits for, and says which were deleted, in their order. */
export const deleting = (before: (path: string) => Effect.Effect<void, string> = () => Effect.void) => {
  const deleted: Array<string> = []
  const handler = ({ path }: { readonly path: string }) =>
    Effect.map(before(path), () => {
      deleted.push(path)
      return { deleted: path }
    })
  return { deleted, handler }
}

export interface Server {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
  /** The paths that were deleted, in their order. */
  readonly deleted: ReadonlyArray<string>
}
