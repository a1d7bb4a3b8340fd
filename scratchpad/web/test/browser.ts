/** Chromium, from npm where there is one for this machine, else the Chrome that is installed. */
import { type Browser, chromium } from "playwright-core"

/** Nothing of the list that @sparticuz/chromium gives for cloud functions: it turns off what pages are protected by. */
const args = ["--no-sandbox"]

/** Why no browser could be started, if none could. */
export class NoBrowser extends Error {}

export const launch = async (): Promise<Browser> => {
  try {
    if (process.platform !== "linux" || process.arch !== "x64") return await chromium.launch({ channel: "chrome" })
    const { default: fromNpm } = await import("@sparticuz/chromium")
    return await chromium.launch({ executablePath: await fromNpm.executablePath(), args })
  } catch (error) {
    throw new NoBrowser(error instanceof Error ? error.message.split("\n")[0] : String(error))
  }
}
