/**
 * Several globs as one matcher of a path has them.
 */
import { quote } from "./description.ts"
import * as Globs from "./globs.ts"
import * as LooseGlobs from "./looseGlobs.ts"
import * as Paths from "./paths.ts"
import * as Reading from "./reading.ts"

export interface PathGlobs {
  readonly problems: ReadonlyArray<string>
  readonly covers: (path: string) => boolean
  readonly mayCover: (path: string) => boolean
}

/** More of them would take seconds to read, each time that a stored matcher is (law L17). */
const maxCount = 1_000

/** What is wrong with globs, a sentence for each. */
export const problemsOf = (globs: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (globs.length === 0) return ["It has no glob, so it covers nothing."]
  if (globs.length > maxCount) return [`It has more than ${maxCount.toLocaleString("en")} globs, so it covers nothing.`]
  return globs.flatMap((glob) => {
    const problem = Globs.problemOf(glob)
    return problem === undefined ? [] : [`The glob ${quote(glob)} covers nothing: ${problem}`]
  })
}

export const make = (globs: ReadonlyArray<string>, isLink: ((path: string) => boolean) | undefined): PathGlobs => {
  if (globs.length > maxCount) return { problems: problemsOf(globs), covers: () => false, mayCover: () => true }
  const good = globs.filter((glob) => Globs.problemOf(glob) === undefined)
  const match = Globs.match(good)
  const loose = good.flatMap(LooseGlobs.make)
  return {
    problems: problemsOf(globs),
    covers: (path) =>
      match(Reading.read(path)) &&
      // What is not plainly `false` may be a link.
      (isLink === undefined || Paths.steps(path).every((step) => isLink(step) === false)),
    mayCover: (path) => {
      const reading = Reading.read(path)
      return loose.some((glob) => LooseGlobs.mayMatch(glob, reading)) || good.length < globs.length ||
        (isLink !== undefined && Paths.steps(path).some((step) => isLink(step) !== false))
    }
  }
}
