/** What is known of a model by its name. */

const reasoning = /^(o\d|gpt-\d|codex|computer-use)/

const older = /^(gpt-[34]|gpt-35|chatgpt-4|gpt-5-chat|davinci|babbage|ft:gpt-[34])/

/**
 * Whether a model reasons: `undefined` for a name that says nothing, such as that of a deployment at Azure. A gateway puts
 * the provider's name before it.
 */
export const reasons = (model: string): boolean | undefined => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase()
  return older.test(name) ? false : reasoning.test(name) ? true : undefined
}
