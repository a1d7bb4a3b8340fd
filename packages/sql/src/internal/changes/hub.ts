/** Those of this process who wait for a change, and what has changed lately. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"

/** A topic as a word, which may be said to other processes; `all` says that anything may be another. */
export type Word = string

export const all: Word = "*"

/** An id that is too long to be said stands for all. */
const longest = 200

export const wordOf = (topic: Store.Topic): Word => {
  if (typeof topic === "string") return topic
  const [letter, id] = "stopped" in topic ? ["s", topic.stopped] : ["c", topic.conversation]
  return id.length > longest ? all : `${letter} ${id}`
}

export interface Hub extends Store.Changes {
  /** Something of that has changed: whoever waits for it looks again. */
  readonly tell: (word: Word) => void
  readonly isAwaited: () => boolean
}

/** How many topics are remembered for those who have looked, and do not wait yet. */
const remembered = 1_000

/** `onWait` is called when the first begins to wait. */
export const make = (onWait: () => void): Hub => {
  let count = 0
  /** When each was told last, in that order; all that was told up to `forgotten` may have been anything. */
  const last = new Map<Word, number>()
  let forgotten = 0
  const waiting = new Map<Word, Set<() => void>>()

  const wake = (word: Word) => {
    const those = waiting.get(word)
    if (those === undefined) return
    waiting.delete(word)
    for (const one of those) one()
  }

  const hasChanged = (mark: number, word: Word) =>
    word === all ? count > mark : forgotten > mark || (last.get(word) ?? 0) > mark

  return {
    isAwaited: () => waiting.size > 0,
    mark: () => count,
    tell: (word) => {
      count++
      if (word === all) {
        last.clear()
        forgotten = count
        for (const one of waiting.keys()) wake(one)
        return
      }
      last.delete(word)
      last.set(word, count)
      if (last.size > remembered) {
        const [[oldest, at] = []] = last
        if (oldest !== undefined && at !== undefined) {
          last.delete(oldest)
          forgotten = at
        }
      }
      wake(word)
      wake(all)
    },
    after: (mark, topic) =>
      Effect.callback((resume) => {
        const word = wordOf(topic)
        if (hasChanged(mark, word)) return resume(Effect.void)
        const those = waiting.get(word) ?? new Set()
        const one = () => resume(Effect.void)
        waiting.set(word, those.add(one))
        onWait()
        return Effect.sync(() => {
          those.delete(one)
          if (those.size === 0 && waiting.get(word) === those) waiting.delete(word)
        })
      })
  }
}
