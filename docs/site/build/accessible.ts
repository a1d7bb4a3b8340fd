/**
 * What Astro's pages lack for whoever has no mouse or no eyes: a table and a program that are wider than the page can be
 * scrolled with keys, and have a name.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { dist } from "./page.ts"

const improved = (html: string): string => {
  let tables = 0
  let programs = 0
  return html
    .replace(
      /<table>[^]*?<\/table>/g,
      (table) => `<div class="scrolled" role="region" aria-label="Table ${++tables}" tabindex="0">${table}</div>`
    )
    // The script on the page takes role and tabindex away where nothing has to be scrolled.
    .replace(/<pre (?=data-language)/g, () => `<pre tabindex="0" role="region" aria-label="Program ${++programs}" `)
}

export const improve = (files: ReadonlyArray<string>): void => {
  for (const file of files.filter((file) => file.endsWith(".html"))) {
    const path = Path.join(dist, file)
    Fs.writeFileSync(path, improved(Fs.readFileSync(path, "utf8")))
  }
}
