/** Resolves the short names opus, sonnet and haiku to full model names, as Claude Code does. Other names are unchanged. */
export function toModelName(name: string): string {
  return SHORT_NAMES[name] ?? name;
}

/** The default model if the server has an API key. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';

const SHORT_NAMES: Readonly<Record<string, string | undefined>> = {
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
};
