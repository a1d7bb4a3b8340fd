/** The page whose client is `useChat` of npm, unmodified. */
import { folder } from "./build.ts"
import { driver } from "./chatDriver.ts"
import { describeScenarios } from "./describe.ts"

describeScenarios({ driver, folder: () => folder })
