// @ts-check
/** A unified diff, line by line. What counts is how many lines a hunk has, and not how its lines look. */
import { html } from "../vendor/preact.js"
import { shown } from "./text.js"

/**
 * @typedef {{ readonly sign: "+" | "-" | " " | "@" | "\\", readonly text: string, readonly before?: number, readonly after?: number }} Line
 * @param {string} diff
 * @returns {ReadonlyArray<Line>}
 */
export const parse = (diff) => {
  /** @type {Array<Line>} */
  const lines = []
  let [before, after, leftBefore, leftAfter] = [0, 0, 0, 0]
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = leftBefore + leftAfter > 0 ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk !== null) {
      before = Number(hunk[1])
      leftBefore = Number(hunk[2] ?? 1)
      after = Number(hunk[3])
      leftAfter = Number(hunk[4] ?? 1)
      lines.push({ sign: "@", text: line })
    } else if (line.startsWith("\\")) {
      lines.push({ sign: "\\", text: line.slice(1).trim() })
    } else if (leftBefore + leftAfter === 0) {
      // The names of the files; the card says them.
      if (!/^(---|\+\+\+) /.test(line)) lines.push({ sign: "@", text: line })
    } else if (line.startsWith("-")) {
      lines.push({ sign: "-", text: line.slice(1), before: before++ })
      leftBefore--
    } else if (line.startsWith("+")) {
      lines.push({ sign: "+", text: line.slice(1), after: after++ })
      leftAfter--
    } else {
      lines.push({ sign: " ", text: line.slice(1), before: before++, after: after++ })
      leftBefore--
      leftAfter--
    }
  }
  return lines
}

const classes = { "+": "added", "-": "removed", " ": "same", "@": "place", "\\": "place" }

/** @param {{ content: string }} props */
export const Diff = ({ content }) => {
  const lines = parse(content)
  const added = lines.filter(({ sign }) => sign === "+").length
  const removed = lines.filter(({ sign }) => sign === "-").length
  return html`
    <div class="code diff" role="region" aria-label=${`Diff: ${added} added, ${removed} removed`} tabindex="0">
      <table role="presentation">
        <tbody>
          ${
    lines.map(({ after, before, sign, text }, index) =>
      html`
              <tr key=${index} class=${classes[sign]}>
                <td class="number">${before ?? ""}</td>
                <td class="number">${after ?? ""}</td>
                <td class="sign">${sign === "+" || sign === "-" ? sign : ""}</td>
                <td class="line">${shown(text, { multiline: true })}</td>
              </tr>
            `
    )
  }
        </tbody>
      </table>
    </div>
  `
}
