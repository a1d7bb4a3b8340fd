/**
 * The people who may decide, and who did (law L16). The channel that takes a decision knows who somebody is: a program
 * that has logged them in, a terminal, a webhook. A message never says it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Text from "./internal/text.ts"

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
 * The ids of those who may decide: one list, of which one person is enough, or several lists, of each of which one
 * person is needed. Whoever is on two lists counts for both.
 *
 * @category models
 * @since 0.1.0
 */
export const Approvers = Schema.Union([Schema.Array(Schema.String), Schema.Array(Schema.Array(Schema.String))])

/**
 * The ids of those who may decide: one list, of which one person is enough, or several lists, of each of which one
 * person is needed. Whoever is on two lists counts for both.
 *
 * @category models
 * @since 0.1.0
 */
export type Approvers = typeof Approvers.Type

/**
 * Who decided: the person whom a channel has logged in, or nobody. An `id` that is no text, is empty, or is longer than
 * 256 characters counts as none; of a longer `name`, the first 256 characters are kept.
 *
 * @example
 * import { Approver } from "@assent/ai"
 *
 * Approver.decidedBy({ id: "ada" }, "controller") // => new Approver.DecidedBy({ id: "ada", via: "controller" })
 * Approver.decidedBy({ id: "" }, "page") // => new Approver.DecidedBy({ via: "page" })
 *
 * @category constructors
 * @since 0.1.0
 */
export const decidedBy = (person: Person | undefined, via: string): DecidedBy =>
  new DecidedBy({
    ...(isKnown(person?.id) ? { id: person.id } : undefined),
    ...(isText(person?.name) ? { name: Text.escape(person.name, { maxLength }) } : undefined),
    via: Text.escape(via, { maxLength })
  })

const maxLength = 256

const isText = (u: unknown): u is string => typeof u === "string" && u !== ""

// One that was cut could be somebody else's.
const isKnown = (id: unknown): id is string => isText(id) && id.length <= maxLength

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
