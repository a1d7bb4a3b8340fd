/** What models, tools and people say is text, wherever it is shown. */
import { assert } from "vitest"
import type { Tab } from "../tab.ts"
import type { Scenario } from "../theatre.ts"

/** Each would run, or load something, where it became markup. */
const markup =
  `<img src=x onerror="hacked=1"><svg/onload=hacked=1><script>hacked=1</script><a href="javascript:hacked=1">x</a>`

/** What a page makes of itself has none of these. */
const foreign = async ({ page }: Tab): Promise<ReadonlyArray<string>> =>
  page.locator("body").evaluate((body) => [
    ...("hacked" in globalThis ? ["it ran"] : []),
    ...Array.from(body.querySelectorAll("*")).flatMap((element) =>
      element.matches(
          "img, svg, script, iframe, object, embed, style, link, base, meta, [href^='javascript:' i], [srcdoc]"
        ) ||
        element.getAttributeNames().some((name) => name.startsWith("on"))
        ? [element.outerHTML]
        : []
    )
  ])

export const inMarkup: ReadonlyArray<Scenario> = [
  {
    name: "nothing that a model, a tool or a person says becomes markup",
    act: async ({ shoot, tab }) => {
      const ada = await tab(`Ada<img src=x onerror=hacked=1>`)
      const path = markup.replaceAll(" ", "\u00a0")
      await ada.say(`say ${markup}`)
      await ada.reads(markup)
      await ada.say(`write ${markup}`)
      await ada.is("notes.txt", "open")
      await ada.reads("hacked=1")
      await shoot(ada, "presented")
      assert.deepStrictEqual(await foreign(ada), [])
      await ada.deny("notes.txt", markup)
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(await foreign(ada), [])
      await ada.say(`delete ${path}`)
      await ada.is("hacked=1", "open")
      await ada.approve("hacked=1")
      await ada.reads("Finished 2.")
      await shoot(ada, "said")
      assert.deepStrictEqual(await foreign(ada), [])
      await ada.reload()
      await ada.reads("Finished 2.")
      await shoot(ada, "loaded again")
      assert.deepStrictEqual(await foreign(ada), [])
    }
  },
  {
    name: "a model that calls a tool which is none, with markup for a name",
    act: async ({ shoot, tab }) => {
      const ada = await tab()
      await ada.say(`call ${markup}`)
      await ada.page.locator("[data-role=user]").waitFor()
      await ada.say("hello")
      await ada.reads("You said hello.")
      await shoot(ada, "called")
      assert.deepStrictEqual(await foreign(ada), [])
    }
  }
]
