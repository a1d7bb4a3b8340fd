/**
 * Where the links of a page lead. A page in a package is read on npm and in `node_modules` too, where a path from its own
 * folder leads nowhere: its links begin with the address of the repository.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.resolve(import.meta.dirname, "../../..")

interface Manifest {
  readonly homepage: string
}

const manifest: Manifest = JSON.parse(Fs.readFileSync(Path.join(root, "package.json"), "utf8"))

/** The repository's address, which the root `package.json` has. */
export const repository = manifest.homepage.replace(/#.*$/, "")

const isAbsolute = (target: string): boolean => /^[a-z]+:/.test(target)

/** The text outside of code, each character where it was. */
const withoutCode = (text: string): string =>
  text.replace(/^```[^]*?^```$|`[^`\n]+`/gm, (code) => code.replace(/[^\n]/g, " "))

interface Link {
  readonly target: string
  readonly index: number
}

/** Where every link, image and definition leads, and where its target stands in the text. */
const linksOf = (text: string): ReadonlyArray<Link> =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]\n]+\]: (\S+)$|(?:href|src)="([^"]+)"/gm)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? ""
    return { target, index: match.index + match[0].lastIndexOf(target) }
  })

/** The labels that links name and nothing defines. */
const undefinedLabels = (text: string): ReadonlyArray<string> => {
  const prose = withoutCode(text)
  return [...prose.matchAll(/\]\[([^\]\n]+)\]/g)].flatMap(([, label = ""]) =>
    prose.includes(`\n[${label}]: `) ? [] : [label]
  )
}

/** The anchors of a page, as GitHub and npm make them of its headings. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replace(/^```[^]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
      title.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-")
    )
  )

const readPage = (path: string): string => Fs.readFileSync(Path.join(root, path), "utf8")

/** What is wrong with where a link leads, for a file or folder of the repository. */
const wrongPath = (path: string, anchor: string, kind?: string): string | undefined => {
  const file = Path.join(root, path)
  if (!Fs.existsSync(file)) return `there is no ${path}`
  const isFolder = Fs.statSync(file).isDirectory()
  if (kind !== undefined && isFolder !== (kind === "tree")) return `${path} is no ${kind}`
  if (anchor === "" || isFolder || !path.endsWith(".md")) return undefined
  return anchorsOf(readPage(path)).has(anchor) ? undefined : `${path} has no heading #${anchor}`
}

/**
 * The links of a page that lead nowhere. In the repository a link may be a path from the page's own folder; of a page that
 * is `published` it may not.
 */
export const brokenLinks = (options: {
  readonly page: string
  readonly text: string
  readonly published: boolean
}): ReadonlyArray<string> => {
  const { page, published, text } = options
  const broken = linksOf(text).flatMap(({ target }) => {
    const [path = "", anchor = ""] = target.split("#")
    const [, kind, inRepository] = path.startsWith(`${repository}/`)
      ? /^\/(blob|tree)\/main\/(.*)$/.exec(path.slice(repository.length)) ?? []
      : []
    const wrong = inRepository !== undefined
      ? wrongPath(decodeURI(inRepository), anchor, kind)
      : isAbsolute(target)
      ? undefined
      : path === ""
      ? anchorsOf(text).has(anchor) ? undefined : `the page has no heading #${anchor}`
      : published
      ? `a relative link, which leads nowhere on npm: begin it with ${repository}/blob/main/`
      : wrongPath(Path.posix.join(Path.posix.dirname(page), path), anchor)
    return wrong === undefined ? [] : [`${page}: ${target}: ${wrong}`]
  })
  return [...broken, ...undefinedLabels(text).map((label) => `${page}: nothing defines [${label}]`)]
}

/** A page of the repository as it can be read anywhere: its links begin with the repository's address. */
export const readableAnywhere = (page: string): string => {
  let text = readPage(page)
  for (const { index, target } of linksOf(text).toReversed()) {
    if (isAbsolute(target) || target.startsWith("#")) continue
    const [path = "", anchor] = target.split("#")
    const inRepository = Path.posix.join(Path.posix.dirname(page), path)
    const kind = Fs.statSync(Path.join(root, inRepository)).isDirectory() ? "tree" : "blob"
    const absolute = `${repository}/${kind}/main/${inRepository}${anchor === undefined ? "" : `#${anchor}`}`
    text = text.slice(0, index) + absolute + text.slice(index + target.length)
  }
  return text
}
