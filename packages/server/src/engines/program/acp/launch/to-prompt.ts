import type { InputBlock } from '../../../../base/content.ts';

/** The content besides text that an agent accepts in a prompt. */
export interface PromptSupport {
  readonly image: boolean;
}

/** Converts a message to the prompt of `session/prompt`. */
export function toPrompt(content: readonly InputBlock[], { image }: PromptSupport): object[] {
  return content.map((block) => {
    if (block.type === 'text') return toText(block.text);
    const { type, data, media_type: mimeType } = block.source;
    if (block.type === 'image' && image && typeof data === 'string' && typeof mimeType === 'string')
      return { type: 'image', data, mimeType };
    if (type === 'text' && typeof data === 'string') return toText(data);
    const title = 'title' in block && typeof block.title === 'string' ? block.title : 'untitled';
    return toText(`[${block.type === 'image' ? 'An image' : 'A document'} that this agent cannot read: ${title}]`);
  });
}

function toText(text: string): object {
  return { type: 'text', text };
}
