import { useState } from 'react';
import { Glyph } from '../app/Glyph.tsx';
import { useSignal } from '../app/signal.ts';
import { fleet } from '../app/stores.ts';
import type { ShownRow } from '../model/summary.ts';
import { cleanLine } from '../text/clean-text.ts';
import { LongText } from '../text/LongText.tsx';
import { Markdown } from '../text/Markdown.tsx';
import type { Block } from './transcript.ts';

/** A message to or from another thread: it expands in place, or opens. */
export function ThreadCard({ block, row }: { block: Extract<Block, { type: 'thread' }>; row: ShownRow }) {
  // A block is not drawn again for what happens elsewhere; how the other thread is, changes.
  useSignal(fleet.changed);
  const [isOpen, setOpen] = useState(false);
  const other = fleet
    .rows()
    .find(({ threadId, sessionId }) => threadId === block.threadId && sessionId === row.sessionId);
  return (
    <>
      <span className="block-glyph" data-ink="waits" aria-hidden="true">
        {block.direction === 'to' ? '→' : '←'}
      </span>
      <div className="thread-card">
        <button type="button" className="fold-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? '▾' : '▸'} {block.direction === 'to' ? 'to' : 'from'} <b>{cleanLine(block.agent)}</b>
          {other !== undefined && block.direction === 'to' && (
            <span data-ink={other.state}>
              {' '}
              <Glyph glyph={other.glyph} /> {other.word}
            </span>
          )}
          {!isOpen && <span className="quiet"> {cleanLine(block.text.slice(0, 140))}</span>}
        </button>
        <a href={`#/thread/${row.sessionId}/${block.threadId}`}>open</a>
        {isOpen && (
          <div className="thread-card-body">
            {block.direction === 'to' ? <LongText text={block.text} /> : <Markdown text={block.text} />}
            {block.direction === 'to' && other !== undefined && other.slot.text.tail !== '' && (
              <Markdown text={other.slot.text.tail} />
            )}
          </div>
        )}
      </div>
    </>
  );
}
