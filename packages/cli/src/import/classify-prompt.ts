import type { Block } from './step.ts';

/** What a line of a user in the main agent's file is. */
export type Prompt =
  | { readonly type: 'prompt' }
  /** A slash command: it may lead to a turn, or to nothing that an agent does. */
  | { readonly type: 'command'; readonly text: string }
  | { readonly type: 'interrupt' }
  /** The program's own: what a command printed, or that an agent in the background has ended. */
  | { readonly type: 'note' };

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
