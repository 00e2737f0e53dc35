import type { ResultBlock } from '../../../../base/content.ts';
import { isDeeper } from '../../../../base/json/is-deeper.ts';
import { programLimits } from '../../limits.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';
import { record, records, text } from '../../lines/values.ts';

/** The result of a call, from the fields of its updates. `terminal` is what a terminal of the agent has shown. */
export function toResult(call: Fields, terminal: string): ResultBlock[] {
  const shown = records(call['content']).flatMap(toBlocks);
  if (shown.length > 0) return shown;
  if (terminal !== '') return [{ type: 'text', text: terminal }];
  const output = call['rawOutput'];
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
