/** The smallest page with `useChat` as it is on npm: nothing in it knows more of the server than `@assent/web`'s README says. */
import type { UIMessage } from "ai"
import { createRoot } from "react-dom/client"
import { Chat } from "./Chat.tsx"

const root = createRoot(document.getElementById("root")!)

const show = async () => {
  const id = new URLSearchParams(location.search).get("chat") ?? "chat"
  const kept: Array<UIMessage> = await (await fetch(`/api/chat/${id}`)).json()
  root.render(<Chat key={id} id={id} kept={kept} />)
}

addEventListener("popstate", () => void show())
await show()
