/** Why nothing more is known of a run, or nothing can be begun. */
export const interruptedReason =
  "The run was stopped before it finished; what it did is unknown. Check before calling again."
export const lostReason =
  "The process that ran this call ended before it could report; what it did is unknown. Check before" +
  " calling again."
export const forgottenReason =
  "What became of this request is not known any more, so nothing was run for it now; it may have run before. Check" +
  " before calling again."
export const closedReason = "It is being closed."
export const stoppedReason = "The run was stopped while it waited for another process."
export const notBegunReason = "The run that was to be joined did not begin. Nothing ran; try again."
export const endedAboveReason = "What it is a part of was ended meanwhile. Nothing ran for it."
