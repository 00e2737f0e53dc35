import { memo, useLayoutEffect, useRef } from 'react';
import { textLimits } from './limits.ts';
import { LongText } from './LongText.tsx';
import { setSafeHtml } from './markdown.ts';

/** A text of an agent, rendered as sanitized Markdown; very long texts are shown as plain text. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  const isLong = text.length > textLimits.markdownCharsMax;
  useLayoutEffect(() => {
    if (element.current !== null && !isLong) setSafeHtml(element.current, text);
  }, [text, isLong]);
  return isLong ? <LongText text={text} /> : <div ref={element} className="markdown" />;
});
