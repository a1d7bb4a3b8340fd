import { useState } from "react"

export interface Details {
  readonly params?: unknown
  readonly answer?: unknown
  readonly note?: string
}

/** What became of a call, as `data-approval` says it. */
export interface Fate {
  readonly approvalId?: string
  readonly toolCallId: string
  readonly state: string
  readonly reason?: string
  readonly decidedBy?: { readonly name?: string; readonly id: string }
  readonly edits?: unknown
}

interface Props {
  readonly name: string
  readonly part: any
  readonly fate: Fate | undefined
  readonly answer: (approved: boolean, given: Details | undefined) => Promise<void>
}

const stateOf = (part: any, fate: Fate | undefined): string => {
  switch (part.state) {
    case "approval-requested":
      return fate?.state ?? "open"
    case "approval-responded":
      return fate === undefined || fate.state === "answered" ? "answered" : fate.state
    case "output-available":
      return part.preliminary === true ? "running" : "done"
    case "output-denied":
      return "denied"
    case "output-error":
      return "failed"
    default:
      return "running"
  }
}

export const Card = ({ answer, fate, name, part }: Props) => {
  const summary = `${name} ${Object.values(part.input ?? {}).join(" ")}`
  const [given, setGiven] = useState<Record<string, unknown>>({})
  const [note, setNote] = useState("")
  const state = stateOf(part, fate)
  const { descriptor, requestReason } = part.approval ?? {}
  const interaction: string | undefined = descriptor?.interaction
  const isQuestion = interaction === "form" || interaction === "askUser"
  const fields: Record<string, unknown> = interaction === "form"
    ? { seat: "", quiet: false }
    : interaction === "askUser"
    ? { "Your answer": "" }
    : part.input ?? {}

  const approve = () => {
    const all = { ...fields, ...given }
    const isChanged = Object.keys(given).length > 0
    if (interaction === "form") return answer(true, { answer: all })
    if (interaction === "askUser") return answer(true, { answer: all["Your answer"] })
    return answer(true, isChanged ? { params: all } : undefined)
  }

  return (
    <section role="group" aria-label={summary} data-state={state}>
      <h3>{name}</h3>
      <pre>{JSON.stringify(part.input)}</pre>
      {state === "open" && (
        <div>
          <p>{requestReason}</p>
          {descriptor?.presentation && <pre>{descriptor.presentation.content}</pre>}
          {Object.entries(fields).map(([key, value]) => (
            <label key={key}>
              {key}
              {typeof value === "boolean"
                ? <input type="checkbox" onChange={(event) => setGiven({ ...given, [key]: event.target.checked })} />
                : (
                  <input
                    defaultValue={String(value)}
                    onChange={(event) => setGiven({ ...given, [key]: event.target.value })}
                  />
                )}
            </label>
          ))}
          <button onClick={() => void approve()}>{isQuestion ? "Answer" : "Approve"}: {summary}</button>
          <label>
            why not <input value={note} onChange={(event) => setNote(event.target.value)} />
          </label>
          <button onClick={() => void answer(false, note === "" ? undefined : { note })}>Deny: {summary}</button>
        </div>
      )}
      {part.output !== undefined && <output>{JSON.stringify(part.output)}</output>}
      {part.errorText && <p>{part.errorText}</p>}
      {fate !== undefined && (
        <p data-fate={fate.state}>
          {[fate.reason, fate.decidedBy && `by ${fate.decidedBy.name ?? fate.decidedBy.id}`, fate.edits && "changed"]
            .filter(Boolean).join(" ")}
        </p>
      )}
    </section>
  )
}
