/** What the turns of a conversation stand in: most of it is from where it was made, and does not change with who takes one. */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Approval from "../../Approval.ts"
import * as Levels from "../asking/levels.ts"
import { TrustsAnswers } from "../environment/trust.ts"
import * as Activity from "../journal/activity.ts"
import * as Wrap from "../turn/wrap.ts"

export interface Surroundings {
  /** Everything that was there when it was made. */
  readonly services: Context.Context<never>
  /** The engine's own stores and journal, as its model was given them: what is given to others it would not see. */
  readonly captured: Context.Context<never>
  /** Whose conversation it is, who its model is, and who decides in it. */
  readonly own: Context.Context<never>
  readonly levels: Levels.Levels
}

export const make = (services: Context.Context<never>, scope: Approval.ApprovalScope): Surroundings => {
  const model = Context.getOption(services, LanguageModel.LanguageModel)
  const captured = Option.match(model, { onNone: () => Context.empty(), onSome: Wrap.capturedBy })
  const levels = Levels.levels(captured, services)
  const own = Context.make(Approval.Scope, scope).pipe(Context.add(TrustsAnswers, true))
  // What goes on where it was made is not what its turns go on within.
  return {
    services: Context.omit(Activity.Current)(services),
    captured,
    own: decidedBy(Option.isNone(model) ? own : takenBy(own, model.value), levels),
    levels
  }
}

/** Another model's turns: what that one was given has a word beside what the conversation was made with (law L11). */
export const withModel = (
  { levels, own, services }: Surroundings,
  model: LanguageModel.LanguageModel
): Surroundings => {
  const captured = Wrap.capturedBy(model)
  const both = Levels.concat(levels, Levels.levels(captured, Context.empty()))
  return { services, captured, own: decidedBy(takenBy(own, model), both), levels: both }
}

/** For a turn in which the model is not called: it would fail with this. */
export const refusing = <E>({ own }: Surroundings, error: E): Context.Context<never> => {
  const model = Context.getOption(own, LanguageModel.LanguageModel)
  return Option.isNone(model) ? Context.empty() : takenBy(Context.empty(), Wrap.refusing(model.value, error))
}

/** The context of a turn that is taken in another one, whose services win where they are not the conversation's own. */
export const inside =
  ({ captured, own, services }: Surroundings) => (current: Context.Context<never>): Context.Context<never> =>
    Context.merge(Context.merge(captured, Context.merge(services, current)), own)

const decidedBy = (own: Context.Context<never>, levels: Levels.Levels): Context.Context<never> =>
  levels === Levels.silent ? own : Context.add(own, Levels.Inside, levels)

// It is among the requirements of whoever makes a conversation, and provided to all that runs in one.
const takenBy = (own: Context.Context<never>, model: LanguageModel.LanguageModel): Context.Context<never> =>
  Context.add(own, LanguageModel.LanguageModel, model) as Context.Context<never>
