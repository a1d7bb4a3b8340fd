// @ts-check
/** The page: who is there, which conversation, and what is drawn of it. */
import * as Chat from "./chat.js"
import * as Server from "./server.js"
import { html, render, useEffect, useState } from "./vendor/preact.js"
import { Conversation } from "./view/conversation.js"
import { Header, Login } from "./view/header.js"

/** The conversation of the address; a page without one begins one. */
const chatId = () => {
  const given = new URLSearchParams(location.search).get("chat")
  if (given !== null && given !== "" && given.length <= 100) return given
  const made = crypto.randomUUID()
  history.replaceState(null, "", `?chat=${made}`)
  return made
}

const Page = () => {
  const [session, setSession] = useState(/** @type {Server.Session | undefined} */ (undefined))
  const [problem, setProblem] = useState(/** @type {string | undefined} */ (undefined))
  const [id, setId] = useState(chatId)
  const [chat, setChat] = useState(/** @type {Chat.Chat | undefined} */ (undefined))
  const [, redraw] = useState(0)
  const person = session?.person ?? undefined

  /** @param {Promise<Server.Session>} asked */
  const take = (asked) =>
    asked.then((session) => {
      setProblem(undefined)
      setSession(session)
    }, ({ message }) => setProblem(message))

  useEffect(() => {
    take(Server.session())
  }, [])

  useEffect(() => {
    if (person === undefined) return setChat(undefined)
    const opened = Chat.open(id, {
      person: person.id,
      onChange: () => redraw((count) => count + 1),
      onStranger: () => take(Server.session())
    })
    setChat(opened)
    return opened.leave
  }, [id, person?.id])

  useEffect(() => {
    const onMove = () => setId(chatId())
    addEventListener("popstate", onMove)
    return () => removeEventListener("popstate", onMove)
  }, [])

  // Whoever comes back sees how it stands.
  useEffect(() => {
    if (chat === undefined) return
    const onBack = () => document.visibilityState === "visible" && chat.refresh()
    /** @param {PageTransitionEvent} event */
    const onShow = ({ persisted }) => persisted && chat.refresh()
    addEventListener("visibilitychange", onBack)
    addEventListener("online", onBack)
    addEventListener("pageshow", onShow)
    return () => {
      removeEventListener("visibilitychange", onBack)
      removeEventListener("online", onBack)
      removeEventListener("pageshow", onShow)
    }
  }, [chat])

  const begin = () => {
    history.pushState(null, "", `?chat=${crypto.randomUUID()}`)
    setId(chatId())
  }

  if (session === undefined) {
    return problem === undefined ? null : html`
      <main class="login">
        <p role="alert">${problem}</p>
        <button type="button" onClick=${() => take(Server.session())}>Try again</button>
      </main>
    `
  }
  if (person === undefined) {
    return html`
      <${Login} people=${session.people} problem=${problem} onChoose=${(/** @type {string} */ id) =>
      take(Server.logIn(id))} />
    `
  }
  return html`
    <${Header} person=${person} onBegin=${begin} onLeave=${() => take(Server.logOut())} />
    ${
    chat === undefined || chat.id !== id
      ? null
      : html`<${Conversation} key=${chat.id} chat=${chat} person=${person} people=${session.people} />`
  }
  `
}

const root = document.getElementById("page")
if (root !== null) render(html`<${Page} />`, root)
