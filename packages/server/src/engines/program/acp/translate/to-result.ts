import type { ResultBlock } from '../../../../base/content.ts';
import { isDeeper } from '../../../../base/json/is-deeper.ts';
import { programLimits } from '../../limits.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';
import { record, records, text } from '../../lines/values.ts';
import type { CallFields } from './call-fields.ts';

/** The result of a call, from the fields of its updates: its content, or else its terminal output, or else its raw output. */
export function toResult(call: Pick<CallFields, 'get' | 'terminal'>): ResultBlock[] {
  const shown = records(call.get('content')).flatMap(toBlocks);
  if (shown.length > 0) return shown;
  if (call.terminal !== '') return [{ type: 'text', text: call.terminal }];
  const output = call.get('rawOutput');
  if (typeof output === 'string') return output === '' ? [] : [{ type: 'text', text: output }];
  if (output === undefined || output === null || isDeeper(output, programLimits.acpNestingMax)) return [];
  return [{ type: 'text', text: JSON.stringify(output) }];
}

function toBlocks(item: Fields): ResultBlock[] {
  if (item['type'] === 'diff')
    return [{ type: 'text', text: `${text(item['path']) ?? ''}\n${text(item['newText']) ?? ''}` }];
  const content = record(item['content']);
  const said = text(content?.['text']);
  if (said !== undefined) return [{ type: 'text', text: said }];
  const [data, mediaType] = [text(content?.['data']), text(content?.['mimeType'])];
  if (content?.['type'] !== 'image' || data === undefined || mediaType === undefined) return [];
  return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }];
}
