/** The fields of an object that are not `undefined`: optional keys of a `Schema.Class` are absent or have a value. */
export const definedFields = <A extends object>(
  fields: A | undefined
): { [K in keyof A]-?: Exclude<A[K], undefined> } => {
  const defined: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields ?? {})) {
    if (value !== undefined) defined[key] = value
  }
  // Every key that is left has a value; that absent optional keys are absent cannot be said in the type.
  return defined as never
}
