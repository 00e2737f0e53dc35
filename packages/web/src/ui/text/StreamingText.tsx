import { useLayoutEffect, useRef } from 'react';
import { cleanText } from '@fleetloom/protocol/text';
import { setSafeHtml } from './markdown.ts';
import { settledLength } from './split-blocks.ts';

/** A text that grows. Finished blocks are rendered once; the last one is appended to one text node as it arrives. */
export function StreamingText({ text }: { text: string }) {
  const settled = useRef<HTMLDivElement>(null);
  const open = useRef<HTMLParagraphElement>(null);
  const drawn = useRef({ text: '', settled: 0 });
  useLayoutEffect(() => {
    const [blocks, tail] = [settled.current, open.current];
    if (blocks === null || tail === null) return;
    const before = drawn.current;
    if (!text.startsWith(before.text)) {
      blocks.replaceChildren();
      tail.replaceChildren();
      before.settled = 0;
    }
    const end = settledLength(text, before.settled);
    if (end > before.settled) {
      const block = document.createElement('div');
      setSafeHtml(block, text.slice(before.settled, end));
      blocks.append(block);
      tail.textContent = cleanText(text.slice(end));
    } else if (tail.firstChild instanceof Text && text.startsWith(before.text)) {
      tail.firstChild.appendData(cleanText(text.slice(before.text.length)));
    } else tail.textContent = cleanText(text.slice(end));
    drawn.current = { text, settled: end };
  }, [text]);
  return (
    <div className="markdown streaming">
      <div ref={settled} />
      <p ref={open} className="streaming-tail" data-code={isCode(text)} />
    </div>
  );
}

/** Whether the unfinished part is code: its fence is still open. */
function isCode(text: string): boolean {
  return /^\s{0,3}(?:```|~~~)/.test(text.slice(settledLength(text)));
}
