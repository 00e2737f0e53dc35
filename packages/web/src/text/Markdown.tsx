import { memo, useLayoutEffect, useRef } from 'react';
import { limits } from '../limits.ts';
import { LongText } from './LongText.tsx';
import { setSafeHtml } from './markdown.ts';

/** A whole text of an agent. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  const isLong = text.length > limits.markdownCharsMax;
  useLayoutEffect(() => {
    if (element.current !== null && !isLong) setSafeHtml(element.current, text);
  }, [text, isLong]);
  return isLong ? <LongText text={text} /> : <div ref={element} className="markdown" />;
});
