/** What issue 26 asks for. */
import { ours } from "./results.ts"

/** Ours divided by theirs, ours less theirs, or ours alone, is at most this. */
export type Goal =
  | { readonly _tag: "Ratio"; readonly library: string; readonly most: number }
  | { readonly _tag: "More"; readonly library: string; readonly most: number }
  | { readonly _tag: "Alone"; readonly most: number }

export const ratio = (library: string, most: number): Goal => ({ _tag: "Ratio", library, most })
export const more = (library: string, most: number): Goal => ({ _tag: "More", library, most })
export const alone = (most: number): Goal => ({ _tag: "Alone", most })

export interface Verdict {
  readonly title: string
  readonly beside: string
  readonly figure: string
  readonly goal: string
  readonly isMet: boolean
}

/** A figure of each library, and how it is written. */
export interface Figures {
  readonly of: ReadonlyMap<string, number>
  readonly show: (figure: number) => string
}

/** Nothing where a library was not measured. */
export const verdict = (title: string, goal: Goal, { of, show }: Figures): Verdict | undefined => {
  const own = of.get(ours)
  const other = goal._tag === "Alone" ? 0 : of.get(goal.library)
  if (own === undefined || other === undefined) return undefined
  switch (goal._tag) {
    case "Ratio": {
      const figure = own / other
      return {
        title,
        beside: goal.library,
        figure: figure.toFixed(2),
        goal: goal.most.toFixed(2),
        isMet: figure <= goal.most
      }
    }
    case "More":
      return {
        title,
        beside: `over ${goal.library}`,
        figure: `+${show(own - other)}`,
        goal: `+${show(goal.most)}`,
        isMet: own - other <= goal.most
      }
    case "Alone":
      return { title, beside: "alone", figure: show(own), goal: show(goal.most), isMet: own <= goal.most }
  }
}
