import { useChat } from "@ai-sdk/react"
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai"
import { type FormEvent, useMemo, useRef, useState } from "react"
import { Card, type Details, type Fate } from "./Card.tsx"

export const Chat = ({ id, kept }: { readonly id: string; readonly kept: Array<UIMessage> }) => {
  const details = useRef<Record<string, Details>>({})
  // A function: what goes with a click is posted with the click that posts, which may be a later one.
  const transport = useMemo(() => new DefaultChatTransport({ body: () => ({ details: details.current }) }), [])
  const [late, setLate] = useState<Record<string, Fate>>({})
  const { addToolApprovalResponse, error, messages, sendMessage, status } = useChat({
    id,
    messages: kept,
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onData: (part) => {
      if (part.type !== "data-approval") return
      const fate = part.data as Fate
      if (fate.approvalId !== undefined) setLate((late) => ({ ...late, [fate.approvalId!]: fate }))
    }
  })
  const [text, setText] = useState("")

  const say = (event: FormEvent) => {
    event.preventDefault()
    void sendMessage({ text })
    setText("")
  }

  const answer = async (message: UIMessage, approvalId: string, approved: boolean, given: Details | undefined) => {
    if (given !== undefined) details.current[approvalId] = given
    await addToolApprovalResponse({
      id: approvalId,
      approved,
      ...(given === undefined ? {} : { reason: "assent:with-details" })
    })
    // The client posts nothing by itself for a card of an older message.
    if (message !== messages.at(-1)) await sendMessage()
  }

  return (
    <main data-chat={id}>
      <ol aria-label="Messages">
        {messages.map((message) => {
          const fates = message.parts.flatMap((part) =>
            part.type === "data-approval" ? [(part as any).data as Fate] : []
          )
          return (
            <li key={message.id} data-role={message.role}>
              {message.parts.map((part, index) => {
                if (part.type === "text") return <p key={index}>{part.text}</p>
                if (!part.type.startsWith("tool-")) return null
                const call = part as any
                const approvalId = call.approval?.id
                return (
                  <Card
                    key={call.toolCallId}
                    name={part.type.slice("tool-".length)}
                    part={call}
                    fate={fates.find(({ toolCallId }) => toolCallId === call.toolCallId) ?? late[approvalId]}
                    answer={(approved, given) => answer(message, approvalId, approved, given)}
                  />
                )
              })}
            </li>
          )
        })}
      </ol>
      {error && (
        <p role="alert">
          {error.message} <button onClick={() => void sendMessage()}>Try again</button>
        </p>
      )}
      <form onSubmit={say}>
        <label>
          Message <input value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <button disabled={status === "submitted" || status === "streaming"}>Send</button>
      </form>
      <output aria-label="Status">{status}</output>
    </main>
  )
}
