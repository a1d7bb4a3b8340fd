// @ts-check
/**
 * Whether a card has stood still for long enough that a click on it is meant: one that has just appeared, or has moved under
 * the finger, takes none for a moment.
 */
import { useLayoutEffect, useState } from "../vendor/preact.js"

const settling = 400

/** @typedef {{ top: number, since: number, isSteady: boolean, onChange: (isSteady: boolean) => void }} Watched */

/** @type {Map<Element, Watched>} */
const watched = new Map()

// Where it stands on the page: who scrolls knows that it moves.
/** @param {Element} element */
const topOf = (element) => element.getBoundingClientRect().top + scrollY

/** @param {Element} element @param {Watched} one @param {number} now */
const look = (element, one, now) => {
  const top = topOf(element)
  if (Math.abs(top - one.top) > 1) {
    one.top = top
    one.since = now
  }
  const isSteady = now - one.since >= settling
  if (isSteady !== one.isSteady) {
    one.isSteady = isSteady
    one.onChange(isSteady)
  }
}

/** How often it is looked whether anything moved, in milliseconds: not at every frame, which would draw them all for nothing. */
const pause = 50

/** @type {ReturnType<typeof setInterval> | undefined} */
let looking

/** Also at once, where something was drawn: who clicks before it would be noticed that a card has moved, clicks in vain. */
export const lookAtAll = () => {
  const now = performance.now()
  for (const [element, one] of watched) look(element, one, now)
}

/** @param {Element} element */
const leave = (element) => {
  watched.delete(element)
  if (watched.size > 0) return
  clearInterval(looking)
  looking = undefined
}

/** All of them have moved: the page was scrolled by itself, or nobody looked. */
export const unsettle = () => {
  const now = performance.now()
  for (const one of watched.values()) one.since = now
}

document.addEventListener("visibilitychange", unsettle)

/**
 * @param {{ readonly current: Element | null }} ref
 * @param {string | undefined} what stands there: where another thing does, it has just appeared
 */
export const useSteady = (ref, what) => {
  const [isSteady, onChange] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null || what === undefined) return
    onChange(false)
    watched.set(element, { top: topOf(element), since: performance.now(), isSteady: false, onChange })
    looking ??= setInterval(lookAtAll, pause)
    return () => leave(element)
  }, [what])
  return isSteady
}

/** Whether it stands still as it is clicked. @param {Element | null} element */
export const isSteadyNow = (element) => {
  const one = element === null ? undefined : watched.get(element)
  if (element === null || one === undefined) return true
  look(element, one, performance.now())
  return one.isSteady
}
