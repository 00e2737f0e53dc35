import type { InputBlock } from '../../../../base/content.ts';

/** Converts a message to the input of `turn/start`. */
export function toInput(content: readonly InputBlock[]): object[] {
  return content.map((block) => {
    if (block.type === 'text') return toText(block.text);
    const { type, data, media_type: mediaType, url } = block.source;
    if (block.type === 'image' && type === 'url' && typeof url === 'string') return { type: 'image', url };
    if (block.type === 'image' && typeof data === 'string' && typeof mediaType === 'string') {
      return { type: 'image', url: `data:${mediaType};base64,${data}` };
    }
    // Codex takes no documents: a text document becomes a text, and of other documents the model reads only the title.
    if (type === 'text' && typeof data === 'string') return toText(data);
    const title = 'title' in block && typeof block.title === 'string' ? block.title : 'untitled';
    return toText(`[A document that this program cannot read: ${title}]`);
  });
}

function toText(text: string): object {
  return { type: 'text', text, text_elements: [] };
}
