/** What is changed in the text of a page: where its links lead, and the laws that it names. */
import GithubSlugger, { slug as slugOf } from "github-slugger"
import type { Nodes } from "mdast"
import { fromMarkdown } from "mdast-util-from-markdown"
import { gfmFromMarkdown } from "mdast-util-gfm"
import { toString } from "mdast-util-to-string"
import { gfm } from "micromark-extension-gfm"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { SKIP, visitParents } from "unist-util-visit-parents"
import { addressOf, base, generated, type Page, read, repository, root } from "./page.ts"

const parse = (text: string) => fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })

/** The first sentence of a text, without its marks, and the next where it is short. */
export const summary = (text: string): string => {
  const paragraph = parse(text).children.find(({ type }) => type === "paragraph")
  const plain = paragraph === undefined ? "" : toString(paragraph).replace(/\s+/g, " ")
  return /^.{60,}?[.!?](?= \p{Lu}|$)/u.exec(plain)?.[0] ?? plain.replace(/:$/, ".")
}

/** The anchors of a page's headings, as they are made from the headings' texts. */
export const anchorsOf = (text: string): ReadonlyArray<string> => {
  const slugger = new GithubSlugger()
  const anchors: Array<string> = []
  visitParents(parse(text), "heading", (heading) => {
    anchors.push(slugger.slug(toString(heading)))
  })
  return anchors
}

/** Where each law stands: by its name, the anchor of its section. */
export const laws: ReadonlyMap<string, string> = new Map(
  [...read("docs/the-laws.md").matchAll(/^## ((L\d+) .+)$/gm)].map((
    [, heading = "", law = ""]
  ) => [law, slugOf(heading)])
)

/** A stretch of a text, and what stands there instead. */
interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}

const applied = (text: string, changes: ReadonlyArray<Change>): string =>
  changes.toSorted((a, b) => b.start - a.start)
    .reduce((text, change) => text.slice(0, change.start) + change.text + text.slice(change.end), text)

/** A law that is named in a sentence leads to its section; in code, in a heading and in another link it does not. */
const lawLinks = (tree: Nodes, text: string): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  visitParents(tree, (node) => {
    if (["heading", "link", "linkReference", "definition"].includes(node.type)) return SKIP
    const offset = node.position?.start.offset
    if (node.type !== "text" || offset === undefined) return
    const words = text.slice(offset, node.position?.end.offset)
    for (const { 0: law, index } of words.matchAll(/\bL\d{1,2}\b/g)) {
      const anchor = laws.get(law)
      if (anchor === undefined) continue
      const start = offset + index
      changes.push({ start, end: start + law.length, text: `[${law}](${addressOf("guides/the-laws")}#${anchor})` })
    }
  })
  return changes
}

const picture = /\.(png|svg|jpg)$/

/** Links into the repository lead to the page that is made of the file, where there is one, and else to GitHub. */
const siteLinks = (text: string, pages: ReadonlyArray<Page>): string => {
  const bySource = new Map(pages.map((page) => [page.source, page.slug]))
  const link = new RegExp(String.raw`${RegExp.escape(repository)}/(?:blob|tree)/main/([^\s)#"\]>]+)(#[\w-]+)?`, "g")
  return text.replace(link, (whole: string, path: string, anchor = "") => {
    const file = path.replace(/\/$/, "")
    if (picture.test(file)) {
      const target = Path.join(generated, "public", file)
      Fs.mkdirSync(Path.dirname(target), { recursive: true })
      Fs.copyFileSync(Path.join(root, file), target)
      return `${base}/${file}`
    }
    // A line of a file stands in the file alone.
    if (/^#L\d/.test(anchor)) return whole
    const slug = bySource.get(file) ?? bySource.get(`${file}/README.md`)
    return slug === undefined ? whole : `${addressOf(slug)}${anchor === "#readme" ? "" : anchor}`
  })
}

/** The text of a page as it stands on the site. */
export const onSite = (page: Page, pages: ReadonlyArray<Page>): string => {
  const text = siteLinks(page.text, pages)
  return applied(text, lawLinks(parse(text), text))
}

/** Lines of a program that are too long go on below, but a drawing and columns would come apart. */
export const drawn = (text: string): string =>
  text.replace(
    /^```(\w*)\n([^]*?)^```$/gm,
    (block: string, language: string, lines: string) =>
      /^(?:text)?$/.test(language) && /[─│━]|\S {3}/.test(lines) ? `\`\`\`text wrap=false\n${lines}\`\`\`` : block
  )
