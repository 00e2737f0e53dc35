import { cutText } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { Glyph } from '../../ui/Glyph.tsx';
import { useSignal } from '../../stores/signal.ts';
import { fleet } from '../../stores/stores.ts';
import { toHash } from '../../stores/ui-store.ts';
import type { ShownRow } from '../../model/summary.ts';
import { threadName } from '../../model/thread-name.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { LongText } from '../../ui/text/LongText.tsx';
import { Markdown } from '../../ui/text/Markdown.tsx';
import { toPlain } from '../../ui/text/to-plain.ts';
import type { Block } from './blocks.ts';

/** A message to or from another thread. The card expands in place; links open the thread, or show it beside this one. */
export function ThreadCard({ block, row }: { block: Extract<Block, { type: 'thread' }>; row: ShownRow }) {
  // Subscribed, because blocks are memoized but the state of the other thread changes.
  useSignal(fleet.changed);
  const [isOpen, setOpen] = useState(false);
  const here = { view: 'session', sessionId: row.sessionId, threadId: row.threadId ?? undefined } as const;
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
