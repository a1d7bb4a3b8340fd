// @ts-check
/** Since when, and until when. */
import { html, useEffect, useState } from "../vendor/preact.js"

/** The time, every so often: each second where something ends soon. @param {number | undefined} until */
export const useNow = (until) => {
  const [now, setNow] = useState(Date.now)
  const left = until === undefined ? Infinity : until - now
  const pause = left > 0 && left < 90_000 ? 1_000 : 15_000
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), pause)
    return () => clearInterval(timer)
  }, [pause])
  return now
}

const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

/** @param {number} milliseconds */
const relative = (milliseconds) => {
  const minutes = Math.round(milliseconds / 60_000)
  if (Math.abs(minutes) < 60) return words.format(minutes, "minute")
  const hours = Math.round(minutes / 60)
  return Math.abs(hours) < 48 ? words.format(hours, "hour") : words.format(Math.round(hours / 24), "day")
}

/** @param {{ at: number, now: number }} props */
export const Since = ({ at, now }) =>
  html`<time datetime=${new Date(at).toISOString()} title=${new Date(at).toLocaleString()}>${
    now - at < 45_000 ? "just now" : relative(at - now)
  }</time>`

/** @param {{ at: number, now: number }} props */
export const Until = ({ at, now }) => {
  const seconds = Math.ceil((at - now) / 1_000)
  return html`<time datetime=${new Date(at).toISOString()} title=${new Date(at).toLocaleString()}>${
    seconds <= 0 ? "expired" : seconds < 90 ? `expires in ${seconds} s` : `expires ${relative(at - now)}`
  }</time>`
}
