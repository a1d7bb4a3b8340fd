// @ts-check
/** Which cards were on the screen from their first line to their last: only those can be approved at one stroke. */
import { useEffect } from "../vendor/preact.js"

/**
 * Calls `onSeen` when the first and the last line of an element have been seen.
 *
 * @param {{ readonly current: Element | null }} ref
 * @param {string | undefined} what is to be seen; nothing if undefined
 * @param {(what: string) => void} onSeen
 */
export const useSeen = (ref, what, onSeen) => {
  useEffect(() => {
    const first = ref.current?.firstElementChild
    const last = ref.current?.lastElementChild
    if (first == null || last == null || what === undefined) return
    const unseen = new Set([first, last])
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) unseen.delete(target)
      if (unseen.size > 0) return
      observer.disconnect()
      onSeen(what)
    }, { threshold: 0.9 })
    for (const element of unseen) observer.observe(element)
    return () => observer.disconnect()
  }, [what])
}
