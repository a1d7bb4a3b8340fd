/** Chromium, from npm where there is one for this machine, else the Chrome that is installed. */
import * as ChildProcess from "node:child_process"
import type { Browser } from "playwright-core"

/** Nothing of the list that @sparticuz/chromium gives for cloud functions: it turns off what pages are protected by. */
const args = ["--no-sandbox"]

/** Why no browser could be started, if none could. */
export class NoBrowser extends Error {}

const isFromNpm = process.platform === "linux" && process.arch === "x64"

/** Where npm has put it; what it comes in is unpacked once. */
const unpacked = async (): Promise<string> => {
  const { default: fromNpm } = await import("@sparticuz/chromium")
  return fromNpm.executablePath()
}

export const launch = async (): Promise<Browser> => {
  // It takes half a second to read, for which who only looks for a browser has no use.
  const { chromium } = await import("playwright-core")
  return isFromNpm
    ? chromium.launch({ executablePath: await unpacked(), args })
    : chromium.launch({ channel: "chrome" })
}

/** Fails with `NoBrowser` where there is none, or one that does not start. */
export const find = async (): Promise<void> => {
  try {
    if (isFromNpm) ChildProcess.execFileSync(await unpacked(), ["--version"], { stdio: "pipe" })
    else await (await launch()).close()
  } catch (error) {
    throw new NoBrowser(error instanceof Error ? error.message.split("\n")[0] : String(error))
  }
}
