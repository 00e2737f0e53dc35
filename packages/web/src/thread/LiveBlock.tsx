import { cutTextStart } from '@fleetloom/protocol/fleet';
import { fleet } from '../app/stores.ts';
import type { ShownRow } from '../model/summary.ts';
import { states } from '../model/states.ts';
import { cleanText } from '../text/clean-text.ts';
import { StreamingText } from '../text/StreamingText.tsx';
import type { Block } from './transcript.ts';

/** What is being said or thought and is in no list yet. */
export interface Live {
  readonly kind: 'thinking' | 'text';
  readonly text: string;
}

/** Both the stream and the list number the requests of a thread, so it is known whether the list has this one already. */
export function liveText({ slot, session, key }: ShownRow, blocks: readonly Block[]): Live | undefined {
  const track = session.tracks.get(key);
  const isOpen = slot.state === 'running' && (slot.phase === 'writing' || slot.phase === 'thinking');
  if (track === undefined || !isOpen) return undefined;
  const now = fleet.now();
  const current = track.requestTimes.filter((time) => time <= now).length - 1;
  const start = blocks.findLastIndex((block) => block.type === 'request');
  const request = blocks[start];
  const isListed = request?.type === 'request' && request.number === current;
  const listed = isListed ? blocks.slice(start) : [];
  if (slot.phase === 'thinking') {
    const text = track.thoughts.get(current) ?? '';
    return fleet.replay.isOn || listed.some(({ type }) => type === 'thinking') ? undefined : { kind: 'thinking', text };
  }
  if (listed.some(({ type }) => type === 'text')) return undefined;
  const { tail, length, settled } = slot.text;
  return { kind: 'text', text: tail.slice(Math.max(0, tail.length - (length - settled.length))) };
}

export function LiveBlock({ live }: { live: Live }) {
  const { glyph } = states[live.kind === 'thinking' ? 'thinking' : 'writing'];
  return (
    <div className="block live" data-block={live.kind}>
      <span className="block-glyph" data-ink={live.kind === 'thinking' ? 'thinking' : 'writing'} aria-hidden="true">
        {glyph}
      </span>
      {live.kind === 'text' ? (
        <StreamingText text={live.text} />
      ) : (
        <p className="thoughts">{cleanText(cutTextStart(live.text, 2_000)) || 'thinking …'}</p>
      )}
    </div>
  );
}
