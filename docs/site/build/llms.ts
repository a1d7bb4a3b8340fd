/** The site for programs that read: Markdown beside each page, a list of all pages, and all of them in one file. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { base, dist, markdownOf, origin, type Page } from "./page.ts"
import { packages } from "./written.ts"

/** Links within the site lead from Markdown to Markdown, from wherever it is read. */
const absolute = (text: string): string =>
  text.replaceAll(
    new RegExp(String.raw`(\]\(|^\[[^\]\n]+\]: )${base}/([^)#\s]*?)/?(#[^)\s]*)?(?=\)|\s|$)`, "gm"),
    (_, before: string, slug: string, anchor = "") =>
      `${before}${origin}${base}/${/\.\w+$/.test(slug) ? slug : markdownOf(slug)}${anchor}`
  )

const write = (path: string, text: string) => {
  const file = Path.join(dist, path)
  Fs.mkdirSync(Path.dirname(file), { recursive: true })
  Fs.writeFileSync(file, `${text.trimEnd()}\n`)
}

const part = (title: string, pages: ReadonlyArray<Page>): string =>
  [
    `## ${title}\n`,
    ...pages.map(({ description, slug, title }) => `- [${title}](${origin}${base}/${markdownOf(slug)}): ${description}`)
  ].join("\n")

/** `pages` have the text that stands on the site. */
export const writeAll = (pages: ReadonlyArray<Page>): void => {
  const whole = pages.map((page) => ({ ...page, text: `# ${page.title}\n\n${absolute(page.text)}` }))
  for (const { slug, text } of whole) write(markdownOf(slug), text)
  const [first] = pages
  const below = <A extends Page>(folder: string, of: ReadonlyArray<A>) =>
    of.filter(({ slug }) => slug === folder || slug.startsWith(`${folder}/`))
  const joined = (pages: ReadonlyArray<Page>) => pages.map(({ text }) => text).join("\n\n---\n\n")
  write(
    "llms.txt",
    [
      `# ${first!.title}`,
      `> ${first!.description}`,
      `As one text: [the guides](${origin}${base}/llms-guides.txt), [everything](${origin}${base}/llms-full.txt).`,
      part("Guides", [first!, ...below("guides", pages)]),
      part("Packages", [...below("packages", pages), ...below("contributing", pages)]),
      ...packages.map((name) => part(`Reference of @assent/${name}`, below(`reference/${name}`, pages)))
    ].join("\n\n")
  )
  write("llms-guides.txt", joined(below("guides", whole)))
  write("llms-full.txt", joined(whole))
}
