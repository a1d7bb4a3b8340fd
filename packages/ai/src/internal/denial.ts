/** How a denial is written and read: its reason has two names, upstream's and ours, and is one field. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** The one reason of the two that were given: joined where they differ, so that neither is lost. */
export const oneReason = (
  note: string | null | undefined,
  reason: string | null | undefined
): string | undefined => {
  if (isBlank(note)) return reason ?? note ?? undefined
  return isBlank(reason) || reason === note ? note : `${note}\n${reason}`
}

const isBlank = (text: string | null | undefined): text is "" | null | undefined =>
  text === null || text === undefined || text.trim() === ""

const fields = Schema.Struct({
  _tag: Schema.tag("Denied"),
  note: Schema.optionalKey(Schema.String),
  remember: Schema.optionalKey(Schema.Json),
  stop: Schema.optionalKey(Schema.Boolean)
})

const said = Schema.optional(Schema.NullOr(Schema.String))

const posted = Schema.Struct({
  _tag: Schema.Literal("Denied"),
  note: said,
  reason: said,
  remember: Schema.optionalKey(Schema.Json),
  stop: Schema.optionalKey(Schema.Boolean)
}).pipe(Schema.decodeTo(
  fields,
  SchemaTransformation.transform({
    decode: ({ note, reason, ...others }) => {
      const one = oneReason(note, reason)
      return one === undefined ? others : { ...others, note: one }
    },
    encode: (denied) => denied
  })
))

/** The fields of a denial, as `Schema.Class` takes them, read from either name and written as `note`. */
export const struct = fields.rebuild(posted.ast)
