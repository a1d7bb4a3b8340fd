/** How a store fails. */
import * as Schema from "effect/Schema"

/**
 * A store that could not do what it was asked. Nothing was changed. `description` says what happened, why, and what to do;
 * no path and nothing that was stored is in it that a model must not read.
 *
 * - `Full`: there is no room: in the store's capacity, in a quota, or on the disk.
 * - `Busy`: others used it for too long. It may be tried again.
 * - `Corrupt`: a row does not say what it should, or is of another version of this library.
 * - `Forgotten`: nothing may begin of this request, because what became of it may have been given up.
 * - `Unavailable`: everything else.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  operation: Schema.String,
  description: Schema.String,
  reason: Schema.Literals(["Full", "Busy", "Corrupt", "Forgotten", "Unavailable"])
}) {
  override get message(): string {
    return this.description
  }
}
