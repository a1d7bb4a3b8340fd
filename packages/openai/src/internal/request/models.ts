/** What is known of a model by its name. An unknown name is taken for one of the current kind. */

const older = /^(gpt-[34]|chatgpt-4|gpt-5-chat|davinci|babbage|ft:gpt-[34])/

/** Whether a model reasons, so that it has reasoning to encrypt and takes its instructions from a developer. */
export const reasons = (model: string): boolean => /^(o\d|gpt-\d|codex|computer-use)/.test(model) && !older.test(model)
