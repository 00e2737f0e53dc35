import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { toSaidDigest } from '../../ended-conversation.ts';
import { record, text } from '../../lines/values.ts';
import { blocksOf } from './silent-agent.ts';

/** An item of a transcript record that a log has too. */
export type TranscriptItem =
  | { readonly type: 'said'; readonly digest: string }
  | { readonly type: 'call'; readonly callId: string }
  | { readonly type: 'result'; readonly callId: string; readonly isError: boolean };

/** The item of a content block; undefined for a block that no log has. */
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

/** Whether a record is from the agent itself, not a text of the program about a failed request or a turn without a model request. */
export function isOfAgent(transcribed: StreamJsonMessage, isMain: boolean): boolean {
  if (transcribed['isApiErrorMessage'] === true || (isMain && transcribed['isSidechain'] === true)) return false;
  if (transcribed.type === 'user') return blocksOf(transcribed).some(({ type }) => type === 'tool_result');
  if (transcribed.type !== 'assistant') return false;
  const [first] = blocksOf(transcribed);
  return record(transcribed.message)?.['model'] !== '<synthetic>' || first?.['text'] !== NOTHING_SAID;
}

/** Whether a record is input for the agent, which begins a run or a turn. */
export function isPrompt(transcribed: StreamJsonMessage): boolean {
  return transcribed.type === 'user' && !blocksOf(transcribed).some(({ type }) => type === 'tool_result');
}

const NOTHING_SAID = 'No response requested.';
