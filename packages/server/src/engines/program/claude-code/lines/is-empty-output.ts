import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { record, text } from '../../lines/values.ts';

/** Whether the line stands for a slash command without output: 2.1.197 prints a message for it. */
export function isEmptyOutput({ type, message }: StreamJsonMessage): boolean {
  if (type !== 'assistant' || text(message?.['model']) !== '<synthetic>') return false;
  const content = message?.['content'];
  return Array.isArray(content) && text(record(content[0])?.['text']) === '(no content)';
}
