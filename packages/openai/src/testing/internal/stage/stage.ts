/** What playing a turn needs and makes. */
import type * as Responses from "openai/resources/responses/responses"
import type { Finish, StageDirection } from "../../StageDirection.ts"
import type * as HostedMcp from "./hostedMcp.ts"
import type * as Items from "./items.ts"
import type * as Store from "./store.ts"

export interface Stage {
  readonly store: Store.Store
  readonly servers: HostedMcp.McpServers
  readonly executions: Array<HostedMcp.McpExecution>
  readonly deltaSize: number
}

export type Direction = Exclude<StageDirection, { readonly _tag: "Finish" | "Usage" }>

/** A turn whose items are made. */
export interface Played {
  readonly output: ReadonlyArray<Items.OutputItem>
  /** Stage directions by the number of items before them. */
  readonly scene: ReadonlyMap<number, ReadonlyArray<Direction>>
  readonly finish: Finish | undefined
  readonly usage: Responses.ResponseUsage
}
