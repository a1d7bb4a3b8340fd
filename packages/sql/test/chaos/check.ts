/** What has to be true of a story's database and of what was done, whatever happened to its processes. */
import { DatabaseSync } from "node:sqlite"
import * as Story from "./story.ts"
import * as World from "./world.ts"

interface Row {
  readonly [column: string]: any
}

/** What the database says, read beside everything that is tested here. */
const open = <A>({ filename }: World.World, use: (rows: (sql: string) => ReadonlyArray<Row>) => A): A => {
  const database = new DatabaseSync(filename)
  try {
    return use((sql) => database.prepare(sql).all())
  } finally {
    database.close()
  }
}

type Rows = (sql: string) => ReadonlyArray<Row>

const hasTables = (rows: Rows): boolean =>
  rows("SELECT name FROM sqlite_schema WHERE name = 'assent_setting'").length === 1

/** Row by row, of every table: two databases are the same if these are. */
export const contents = (world: World.World): string =>
  open(world, (rows) =>
    JSON.stringify(
      rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .map(({ name }) => [name, rows(`SELECT * FROM ${name} ORDER BY 1, 2`)])
    ))

/** What is wrong at any moment: nothing is half there, and nothing ran without its claim. */
const standing = (world: World.World, rows: Rows): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const wrong = (is: boolean, what: string) => is && problems.push(what)
  const [integrity] = rows("PRAGMA integrity_check")
  wrong(integrity?.["integrity_check"] !== "ok", `integrity: ${JSON.stringify(integrity)}`)
  wrong(rows("PRAGMA foreign_key_check").length > 0, "a foreign key leads nowhere")
  for (
    const row of rows(`SELECT messages, bytes, count(seq) AS n, min(seq) AS low, max(seq) AS high,
      coalesce(sum(octet_length(body)), 0) + octet_length(c.state) AS own
      FROM assent_conversation c LEFT JOIN assent_message m ON m.conversation = c.id GROUP BY c.id`)
  ) {
    wrong(row["n"] !== row["messages"], `${row["n"]} messages, and its row says ${row["messages"]}`)
    wrong(row["n"] > 0 && (row["low"] !== 0 || row["high"] !== row["n"] - 1), "a message is missing")
    wrong(row["own"] !== row["bytes"], `${row["own"]} bytes, and its row says ${row["bytes"]}`)
  }
  const done = World.read(world, "done").map(({ what }) => what)
  const states = statesOf(rows)
  const times = (one: World.Done["what"]) => done.filter((what) => what === one).length
  for (const [what, state] of [["mail", states.SendMail], ["order", states.Order], ["touch", states.Touch]] as const) {
    wrong(times(what) > 0 && (state === undefined || state === "pending"), `${what} ran, and its request is ${state}`)
    wrong(times(what) === 0 && (state === "done" || state === "suspended"), `${what} is ${state}, and never ran`)
    wrong(what !== "touch" && times(what) > 1, `${what} ran ${times(what)} times`)
  }
  problems.push(...told(rows))
  wrong(times("paid") > 1, `paid ran ${times("paid")} times`)
  wrong(times("remove") > 0, "what was denied ran")
  wrong(states.Remove === "done" || states.Remove === "running", `what was denied is ${states.Remove}`)
  return problems
}

/** What was told is what there is: each request that waits was opened, once; each that was decided, decided, once. */
const told = (rows: Rows): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const opened = new Map<string, { readonly nonce: string; readonly told: number; ends: number }>(
    rows("SELECT seq, nonce, told FROM assent_event WHERE kind = 'opened'").map((row) => [
      row["seq"],
      { nonce: row["nonce"], told: row["told"], ends: 0 }
    ])
  )
  for (const { kind, opened: seq } of rows("SELECT kind, opened FROM assent_event WHERE opened IS NOT NULL")) {
    const one = opened.get(seq)
    if (one === undefined || one.told !== 2) problems.push(`${kind} is told of nothing that was opened`)
    else one.ends++
  }
  const state = new Map(
    rows("SELECT nonce, state, answer FROM assent_request").map((row) => [row["nonce"], row])
  )
  const waiting = new Map<string, number>()
  for (const { ends, nonce, told } of opened.values()) {
    if (ends !== (told === 2 ? 1 : 0)) problems.push(`${nonce} has ended ${ends} times, and was told ${told}`)
    if (told !== 2) waiting.set(nonce, (waiting.get(nonce) ?? 0) + 1)
    const row = state.get(nonce)
    if (told !== 2 && row !== undefined && (row["state"] !== "pending" || row["answer"] !== null)) {
      problems.push(`${nonce} is ${row["state"]}, and that was not told`)
    }
  }
  for (const [nonce, times] of waiting) if (times > 1) problems.push(`${nonce} waits ${times} times`)
  for (
    const { nonce } of rows(`SELECT nonce FROM assent_request WHERE state = 'pending' AND request IS NOT NULL
      AND (waits IS NULL OR waits = 'open' AND answer IS NULL)`)
  ) if (!waiting.has(nonce)) problems.push(`${nonce} waits, and nobody was told`)
  return problems
}

