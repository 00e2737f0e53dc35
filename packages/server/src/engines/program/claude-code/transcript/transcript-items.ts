import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { toSaidDigest } from '../../ended-conversation.ts';
import { record, text } from '../../lines/values.ts';
import { blocksOf } from './silent-agent.ts';

/** What a record of a transcript has that a log has too. */
export type TranscriptItem =
  | { readonly type: 'said'; readonly digest: string }
  | { readonly type: 'call'; readonly callId: string }
  | { readonly type: 'result'; readonly callId: string; readonly isError: boolean };

/** The item that a content block of a record is; undefined for what no log has. */
export function toTranscriptItem(block: Readonly<Record<string, unknown>>): TranscriptItem | undefined {
  switch (block['type']) {
    case 'tool_use':
      return { type: 'call', callId: String(block['id']) };
    case 'tool_result':
      return { type: 'result', callId: String(block['tool_use_id']), isError: block['is_error'] === true };
    case 'text': {
      const said = text(block['text']) ?? '';
      return said === '' ? undefined : { type: 'said', digest: toSaidDigest('text', said) };
    }
    case 'thinking':
      return { type: 'said', digest: toSaidDigest('thinking', text(block['thinking']) ?? '') };
    default:
      return { type: 'said', digest: toSaidDigest('opaque', String(block['type'])) };
  }
}

/** Whether a record is said or done by the agent: not the program's words about a failed request, or where no model was asked. */
export function isOfAgent(transcribed: StreamJsonMessage, isMain: boolean): boolean {
  if (transcribed['isApiErrorMessage'] === true || (isMain && transcribed['isSidechain'] === true)) return false;
  if (transcribed.type === 'user') return blocksOf(transcribed).some(({ type }) => type === 'tool_result');
  if (transcribed.type !== 'assistant') return false;
  const [first] = blocksOf(transcribed);
  return record(transcribed.message)?.['model'] !== '<synthetic>' || first?.['text'] !== NOTHING_SAID;
}

/** Whether a record is something that was said to the agent: another run of it begins, or a turn. */
export function isPrompt(transcribed: StreamJsonMessage): boolean {
  return transcribed.type === 'user' && !blocksOf(transcribed).some(({ type }) => type === 'tool_result');
}

const NOTHING_SAID = 'No response requested.';
