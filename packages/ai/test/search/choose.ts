/** How plans are drawn: one of several things, each as often as it is wanted. */
import { Arbitrary, Schema } from "effect"

const indices = new Map<number, Arbitrary.Arbitrary<number>>()

// Literals, because integers are drawn from the ends of their interval more often than from its middle. Kept, because what
// is drawn with what was drawn before asks for them anew each time.
export const below = (count: number): Arbitrary.Arbitrary<number> => {
  const known = indices.get(count)
  if (known !== undefined) return known
  const made = Arbitrary.schema(Schema.Literals(Array.from({ length: count }, (_, index) => index)))
  indices.set(count, made)
  return made
}

/** One of several arbitraries, each as often as its weight says. */
export const weighted = <A>(choices: ReadonlyArray<readonly [weight: number, choice: Arbitrary.Arbitrary<A>]>) => {
  const all = choices.flatMap(([weight, choice]) => Array.from({ length: weight }, () => choice))
  return Arbitrary.flatMap(below(all.length), (index) => all[index]!)
}

/** One of several values; the first is met as often as `favour` says, compared with each of the others. */
export const oneOf = <const A>(favour: number, first: A, ...others: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(below(favour + others.length), (index) => index < favour ? first : others[index - favour]!)

export const listOf = <A>(item: Arbitrary.Arbitrary<A>, minLength: number, maxLength: number) =>
  Arbitrary.array(item, { minLength, maxLength })

/** Made once for each theme, however often it is part of something. */
export const perTheme = <Theme extends object, A>(make: (theme: Theme) => A): (theme: Theme) => A => {
  const made = new Map<Theme, A>()
  return (theme) => {
    const known = made.get(theme) ?? make(theme)
    made.set(theme, known)
    return known
  }
}
