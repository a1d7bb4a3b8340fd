/**
 * What is the same by another name, as far as we know: a list that is never complete.
 */

/** An act, in the words of a pattern, and other ways to say it. */
export interface Act {
  readonly of: string
  /** Patterns of their own; what else the forbidden pattern wants, they need as well. */
  readonly ways: ReadonlyArray<string>
  /** Patterns that are the act with whatever options the forbidden pattern wants. */
  readonly always?: ReadonlyArray<string>
  /** A text anywhere in the line. */
  readonly text?: RegExp
}

export const acts: ReadonlyArray<Act> = [
  {
    of: "rm",
    // Each removes one file, which `rm` with options is more than.
    ways: ["unlink", "shred -u", "srm", "wipe", "erase", "del", "trash", "trash-put", "safe-rm", "grm", "remove-item"],
    // Each removes all that there is below a folder, without a question.
    always: [
      "find -delete",
      "fd -X unlink",
      "rsync --del*",
      "rsync --remove-source-files",
      "git clean",
      "tar --remove-files",
      "gtar --remove-files",
      "zip -m",
      "rimraf",
      "del-cli",
      "del",
      "cmake -E remove*",
      "srm",
      "grm",
      "remove-item"
    ]
  },
  {
    of: "git push",
    ways: [
      "git send-pack",
      "git http-push",
      "git lfs push",
      "git subtree push",
      "git svn dcommit",
      "git p4 submit",
      "git-push",
      "git-send-pack",
      "git-http-push",
      "hub push"
    ]
  },
  {
    of: "npm publish",
    ways: ["pnpm publish", "yarn publish", "bun publish", "npm-cli publish", "npm-cli.js publish", "npm stage"],
    always: ["lerna publish", "changeset publish", "@changesets/cli publish", "np", "release-it", "semantic-release"]
  },
  { of: "npm run", ways: ["npm run-script", "npm rum", "npm urn"] },
  { of: "npm install", ways: ["npm i", "npm add", "npm in", "npm ins", "npm inst", "npm isntall"] },
  { of: "curl", ways: [], text: /\/dev\/(?:tcp|udp)\b/ },
  { of: "python", ways: ["pypy"] },
  { of: "docker", ways: ["podman", "nerdctl"] },
  { of: "vim", ways: ["vi", "nvim", "gvim"] },
  { of: "node", ways: ["nodejs"] },
  { of: "ssh", ways: ["slogin"] }
]

/** Programs that come with their version in their name: `python3.12`. */
export const versioned: ReadonlySet<string> = new Set([
  "clang",
  "g++",
  "gcc",
  "gem",
  "lua",
  "perl",
  "php",
  "pip",
  "psql",
  "pypy",
  "python",
  "ruby"
])

/** An option of a program, or of its subcommand, and what stands for the same; a `*` is for any characters. */
export const options: { readonly [command: string]: ReadonlyArray<ReadonlyArray<string>> } = {
  rm: [["-r", "-R", "--recursive"], ["-f", "--force"], ["-i", "-I", "--interactive*"]],
  "git push": [
    [
      "--force",
      "-f",
      "--force-with-lease*",
      "--force-if-includes",
      "--mirror",
      "--prune",
      "--delete",
      "-d",
      "+*",
      ":*"
    ],
    ["--delete", "-d", ":*", "--mirror", "--prune"],
    ["--no-verify"],
    ["--tags", "--follow-tags"]
  ],
  "git commit": [["--no-verify", "-n"], ["--all", "-a"], ["--message", "-m"]],
  "git branch": [["-D", "-d", "-f", "--delete", "--force"]],
  "git checkout": [["--force", "-f"]],
  "git clean": [["--force", "-f"]],
  "git reset": [["--hard"]],
  shred: [["-u", "--remove*"]],
  zip: [["-m", "--move"]],
  chmod: [["-R", "--recursive"]],
  chown: [["-R", "--recursive"]],
  cp: [["-r", "-R", "-a", "--recursive", "--archive"]],
  docker: [["--privileged"], ["-v", "--volume", "--mount"]],
  curl: [
    ["-X", "--request"],
    ["-d", "--data*"],
    ["-o", "-O", "--output*", "--remote-name*"],
    ["-k", "--insecure"],
    ["-T", "--upload-file"]
  ],
  wget: [["-O", "--output-document"]]
}

/** A value of a pattern that options of a program stand for: `curl -d` sends by POST. */
export const values: { readonly [command: string]: { readonly [value: string]: ReadonlyArray<string> } } = {
  curl: {
    post: ["-d", "--data*", "-F", "--form*", "--json", "-K", "--config"],
    put: ["-T", "--upload-file", "-K", "--config"]
  }
}
