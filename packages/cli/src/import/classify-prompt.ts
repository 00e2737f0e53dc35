import type { Block } from './step.ts';

/** The meaning of a user line in the file of the main agent. */
export type Prompt =
  | { readonly type: 'prompt' }
  /** A slash command: it may or may not start a turn. */
  | { readonly type: 'command'; readonly text: string }
  | { readonly type: 'interrupt' }
  /** A line of the program: output of a command, or the end of a background agent. */
  | { readonly type: 'note' };

/** Whether the user line of a transcript is a message, a slash command, an interrupt or a note of the program. */
export function classifyPrompt(blocks: readonly Block[]): Prompt {
  const first = blocks.find(({ type }) => type === 'text');
  const text = typeof first?.['text'] === 'string' ? first['text'].trimStart() : '';
  if (text.startsWith('[Request interrupted by user')) return { type: 'interrupt' };
  if (/^<(?:command-name|command-message)>/.test(text)) return { type: 'command', text: toCommand(text) };
  return notes.test(text) ? { type: 'note' } : { type: 'prompt' };
}

const notes = /^<(?:local-command-|bash-(?:input|stdout|stderr)>|task-notification>|system-reminder>)/;

function toCommand(text: string): string {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1] ?? '';
  const args = /<command-args>([^<]*)<\/command-args>/.exec(text)?.[1] ?? '';
  return `${name} ${args}`.trim();
}
