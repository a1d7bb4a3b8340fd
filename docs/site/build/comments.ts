/** Comments on fields were written for lines that are wider than the column of a page: their words are laid out anew. */

const fitted = (words: ReadonlyArray<string>, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of words) {
    const last = lines.at(-1)
    // What goes on below a point of a list stands under its text.
    if (last === undefined) lines.push(word)
    else if (last.length + 1 + word.length > width) lines.push(words[0] === "-" ? `  ${word}` : word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** Each empty line, tag and point of a list begins a paragraph. */
const paragraphs = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.join("\n").split(/\n(?=\n|@|- )/).map((paragraph) => paragraph.trim())

/** `width` is of a whole line. What has a program in it stays as it is. */
export const layOut = (text: string, width: number): string =>
  text.replace(/^( *)\/\*\*([^]*?)\*\//gm, (whole: string, indent: string, inside: string) => {
    if (/```|@example/.test(inside)) return whole
    const lines = inside.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trim())
    const fit = paragraphs(lines).filter((paragraph, index) => index > 0 || paragraph !== "")
      .flatMap((paragraph) =>
        paragraph === "" ? [""] : fitted(paragraph.split(/\s+/), width - indent.length - " * ".length)
      )
    const [only] = fit
    return fit.length === 1 && indent.length + `/** ${only} */`.length <= width
      ? `${indent}/** ${only} */`
      : [`${indent}/**`, ...fit.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n")
  })
