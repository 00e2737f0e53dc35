import { cutText } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { Glyph } from '../app/Glyph.tsx';
import { useSignal } from '../app/signal.ts';
import { fleet } from '../app/stores.ts';
import { toHash } from '../app/ui-store.ts';
import type { ShownRow } from '../model/summary.ts';
import { threadName } from '../model/thread-name.ts';
import { cleanLine } from '../text/clean-text.ts';
import { LongText } from '../text/LongText.tsx';
import { Markdown } from '../text/Markdown.tsx';
import { toPlain } from '../text/to-plain.ts';
import type { Block } from './transcript.ts';

/** A message to or from another thread: it expands in place, or opens. */
export function ThreadCard({ block, row }: { block: Extract<Block, { type: 'thread' }>; row: ShownRow }) {
  // A block is not drawn again for what happens elsewhere; how the other thread is, changes.
  useSignal(fleet.changed);
  const [isOpen, setOpen] = useState(false);
  const here = { view: 'thread', sessionId: row.sessionId, threadId: row.threadId ?? undefined } as const;
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
          {isOpen ? '▾' : '▸'} {block.direction === 'to' ? 'to' : 'from'}{' '}
          <b>{other === undefined ? cleanLine(block.agent) : threadName(other)}</b>
          {other !== undefined && block.direction === 'to' && (
            <span data-ink={other.state}>
              {' '}
              <Glyph glyph={other.glyph} /> {other.word}
            </span>
          )}
          {!isOpen && <span className="quiet"> {cleanLine(toPlain(cutText(block.text, 200)))}</span>}
        </button>
        <span className="thread-card-links">
          <a href={toHash({ ...here, beside: `${row.sessionId}/${block.threadId}` })}>beside</a>
          <a href={toHash({ ...here, threadId: block.threadId })}>open</a>
        </span>
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
