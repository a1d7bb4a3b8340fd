/**
 * Of which requests a store may have given up what became of them: those whose time, with the margin, is over; and those that
 * a clock which ran ahead gave up before it came back. Of the latter it remembers the last time that was over, and when the
 * latest of them was asked: whatever was asked later was not among them.
 */
import { margin, type RequestName, StoreError } from "./model.ts"

export interface Forgotten {
  readonly keepUntil: number
  readonly issuedAt: number
}

type Times = Pick<RequestName, "expiresAt" | "issuedAt">

export const none: Forgotten = { keepUntil: Number.NEGATIVE_INFINITY, issuedAt: Number.NEGATIVE_INFINITY }

/** With this one, which is given up. */
export const withOne = (forgotten: Forgotten, { expiresAt, issuedAt }: Times): Forgotten =>
  expiresAt === undefined ? forgotten : {
    keepUntil: Math.max(forgotten.keepUntil, expiresAt + margin),
    issuedAt: Math.max(forgotten.issuedAt, issuedAt)
  }

export const mayBe = (forgotten: Forgotten, { expiresAt, issuedAt }: Times, now: number): boolean =>
  expiresAt !== undefined &&
  (expiresAt + margin <= now || (expiresAt + margin <= forgotten.keepUntil && issuedAt <= forgotten.issuedAt))

/** Nothing may begin of them: it may have run. */
export const error = (operation: string): StoreError =>
  new StoreError({
    operation,
    reason: "Forgotten",
    description:
      "What became of the request is not known any more, because its time was over by the clock of a process that" +
      " uses the store. Nothing was changed. Ask again, and see that the clocks of all processes are right."
  })
