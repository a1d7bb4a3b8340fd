// @ts-check
/** What will run, whole: the presentation of a call, and its parameters. */
import { hasInvisible } from "../escape.js"
import { html } from "../vendor/preact.js"
import { Diff } from "./diff.js"
import { shown } from "./text.js"

/** So many lines are shown at once; the rest has to be opened before anything is approved. */
const maxLines = 60

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value)

/** @param {unknown} value */
const isPlain = (value) => value === null || typeof value !== "object"

/** Whether it is a table: records of the same few fields. @param {unknown} value */
const isTable = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((row) =>
    isRecord(row) && Object.values(row).every(isPlain)
  ) && columnsOf(value).length <= 12

/** @param {ReadonlyArray<object>} rows */
const columnsOf = (rows) => [...new Set(rows.flatMap((row) => Object.keys(row)))]

/** @param {{ text: string, label: string }} props */
const Code = ({ label, text }) => {
  const lines = text.replace(/\n$/, "").split("\n")
  return html`
    <div class="code" role="region" aria-label=${label} tabindex="0">
      <table role="presentation">
        <tbody>
          ${
    lines.map((line, index) =>
      html`
              <tr key=${index}>
                ${lines.length > 1 ? html`<td class="number">${index + 1}</td>` : null}
                <td class="line">${shown(line, { multiline: true })}</td>
              </tr>
            `
    )
  }
        </tbody>
      </table>
    </div>
  `
}

/** @param {{ rows: ReadonlyArray<Record<string, unknown>>, label: string }} props */
const Table = ({ label, rows }) => {
  const columns = columnsOf(rows)
  return html`
    <div class="table" role="region" aria-label=${label} tabindex="0">
      <table>
        <thead><tr>${
    columns.map((name) =>
      html`<th key=${name} scope="col" class=${typeof rows[0]?.[name] === "number" ? "amount" : ""}>${shown(name)}</th>`
    )
  }</tr></thead>
        <tbody>
          ${
    rows.map((row, index) =>
      html`
              <tr key=${index}>
                ${
        columns.map((name) =>
          html`<td key=${name} class=${typeof row[name] === "number" ? "amount" : ""}>${
            name in row ? shown(row[name]) : ""
          }</td>`
        )
      }
              </tr>
            `
    )
  }
        </tbody>
      </table>
    </div>
  `
}

/** Data of any kind. @param {{ value: unknown, label: string }} props */
export const Value = ({ label, value }) => {
  if (typeof value === "string") {
    return value.includes("\n") || value.length > 200
      ? html`<${Code} text=${value} label=${label} />`
      : html`<bdi class="value">${value === "" ? html`<i>empty</i>` : shown(value)}</bdi>`
  }
  if (isPlain(value)) return html`<bdi class="value literal">${shown(value)}</bdi>`
  if (isTable(value)) return html`<${Table} rows=${value} label=${label} />`
  if (isRecord(value) && Object.values(value).every(isPlain)) return html`<${Parameters} params=${value} />`
  return html`<${Code} text=${JSON.stringify(value, null, 2)} label=${label} />`
}

/** @param {{ params: unknown }} props */
export const Parameters = ({ params }) => {
  if (!isRecord(params)) return html`<${Value} value=${params} label="Parameters" />`
  const entries = Object.entries(params)
  if (entries.length === 0) return html`<p class="muted">none</p>`
  return html`
    <dl class="parameters">
      ${
    entries.map(([name, value]) =>
      html`
          <div key=${name}>
            <dt>${shown(name)}</dt>
            <dd><${Value} value=${value} label=${name} /></dd>
          </div>
        `
    )
  }
    </dl>
  `
}

/** @param {unknown} text */
const read = (text) => {
  try {
    return JSON.parse(String(text))
  } catch {
    return text
  }
}

/** @param {{ presentation: import("@assent/ai").Approval.ApprovalPresentation }} props */
const Presentation = ({ presentation: { content, metadata = {}, type } }) => {
  const { directory, path, ...others } = metadata
  const where = directory ?? path
  return html`
    ${where === undefined ? null : html`<p class="where"><bdi>${shown(where)}</bdi></p>`}
    ${
    type === "diff"
      ? html`<${Diff} content=${content} />`
      : type === "command"
      ? html`<div class="command"><span class="prompt" aria-hidden="true">$</span><code>${
        shown(content, { multiline: true })
      }</code></div>`
      : type === "structured"
      ? html`<${Value} value=${read(content)} label="Data" />`
      : type === "file_content"
      ? html`<${Code} text=${content} label="Content of the file" />`
      : html`<p class="said">${shown(content, { multiline: true })}</p>`
  }
    ${Object.keys(others).length === 0 ? null : html`<${Parameters} params=${others} />`}
  `
}

/** How many lines it has to be shown in. @param {import("../card.js").ToolPart} part */
export const linesOf = ({ approval, input }) =>
  (approval?.descriptor?.presentation?.content ?? JSON.stringify(input, null, 2) ?? "").split("\n").length

/** @param {import("../card.js").ToolPart} part */
export const isLong = (part) => linesOf(part) > maxLines

/**
 * @param {{ part: import("../card.js").ToolPart, isOpen: boolean, onOpen: () => void }} props `isOpen`: all of a long one
 */
export const Content = ({ isOpen, onOpen, part }) => {
  const presentation = part.approval?.descriptor?.presentation
  const hasParameters = isRecord(part.input) ? Object.keys(part.input).length > 0 : part.input !== undefined
  const isFolded = isLong(part) && !isOpen
  const texts = [...Object.values(isRecord(part.input) ? part.input : {}), part.input]
  return html`
    <div class=${isFolded ? "content folded" : "content"}>
      ${
    presentation === undefined
      ? hasParameters ? html`<${Parameters} params=${part.input} />` : null
      : html`<${Presentation} presentation=${presentation} />`
  }
    </div>
    ${
    isFolded
      ? html`<button type="button" class="quiet" onClick=${onOpen}>Show all ${linesOf(part)} lines</button>`
      : null
  }
    ${
    presentation === undefined || !hasParameters ? null : html`
      <details class="more">
        <summary>Parameters of ${shown(part.name)}</summary>
        <${Parameters} params=${part.input} />
      </details>
    `
  }
    ${
    texts.some(hasInvisible)
      ? html`<p class="note">Some characters in it cannot be seen. They are shown as escapes, such as <code class="escape">\\u202e</code>.</p>`
      : null
  }
  `
}
