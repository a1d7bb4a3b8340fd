/**
 * What tests of agents need: a language model that follows a script, a provider that refuses what real ones refuse,
 * and people whose answers are known beforehand; and handlers of gated tools by themselves.
 *
 * @since 0.1.0
 */
export * as ScriptedApprover from "./ScriptedApprover.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
export * as StrictProvider from "./StrictProvider.ts"

export { withConsent } from "./Consent.ts"
