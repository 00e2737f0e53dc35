import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { record, text } from '../../lines/values.ts';

/** The custom tool call whose result the line requests. */
export function calledBy(line: StreamJsonMessage): string | undefined {
  if (line.type !== 'control_request') return undefined;
  const message = record(record(line['request'])?.['message']);
  if (message?.['method'] !== 'tools/call') return undefined;
  return text(record(record(message['params'])?.['_meta'])?.['claudecode/toolUseId']);
}
