/** Tools that run at OpenAI: what fails there is a result for the model, and no error of the program's. */
import type * as Tool from "effect/ai/Tool"
import type * as Schema from "effect/Schema"

interface Config {
  readonly args: Schema.Constraint
  readonly parameters: Schema.Constraint
  readonly success: Schema.Constraint
  readonly failure: Schema.Constraint
  readonly failureMode: Tool.FailureMode
}

type Returning<C extends Config> = Pick<C, "args" | "parameters" | "success" | "failure"> & {
  readonly failureMode: "return"
}

/** The same constructor, of tools whose failures are returned. */
export const returningFailures = <Args, Id extends `${string}.${string}`, Name extends string, C extends Config>(
  make: (args: Args) => Tool.ProviderDefined<Id, Name, C>
) =>
(args: Args): Tool.ProviderDefined<Id, Name, Returning<C>> =>
  // Upstream lets only tools with a handler say how they fail; what it makes is new, and nobody else's yet.
  Object.assign(make(args), { failureMode: "return" }) as unknown as Tool.ProviderDefined<Id, Name, Returning<C>>
