import type { InputBlock } from '../../../../base/content.ts';
import { text } from '../../lines/values.ts';

/** The content of a message as opencode's parts. */
export function toParts(content: readonly InputBlock[]): readonly object[] {
  return content.map((block) =>
    block.type === 'text' ? toText(block.text) : (toFile(block) ?? toText(JSON.stringify(block))),
  );
}

function toText(said: string): object {
  return { type: 'text', text: said };
}

/** The file part of a block; undefined for a source that opencode does not support. */
function toFile({ source, ...block }: Exclude<InputBlock, { type: 'text' }>): object | undefined {
  const mime = text(source['media_type']);
  const data = text(source['data']);
  const filename = 'title' in block && typeof block.title === 'string' ? { filename: block.title } : {};
  switch (source['type']) {
    case 'base64':
      return { type: 'file', mime, url: `data:${mime};base64,${data ?? ''}`, ...filename };
    case 'url':
      return {
        type: 'file',
        mime: mime ?? (block.type === 'image' ? 'image/*' : 'application/pdf'),
        url: source['url'],
        ...filename,
      };
    case 'text':
      return toText(data ?? '');
    default:
      return undefined;
  }
}
