/**
 * What goes on and can be stopped: turns, and approved runs, each with all that goes on within it. A run is a fiber of the
 * journal's, and not of whoever waits for it; that it goes on within a turn, or within another run, is said here (law L2).
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Something that goes on. */
export interface Activity {
  /** In what it goes on. A run that is joined goes on within all who wait for it. */
  readonly around: Set<Activity>
  /** What goes on within it, and what has outlived something that did. */
  readonly within: Set<Activity>
  isStopped: boolean
  isOver: boolean
  readonly ended: Deferred.Deferred<void>
  readonly options: Options
}

export interface Options {
  /** Tells it to stop; it does not wait. */
  readonly interrupt: () => void
  /** Is told when it has ended, with all that went on within it. */
  readonly gone?: (() => void) | undefined
}

/** The innermost one that a fiber is in. */
export const Current: Context.Reference<Activity | undefined> = Context.Reference<Activity | undefined>(
  "~@assent/ai/internal/Activity",
  { defaultValue: () => undefined }
)

export const begin = (around: Activity | undefined, options: Options): Activity => {
  const activity: Activity = {
    around: new Set(),
    within: new Set(),
    isStopped: false,
    isOver: false,
    ended: Deferred.makeUnsafe(),
    options
  }
  enter(activity, around)
  return activity
}

/** From now on it goes on within that one too. */
export const enter = (activity: Activity, around: Activity | undefined): void => {
  if (around === undefined || around.isOver) return
  activity.around.add(around)
  around.within.add(activity)
}

/** It has ended. What still goes on within it goes on within what it was in, too. */
export const end = (activity: Activity): void => {
  activity.isOver = true
  for (const left of activity.within) {
    for (const around of activity.around) enter(left, around)
  }
  for (const around of activity.around) {
    around.within.delete(activity)
    forget(around)
  }
  activity.around.clear()
  Deferred.doneUnsafe(activity.ended, Exit.void)
  forget(activity)
}

const forget = ({ isOver, options, within }: Activity): void => {
  if (isOver && within.size === 0) options.gone?.()
}

/** Whether it was stopped, or anything in which it goes on. */
export const isStopped = ({ around, isStopped: isSo }: Activity): boolean => isSo || Array.from(around).some(isStopped)

/** Stops it with all that goes on within it, and waits until everything has ended. */
export const stop = (activity: Activity): Effect.Effect<void> =>
  Effect.suspend(() => {
    const stopped = new Set<Activity>()
    interrupt(activity, stopped)
    return Effect.andThen(
      Effect.forEach(stopped, ({ ended }) => Deferred.await(ended), { discard: true }),
      // What had begun meanwhile, by what was stopped, on its way out.
      Effect.suspend(() => activity.within.size === 0 ? Effect.void : stop(activity))
    )
  })

// What is around first: it must not take the end of what is within for news.
const interrupt = (activity: Activity, stopped: Set<Activity>): void => {
  if (stopped.has(activity)) return
  stopped.add(activity)
  activity.isStopped = true
  if (!activity.isOver) activity.options.interrupt()
  for (const one of Array.from(activity.within)) interrupt(one, stopped)
}
