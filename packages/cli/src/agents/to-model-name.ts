/** Short names stand for the newest model of their kind, as in the files of Claude Code. All others mean themselves. */
export function toModelName(name: string): string {
  return SHORT_NAMES[name] ?? name;
}

/** What a run uses when nobody says, where there is a key for it. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';

/** The same where there is none: it answers with what it is told, and costs nothing. */
export const OFFLINE_MODEL = 'scripted/echo';

const SHORT_NAMES: Readonly<Record<string, string | undefined>> = {
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
};
