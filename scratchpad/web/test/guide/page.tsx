// The page: messages, a card for each call that asks, and a field to say something.
import { useChat } from "@ai-sdk/react"
import { getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai"
import { type FormEvent, useState } from "react"
import { createRoot } from "react-dom/client"

const id = "chat-1"

const Chat = ({ kept }: { readonly kept: Array<UIMessage> }) => {
  const { addToolApprovalResponse, error, messages, sendMessage, status } = useChat({
    id,
    messages: kept,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
  })
  const [text, setText] = useState("")

  const say = (event: FormEvent) => {
    event.preventDefault()
    void sendMessage({ text })
    setText("")
  }

  return (
    <>
      {messages.map((message) => (
        <section key={message.id} aria-label={message.role}>
          {message.parts.map((part, index) => {
            if (part.type === "text") return <p key={index}>{part.text}</p>
            if (!isToolUIPart(part)) return null
            const call = `${getToolName(part)} ${JSON.stringify(part.input)}`
            // What was said after a question has withdrawn it.
            if (part.state !== "approval-requested" || message !== messages.at(-1)) {
              return <p key={index}>{call}: {part.state}</p>
            }
            const answer = (approved: boolean) => addToolApprovalResponse({ id: part.approval.id, approved })
            return (
              <p key={index}>
                {call} <button onClick={() => answer(true)}>Approve</button>{" "}
                <button onClick={() => answer(false)}>Deny</button>
              </p>
            )
          })}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={say}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button disabled={text === "" || status === "submitted" || status === "streaming"}>Send</button>
      </form>
    </>
  )
}

// What was said before, as the server keeps it.
const response = await fetch(`/api/chat/${id}`)
const root = createRoot(document.getElementById("root")!)
root.render(response.ok ? <Chat kept={await response.json()} /> : <a href="/login">Log in as Ada</a>)
