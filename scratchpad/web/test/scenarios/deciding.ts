/** What people decide, each way that a card can be answered. */
import { assert } from "vitest"
import type { Scenario } from "../theatre.ts"

export const deciding: ReadonlyArray<Scenario> = [
  {
    name: "an answer is read while it comes",
    act: async ({ shoot, stage, tab }) => {
      const ada = await tab()
      await ada.say("tell")
      await stage.said.until("begun story")
      await ada.reads("Once upon a time")
      await shoot(ada, "half of it")
      stage.release("story")
      await ada.reads("Once upon a time there was a queue.")
      assert.lengthOf(ada.posts, 1)
    }
  },
  {
    name: "what is approved runs, and the answer follows",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await shoot(ada, "asked")
      assert.deepStrictEqual(ran(), [])
      await ada.approve("a.log")
      await ada.is("a.log", "done")
      await ada.reads("Finished 1.")
      await shoot(ada, "done")
      assert.deepStrictEqual(ran(), ["delete a.log"])
      assert.lengthOf(ada.posts, 2)
    }
  },
  {
    name: "what is denied does not run, and the reason is kept",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.deny("a.log", "we need it")
      await ada.is("a.log", "denied")
      await ada.reads("we need it")
      await ada.reads("Finished 1.")
      await shoot(ada, "denied")
      assert.deepStrictEqual(ran(), [])
      await ada.reload()
      await ada.is("a.log", "denied")
      await ada.reads("we need it")
    }
  },
  {
    name: "the first of two cards is edited, and its edit is what runs",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log b.log")
      await ada.is("b.log", "open")
      await ada.edit("a.log", { path: "c.log" })
      await shoot(ada, "edited")
      await ada.approve("b.log")
      await ada.is("a.log", "done")
      await ada.is("b.log", "done")
      await ada.reads("Finished 2.")
      await shoot(ada, "done")
      assert.sameMembers([...ran()], ["delete c.log", "delete b.log"])
    }
  },
  {
    name: "of two cards one is denied and one approved",
    act: async ({ ran, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log b.log")
      await ada.is("b.log", "open")
      await ada.deny("a.log")
      await ada.approve("b.log")
      await ada.is("a.log", "denied")
      await ada.is("b.log", "done")
      await ada.reads("Finished 2.")
      assert.deepStrictEqual(ran(), ["delete b.log"])
    }
  },
  {
    name: "a form is filled in",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("seat")
      await ada.is("night train", "open")
      await shoot(ada, "asked")
      await ada.answer("night train", { seat: "7a", quiet: true })
      await ada.is("night train", "done")
      await ada.reads("Finished 1.")
      await shoot(ada, "answered")
      assert.deepStrictEqual(ran(), ["seat 7a true"])
    }
  },
  {
    name: "a question is answered in its card",
    act: async ({ ran, tab }) => {
      const ada = await tab()
      await ada.say("ask")
      await ada.is("password of the day", "open")
      await ada.answer("password of the day", { "Your answer": "swordfish" })
      await ada.is("password of the day", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["ask swordfish"])
    }
  },
  {
    name: "what fails says so in a sentence",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("deploy site")
      await ada.is("site", "open")
      await ada.approve("site")
      await ada.is("site", "failed")
      await ada.reads("The disk of site is full.")
      await ada.reads("Finished 1.")
      await shoot(ada, "failed")
      assert.deepStrictEqual(ran(), ["deploy site"])
    }
  },
  {
    name: "a slow tool that asks nobody shows how far it is",
    act: async ({ ran, shoot, stage, tab }) => {
      const ada = await tab()
      await ada.say("search cats")
      await stage.said.until("begun search cats")
      await ada.is("Search", "running")
      await ada.reads("looking for cats")
      await shoot(ada, "running")
      stage.release("search cats")
      await ada.is("Search", "done")
      await ada.unfold("Search")
      await ada.reads("3 pages about cats")
      assert.deepStrictEqual(ran(), ["search cats"])
    }
  },
  {
    name: "a double click is one decision",
    act: async ({ ran, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.approveTwice("a.log")
      await ada.is("a.log", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["delete a.log"])
      assert.lengthOf(ada.posts, 2)
    }
  },
  {
    name: "a model that fails is told in a sentence without its secrets, and can be tried again",
    act: async ({ shoot, tab }) => {
      const ada = await tab()
      await ada.say("break")
      await ada.reads("The model did not answer.")
      await shoot(ada, "failed")
      await ada.tryAgain()
      await ada.reads("The model did not answer.")
      assert.notInclude(await ada.page.content(), "sk-secret")
      await ada.reload()
      await ada.say("hello")
      await ada.reads("You said hello.")
    }
  }
]
