/** What is read out of a trace, which needs no `strace`. */
import { assert, describe, it } from "@effect/vitest"
import { actsOf } from "./trace.ts"

const read = (...lines: ReadonlyArray<string>) => actsOf(lines.join("\n"), "/base/work")

describe("a trace", () => {
  it("begins with the program itself, and tells of others", () => {
    assert.deepStrictEqual(
      read(
        "7 execve(\"/usr/bin/git\", [\"git\", \"log\"], 0x7ffe /* 20 vars */) = 0",
        "8 execve(\"/opt/less\", [\"less\", \"-R\"], 0x7ffe /* 20 vars */) = -1 ENOENT (No such file or directory)",
        "8 execve(\"/usr/bin/less\", [\"less\", \"-R\"], 0x7ffe /* 20 vars */) = 0"
      ),
      [{ does: "runs", what: "less -R" }]
    )
  })

  it("tells of files that are written, seen from the folder and from a descriptor", () => {
    assert.deepStrictEqual(
      read(
        "7 openat(AT_FDCWD</base/work>, \"a\", O_RDONLY) = 3</base/work/a>",
        "7 openat(AT_FDCWD</base/work>, \"b\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</base/work/b>",
        "7 openat(4</base/work/src>, \"c\", O_RDWR) = 3</base/work/src/c>",
        "7 openat(AT_FDCWD</base/work>, \"d\", O_WRONLY) = -1 EACCES (Permission denied)",
        "7 open(\"/dev/null\", O_WRONLY) = 3</dev/null>",
        "7 unlink(\"/tmp/e\") = 0",
        "7 renameat(AT_FDCWD</base/work>, \"f\", AT_FDCWD</base/work>, \"../g\") = 0",
        "7 fchmod(5</base/work/h>, 0644) = 0"
      ),
      ["b", "src/c", "/tmp/e", "f", "/base/g", "h"].map((what) => ({ does: "writes", what }))
    )
  })

  it("tells where a file lies that a link leads to", () => {
    assert.deepStrictEqual(
      read("7 openat(AT_FDCWD</base/work>, \"link\", O_RDONLY) = 3</base/outside/secret>"),
      [{ does: "reads outside", what: "/base/outside/secret" }]
    )
  })

  it("tells of sockets, and puts together what is in two lines", () => {
    assert.deepStrictEqual(
      read(
        "7 connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path=\"/var/run/nscd/socket\"}, 110) = -1 ENOENT (No such file or directory)",
        "7 mkdir(\"i\" <unfinished ...>",
        "8 connect(3<socket:[2]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0",
        "7 <... mkdir resumed>, 0777) = 0"
      ).map(({ does, what }) => `${does} ${what}`),
      [
        "connects /var/run/nscd/socket",
        "connects 3<socket:[2]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0",
        "writes i"
      ]
    )
  })
})
