/** opencode's name of a model. */
export interface OpencodeModel {
  readonly providerID: string;
  readonly modelID: string;
}

/**
 * `opencode/<provider>/<model>` without its prefix, or another model of the same provider. Null: the default. A model name may
 * contain slashes, a provider name may not.
 */
export function toOpencodeModel(name: string | null, fallback: OpencodeModel): OpencodeModel {
  if (name === null || name === '' || name === 'default') return fallback;
  const at = name.indexOf('/');
  if (at <= 0 || at === name.length - 1) return { ...fallback, modelID: name };
  return { providerID: name.slice(0, at), modelID: name.slice(at + 1) };
}

/** The model that opencode uses if the definition names none. */
export const DEFAULT_MODEL: OpencodeModel = { providerID: 'anthropic', modelID: 'claude-sonnet-4-5' };
