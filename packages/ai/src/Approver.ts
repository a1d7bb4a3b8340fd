/**
 * The people who may decide, and who did (law L16). Who somebody is, the channel that takes a decision knows: a program
 * that has logged them in, a terminal, a webhook. A message never says it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Who decided, as the channel that took the decision knows it (law L16): `via` names that channel, such as `message`,
 * `controller`, `conversation`, `elicitation`, `webhook`, `terminal` or `memory`. Without an `id` nobody is known. It is
 * never read from a message.
 *
 * @category models
 * @since 0.1.0
 */
export class DecidedBy extends Schema.Class<DecidedBy>("@assent/ai/DecidedBy")({
  id: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  via: Schema.String
}) {}

/**
 * A person, as the program knows them: the `id` is what `approvers` name, and the `name` is for people to read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person {
  readonly id?: string | undefined
  readonly name?: string | undefined
}

/**
 * The ids of those who may decide: a list of people, one of whom is enough, or several such lists, of each of which one
 * person is needed. Who is on two lists counts for both.
 *
 * @category models
 * @since 0.1.0
 */
export const Approvers = Schema.Union([Schema.Array(Schema.String), Schema.Array(Schema.Array(Schema.String))])

/**
 * The ids of those who may decide: a list of people, one of whom is enough, or several such lists, of each of which one
 * person is needed. Who is on two lists counts for both.
 *
 * @category models
 * @since 0.1.0
 */
export type Approvers = typeof Approvers.Type

/**
 * The lists of {@link Approvers}, of each of which one person is needed; none where anybody may decide.
 *
 * @example
 * import { Approver } from "@assent/ai"
 *
 * Approver.lists(["ada", "bob"]) // => [["ada", "bob"]]
 * Approver.lists([["ada"], ["bob"]]) // => [["ada"], ["bob"]]
 * Approver.lists(undefined) // => []
 *
 * @category accessors
 * @since 0.1.0
 */
export const lists = (approvers: Approvers | undefined): ReadonlyArray<ReadonlyArray<string>> =>
  approvers === undefined ? [] : isLists(approvers) ? approvers : [approvers]

const isLists = (approvers: Approvers): approvers is ReadonlyArray<ReadonlyArray<string>> =>
  approvers.length > 0 && typeof approvers[0] !== "string"
