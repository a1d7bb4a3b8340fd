/** A reader that remembers the last text it read: many rules ask about the same line, one after the other. */
export const lastRead = <A>(read: (source: string) => A): (source: string) => A => {
  let last: { readonly source: string; readonly found: A } | undefined
  return (source) => {
    if (last?.source !== source) last = { source, found: read(source) }
    return last.found
  }
}
