/** What a tool is called in a toolkit. */

/** The name that was given, or else the default of the type parameter it stands for. */
export const named = <Name extends string>(name: Name | undefined, otherwise: string): Name =>
  (name ?? otherwise) as Name // `Name` is its default exactly when no name is given.
