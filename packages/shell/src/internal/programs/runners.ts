/**
 * Programs that run what their words do not tell: no `*` stands for these.
 */
import type { Program } from "./program.ts"

const runs = (what: string, ...names: ReadonlyArray<string>): ReadonlyArray<Program> =>
  names.map((program) => ({ program, proved: [], runs: what }))

const versions = (what: string, proved: string, ...names: ReadonlyArray<string>): ReadonlyArray<Program> =>
  names.map((program) => ({ program, proved: [proved], runs: what, alone: "--version" }))

export const runners: ReadonlyArray<Program> = [
  ...versions("Python", "Python 3.11.2", "python", "python3"),
  ...versions("JavaScript", "Node.js 26", "node"),
  // `yarn` and `pnpm` tell the version of a program that the folder names, and `cargo` runs the one that it names.
  ...versions("what package.json says", "npm 11.19.1", "npm"),
  ...runs("what package.json says", "pnpm", "yarn"),
  ...runs("programs of packages", "npx", "pnpx", "bunx", "uvx", "pipx"),
  ...runs("JavaScript", "bun", "deno", "tsx", "ts-node"),
  ...runs(
    "what the project says",
    "cargo",
    "cmake",
    "go",
    "gradle",
    "just",
    "make",
    "mvn",
    "ninja",
    "rake",
    "turbo",
    "uv"
  ),
  ...runs("the project's code", "jest", "mocha", "pytest", "tox", "vitest"),
  ...runs("a program of its own", "perl", "php", "ruby", "lua"),
  ...runs("any command", "sh", "bash", "dash", "zsh", "fish", "eval", "source", ".", "ssh"),
  ...runs(
    "another command",
    "doas",
    "env",
    "exec",
    "nice",
    "nohup",
    "parallel",
    "sudo",
    "time",
    "timeout",
    "watch",
    "xargs"
  ),
  ...runs("containers", "docker", "podman")
]
