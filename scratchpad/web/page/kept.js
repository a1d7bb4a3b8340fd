// @ts-check
/**
 * What somebody has written and the server has not: it outlives the page in this tab, and is there again after a reload, or
 * when they have logged in anew.
 *
 * @typedef {{ readonly id: string, readonly text: string }} Unsaid
 * @typedef {{ readonly draft: string, readonly unsaid: ReadonlyArray<Unsaid> }} Kept
 */

/** @type {Kept} */
const nothing = { draft: "", unsaid: [] }

/**
 * @param {string} person what one has written is shown to nobody else
 * @param {string} chat
 */
export const of = (person, chat) => {
  const key = `unsaid ${JSON.stringify([person, chat])}`
  let kept = read(key)
  return {
    read: () => kept,
    /** @param {Partial<Kept>} change */
    write: (change) => {
      kept = { ...kept, ...change }
      try {
        if (kept.draft === "" && kept.unsaid.length === 0) sessionStorage.removeItem(key)
        else sessionStorage.setItem(key, JSON.stringify(kept))
      } catch {
        // Who lets a page keep nothing, or has no room left, has it on the page.
      }
    }
  }
}

/** @param {string} key @returns {Kept} */
const read = (key) => {
  try {
    return { ...nothing, ...JSON.parse(sessionStorage.getItem(key) ?? "{}") }
  } catch {
    return nothing
  }
}
