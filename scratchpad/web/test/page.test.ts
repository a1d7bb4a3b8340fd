/** The page of this repository, in the same scenarios as the one with `useChat`. */
import { describeScenarios } from "./describe.ts"
import { driver, folder } from "./pageDriver.ts"

describeScenarios({ driver, folder: () => folder })
