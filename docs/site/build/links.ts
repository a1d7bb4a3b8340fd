/** Whether every link of the built site leads somewhere: to a page, to a heading on it, to a file. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { base, dist, origin } from "./page.ts"

const attribute = (html: string, pattern: RegExp): ReadonlyArray<string> =>
  [...html.matchAll(pattern)].map(([, value = ""]) => value.replaceAll("&amp;", "&").replaceAll("&#38;", "&"))

/** The files of the site, as they are asked for. */
export const files = (): ReadonlyArray<string> =>
  Fs.readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => Path.relative(dist, Path.join(entry.parentPath, entry.name)).replaceAll(Path.sep, "/"))

const readPage = (file: string) => {
  const html = Fs.readFileSync(Path.join(dist, file), "utf8")
  return {
    // A `<` that is no tag is escaped, so what looks like a tag is one. What `rel="canonical"` says is no link.
    links: attribute(html, /<(?:a|img|link(?! rel="canonical")|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g),
    ids: new Set(attribute(html, /<[a-z][^>]*?\sid="([^"]*)"/g))
  }
}

const markdownLinks = (file: string): ReadonlyArray<string> =>
  attribute(Fs.readFileSync(Path.join(dist, file), "utf8"), /(?:\]\(|^\[[^\]\n]+\]: )([^)\s]+)/gm).filter((link) =>
    link.startsWith(origin) || link.startsWith("/")
  )

/** The links that lead nowhere, each with its page. Links to other sites are not followed. */
export const broken = (): ReadonlyArray<string> => {
  const known = new Set(files())
  const pages = new Map([...known].filter((file) => file.endsWith(".html")).map((file) => [file, readPage(file)]))
  const problem = (from: string, link: string): string | undefined => {
    const url = new URL(link, `${origin}${base}/${from.replace(/index\.html$/, "")}`)
    if (url.origin !== origin) return undefined
    if (!`${url.pathname}/`.startsWith(`${base}/`)) return "is not of this site"
    const path = decodeURI(url.pathname.slice(base.length + 1))
    const file = path === "" || path.endsWith("/") ? `${path}index.html` : path
    if (!known.has(file)) return "there is no such page"
    const anchor = decodeURIComponent(url.hash.slice(1))
    // Markdown stands beside its page, and has the page's headings.
    const page = pages.get(file) ?? pages.get(file === "index.md" ? "index.html" : file.replace(/\.md$/, "/index.html"))
    return anchor === "" || page === undefined || page.ids.has(anchor) ? undefined : `the page has no #${anchor}`
  }
  const linksOf = (file: string) => pages.get(file)?.links ?? (/\.(md|txt)$/.test(file) ? markdownLinks(file) : [])
  return [...known].flatMap((file) =>
    [...new Set(linksOf(file))].flatMap((link) => {
      const why = problem(file, link)
      return why === undefined ? [] : [`${file}: ${link}: ${why}`]
    })
  )
}
