/**
 * What a program does to the world while it runs, as `strace -f` sees it: programs that it starts, files that it opens for
 * writing, makes, renames, changes or removes, and sockets that it connects to.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { type Options, type Ran, run } from "./run.ts"

export interface Act {
  readonly does: "runs" | "writes" | "connects" | "reads outside"
  /** Words, a path seen from the working folder if it is below, or a socket. */
  readonly what: string
}

const calls = [
  "execve,execveat",
  "open,openat,openat2,creat",
  "unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat",
  "truncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utimensat,setxattr,lsetxattr,fsetxattr",
  "connect,bind"
].join(",")

export const trace = async (
  words: ReadonlyArray<string>,
  options: Options & { readonly file: string }
): Promise<{ readonly ran: Ran; readonly acts: ReadonlyArray<Act> }> => {
  // `-y` writes the path beside a descriptor, so that what is opened below a folder can be told.
  const ran = await run(
    ["strace", "-f", "-qq", "-y", "-s", "1000", "-e", `trace=${calls}`, "-o", options.file, "--", ...words],
    options
  )
  const written = Fs.readFileSync(options.file, "utf8")
  Fs.rmSync(options.file)
  return { ran, acts: actsOf(written, options.cwd) }
}

/** What is always open, and keeps nothing. */
const nowhere = new Set(["/dev/null", "/dev/tty"])

/** What a trace tells of a program that was started in the folder. */
export const actsOf = (text: string, folder: string): ReadonlyArray<Act> => {
  let started = 0
  const acts: Array<Act> = []
  const seen = (path: string): string => {
    const relative = Path.relative(folder, path)
    return relative.startsWith("..") ? path : relative
  }
  for (const line of joined(text)) {
    const [, name, args] = /^\d+\s+(\w+)\((.*)$/.exec(line) ?? []
    if (name === undefined || args === undefined) continue
    const failed = / = -1 E/.test(args)
    const strings = [...args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, string]) => string!)
    if (name.startsWith("exec")) {
      // The first is the program itself.
      if (!failed && started++ > 0) {
        acts.push({
          does: "runs",
          what: [...(/\[(.*?)\]/.exec(args)?.[1] ?? "").matchAll(/"([^"]*)"/g)].map(([, word]) => word).join(" ")
        })
      }
    } else if (name === "connect" || name === "bind") {
      acts.push({ does: "connects", what: /sun_path=@?"([^"]*)"/.exec(args)?.[1] ?? args })
    } else if (!failed) {
      const from = /^(?:AT_FDCWD|\d+)<([^>]*)>/.exec(args)?.[1] ?? folder
      const paths = strings.map((string) => Path.resolve(from, string))
      if (/^f?ch(?:mod|own)$/.test(name) && strings.length === 0) paths.push(from)
      if (name.startsWith("open") && !/O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(args)) {
        // Where the file lies in the end, which is behind a link perhaps.
        const opened = /= \d+<([^>]*)>/.exec(args)?.[1] ?? paths[0]!
        if (opened.startsWith(`${Path.dirname(folder)}/outside/`)) acts.push({ does: "reads outside", what: opened })
      } else {
        acts.push(
          ...paths.filter((path) => !nowhere.has(path)).map((path): Act => ({ does: "writes", what: seen(path) }))
        )
      }
    }
  }
  return acts
}

/** The lines of the trace, with what strace cut in two when another process came between put together. */
const joined = (text: string): ReadonlyArray<string> => {
  const open = new Map<string, string>()
  return text.split("\n").flatMap((line) => {
    const pid = /^\d+/.exec(line)?.[0] ?? ""
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(line)?.[1]
    if (begun !== undefined) {
      open.set(pid, begun)
      return []
    }
    const rest = /^\d+\s+<\.\.\. \w+ resumed>(.*)$/.exec(line)?.[1]
    return rest === undefined ? [line] : [(open.get(pid) ?? "") + rest]
  })
}
