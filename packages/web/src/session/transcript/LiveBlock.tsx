import { cutTextStart, states } from '@fleetloom/protocol/fleet';
import { fleet } from '../../stores/stores.ts';
import type { ShownRow } from '../../model/summary.ts';
import { cleanText } from '@fleetloom/protocol/text';
import { StreamingText } from '../../ui/text/StreamingText.tsx';
import type { Block } from './blocks.ts';

/** Text, thinking or output of a call that is being streamed and is not in the list of events yet. */
export interface Live {
  readonly kind: 'thinking' | 'text' | 'output';
  readonly text: string;
}

/** The streamed text that the list of events lacks. Stream and list number a thread's model requests alike, so a listed request is recognised. */
export function liveText({ slot, session, key }: ShownRow, blocks: readonly Block[]): Live | undefined {
  const output = slot.tools.findLast(({ state }) => state === 'running')?.output ?? '';
  if (slot.state === 'running' && slot.phase === 'tool' && output !== '') return { kind: 'output', text: output };
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

const liveStates = { thinking: 'thinking', text: 'writing', output: 'tool' } as const;

/** The block at the end of a transcript while a model or a command writes. */
export function LiveBlock({ live }: { live: Live }) {
  const state = liveStates[live.kind];
  return (
    <div className="block live" data-block={live.kind}>
      <span className="block-glyph" data-ink={state} aria-hidden="true">
        {states[state].glyph}
      </span>
      {live.kind === 'text' && <StreamingText text={live.text} />}
      {live.kind === 'thinking' && (
        <p className="thoughts">{cleanText(cutTextStart(live.text, 2_000)) || 'thinking …'}</p>
      )}
      {live.kind === 'output' && <pre className="live-output">{cleanText(live.text)}</pre>}
    </div>
  );
}
