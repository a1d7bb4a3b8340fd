/** The site for programs that read: Markdown beside each page, a list of all pages, and all of them in one file. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { base, dist, markdownOf, origin, type Page } from "./page.ts"

/** Links within the site lead from Markdown to Markdown, from wherever it is read. */
const absolute = (text: string): string =>
  text.replaceAll(
    new RegExp(String.raw`\]\(${base}/([^)#\s]*?)/?(#[^)\s]*)?\)`, "g"),
    (_, slug: string, anchor = "") => `](${origin}${base}/${/\.\w+$/.test(slug) ? slug : markdownOf(slug)}${anchor})`
  )

const write = (path: string, text: string) => {
  const file = Path.join(dist, path)
  Fs.mkdirSync(Path.dirname(file), { recursive: true })
  Fs.writeFileSync(file, `${text.trimEnd()}\n`)
}

const part = (title: string, pages: ReadonlyArray<Page>): string =>
  `## ${title}\n\n${
    pages.map(({ description, slug, title }) =>
      `- [${title}](${origin}${base}/${markdownOf(slug)})${description === "" ? "" : `: ${description}`}`
    ).join("\n")
  }\n`

/** `pages` have the text that stands on the site. */
export const writeAll = (pages: ReadonlyArray<Page>): void => {
  const whole = pages.map((page) => ({ ...page, text: `# ${page.title}\n\n${absolute(page.text)}` }))
  for (const { slug, text } of whole) write(markdownOf(slug), text)
  const [first] = pages
  const below = (folder: string) => pages.filter(({ slug }) => slug === folder || slug.startsWith(`${folder}/`))
  write(
    "llms.txt",
    [
      `# ${first!.title}`,
      `> ${first!.description}`,
      `Everything on one page: ${origin}${base}/llms-full.txt`,
      part("Guides", [first!, ...below("guides")]),
      part("Packages", [...below("packages"), ...below("contributing")]),
      part("Reference", below("reference"))
    ].join("\n\n")
  )
  write("llms-full.txt", whole.map(({ text }) => text).join("\n\n---\n\n"))
}