/** Of the approved call of each tool. What a tool waits for has the name of the tool too. */
const statesOf = (rows: Rows): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    rows("SELECT tool, state FROM assent_request WHERE kind = 'approval'").map(({ state, tool }) => [tool, state])
  )

/** What somebody was told, and is not there. */
const lost = (world: World.World, rows: Rows, mayFail: boolean): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const bodies = rows("SELECT body FROM assent_message").map(({ body }) => body).join("\n")
  const requests = new Map(rows("SELECT * FROM assent_request").map((row) => [row["approval_id"], row]))
  const answered = new Set(
    World.read(world, "sent").flatMap(({ decided, delivered }) => [
      ...(decided ?? []).map(({ approvalId }) => approvalId),
      ...(delivered === undefined ? [] : [delivered])
    ])
  )
  for (const { asked, sent, text } of World.read(world, "told")) {
    if (!bodies.includes(JSON.stringify(text).slice(1, -1))) problems.push(`lost what was said: ${text}`)
    for (const id of asked) {
      // Between its answer and its claim it is nowhere but in the history.
      if (!bodies.includes(id) || (!requests.has(id) && !answered.has(id))) problems.push("lost what was asked")
    }
    for (const { approvalId, approved } of sent?.decided ?? []) {
      const state = requests.get(approvalId)?.["state"]
      const isSettled = approved
        ? ["done", "suspended", "unknown", ...(mayFail ? ["failed"] : [])].includes(state)
        : state === "denied"
      if (!isSettled) problems.push(`lost a decision: it is ${state}`)
    }
    const delivered = sent?.delivered === undefined ? undefined : requests.get(sent.delivered)
    if (sent?.delivered !== undefined && delivered?.["answer"] === null && delivered["waits"] === "open") {
      problems.push("lost what was delivered")
    }
  }
  return problems
}

/** How a story has ended: there is nothing left to be done, and its history is one that every provider takes. */
const ended = (world: World.World, rows: Rows): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const messages = rows("SELECT body FROM assent_message ORDER BY seq").map(({ body }) => JSON.parse(body))
  const parts = messages.flatMap(({ content }) => typeof content === "string" ? [] : content)
  const words = JSON.stringify(messages)
  for (const text of [Story.firstWords, Story.lastWords, "All is done.", "You are welcome."]) {
    const times = words.split(JSON.stringify(text)).length - 1
    if (times !== 1) problems.push(`"${text}" stands in the history ${times} times`)
  }
  for (const id of ["mail-1", "remove-1", "touch-1", "order-1"]) {
    for (const type of ["tool-call", "tool-result"]) {
      const times = parts.filter((part) => part.type === type && part.id === id).length
      if (times !== 1) problems.push(`${id} has ${times} of ${type}`)
    }
  }
  const [conversation] = rows("SELECT state FROM assent_conversation")
  if (JSON.parse(conversation?.["state"] ?? "{}").turn !== undefined) problems.push("somebody is in a turn")
  const states = statesOf(rows)
  const done = World.read(world, "done").map(({ what }) => what)
  if (states["Remove"] !== "denied") problems.push(`what was denied is ${states["Remove"]}`)
  if (states["Touch"] !== "done") problems.push(`the idempotent call is ${states["Touch"]}`)
  if (states["SendMail"] !== "done" && states["SendMail"] !== "unknown") {
    problems.push(`the approved call is ${states["SendMail"]}`)
  }
  if (states["SendMail"] === "done" && !done.includes("mail")) problems.push("the mail was not sent")
  if (rows("SELECT 1 FROM assent_request WHERE state IN ('pending', 'running') AND request IS NOT NULL").length > 0) {
    problems.push("something still waits")
  }
  if (rows("SELECT 1 FROM assent_event WHERE told < 2").length > 0) problems.push("something is told to wait")
  return problems
}

export interface Options {
  /** Whether the store failed: then a call that was to wait, and could not, has failed. */
  readonly mayFail?: boolean
}

/** What is wrong while it goes on, and of what was told. */
export const problemsOf = (world: World.World, { mayFail = false }: Options = {}): ReadonlyArray<string> =>
  open(world, (rows) =>
    hasTables(rows)
      ? [...standing(world, rows), ...lost(world, rows, mayFail)]
      : World.read(world, "told").length > 0
      ? ["all is lost"]
      : [])

/** The same, of one that has come to its end. */
export const problemsAtEnd = (world: World.World, options?: Options): ReadonlyArray<string> => [
  ...problemsOf(world, options),
  ...open(world, (rows) => hasTables(rows) ? ended(world, rows) : ["there is nothing"])
]
