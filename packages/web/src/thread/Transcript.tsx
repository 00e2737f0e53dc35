import { type FormEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { VList, type VListHandle } from 'virtua';
import { isSteerable, sayTo } from '../app/say-to.ts';
import { fleet, ui } from '../app/stores.ts';
import { plural } from '../model/format.ts';
import type { ShownRow } from '../model/summary.ts';
import { threadName } from '../model/thread-name.ts';
import { BlockView } from './BlockView.tsx';
import { type Live, LiveBlock, liveText } from './LiveBlock.tsx';
import type { ThreadEvents } from './thread-events.ts';
import { threadPage } from './thread-page.ts';
import type { Block } from './transcript.ts';
import { WaitingThread } from './WaitingThread.tsx';

const NEAR_END = 60;
const UP_PIXELS = 8;
const FOLLOW_FRAMES = 3;
/** How long after a wheel, a touch or a key a movement is somebody's. */
const INPUT_MS = 1_500;

type Item = Block | { readonly type: 'live'; readonly live: Live };

/** The blocks of a thread, only those in sight in the page. At the end it follows; elsewhere it stays and says what is new. */
export function Transcript({ row, events }: { row: ShownRow; events: ThreadEvents | undefined }) {
  const list = useRef<VListHandle>(null);
  const isAtEnd = useRef(true);
  const lastTop = useRef(0);
  const lastInput = useRef(0);
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(0);
  const blocks = blocksUntil(events?.blocks ?? [], fleet.replay.isOn ? fleet.now() : Infinity);
  const live = liveText(row, blocks);
  // Only those in sight become elements: there may be a hundred thousand.
  const items: readonly Item[] = live === undefined ? blocks : [...blocks, { type: 'live', live }];
  const count = items.length;

  /** Notes where the list is. Only somebody who goes up leaves the end; what grows, or is measured anew, does not. */
  const look = () => {
    const scroller = frame.current?.querySelector('.transcript-list');
    if (scroller == null) return undefined;
    const { scrollTop, clientHeight, scrollHeight } = scroller;
    const isNear = scrollTop + clientHeight >= scrollHeight - NEAR_END;
    const isUp = scrollTop < lastTop.current - UP_PIXELS && performance.now() - lastInput.current < INPUT_MS;
    lastTop.current = scrollTop;
    if (isAtEnd.current && isUp && !isNear) {
      isAtEnd.current = false;
      setSeen(count);
    } else if (isNear && !isAtEnd.current) {
      isAtEnd.current = true;
      setSeen(Infinity);
    }
    return scroller;
  };
  /** As sizes are measured the end moves, so a few frames long; who scrolls up meanwhile is left alone. */
  const follow = (frames = FOLLOW_FRAMES) => {
    const scroller = look();
    if (scroller === undefined || !isAtEnd.current) return;
    scroller.scrollTop = scroller.scrollHeight;
    lastTop.current = scroller.scrollTop;
    if (frames > 0) requestAnimationFrame(() => follow(frames - 1));
  };
  const toEnd = () => {
    isAtEnd.current = true;
    setSeen(Infinity);
    follow();
  };
  // Each time that it is drawn: what was measured meanwhile has moved the end too.
  useLayoutEffect(() => follow());
  useEffect(() => {
    const index = blocks.findIndex(({ id }) => id === threadPage.selectedId);
    if (index === -1) return;
    // Who chooses an earlier block reads there.
    isAtEnd.current &&= index >= blocks.length - 1;
    list.current?.scrollToIndex(index, { align: 'nearest' });
    // Only when another one is chosen.
  }, [threadPage.selectedId]);
  // The newest one: it knows how much there is by then.
  const latest = useRef(toEnd);
  latest.current = toEnd;
  useEffect(() => threadPage.follows.subscribe(() => latest.current()), []);
  const noteInput = () => {
    lastInput.current = performance.now();
  };
  const fresh = isAtEnd.current ? 0 : Math.max(0, count - seen);
  if (count === 0) return <WaitingThread row={row} isRead={events?.isRead === true} problem={events?.problem ?? ''} />;
  return (
    <div
      ref={frame}
      className="transcript"
      onWheel={noteInput}
      onPointerDown={noteInput}
      onTouchMove={noteInput}
      onKeyDown={noteInput}
    >
      <VList
        ref={list}
        data={items}
        className="transcript-list"
        onScroll={look}
        tabIndex={0}
        role="log"
        aria-label="Transcript"
        aria-live="off"
      >
        {(item) =>
          item.type === 'live' ? (
            <LiveBlock key="live" live={item.live} />
          ) : (
            <BlockView key={item.id} block={item} row={row} isSelected={item.id === threadPage.selectedId} />
          )
        }
      </VList>
      {fresh > 0 && (
        <button type="button" className="fresh" onClick={toEnd}>
          ▼ {plural(fresh, 'new block')}
        </button>
      )}
      <Composer row={row} />
    </div>
  );
}

/** What had happened by then. A call whose result came later has none yet. */
function blocksUntil(blocks: readonly Block[], time: number): readonly Block[] {
  if (time === Infinity) return blocks;
  return blocks
    .filter(({ at }) => at <= time)
    .map((block) => {
      if (block.type === 'call' && block.result !== null && block.at + block.result.ms > time)
        return { ...block, result: null };
      if (block.type === 'request' && block.ms !== null && block.at + block.ms > time)
        return { ...block, ms: null, tokens: null };
      return block;
    });
}

function Composer({ row }: { row: ShownRow }) {
  const [text, setText] = useState('');
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const said = text.trim();
    if (said === '') return;
    try {
      await sayTo({ ...row, threadId: row.level === 0 ? null : row.threadId }, said);
      setText('');
    } catch (error) {
      ui.fail(error);
    }
  };
  const isDirect = row.level === 0 || isSteerable(row);
  const whom = `Message ${threadName(row)}${isDirect ? '' : ', through its coordinator'}`;
  return (
    <form className="composer" onSubmit={(event) => void send(event)}>
      <input
        aria-label={whom}
        placeholder={`${whom} …`}
        value={text}
        disabled={fleet.replay.isOn}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={text.trim() === '' || fleet.replay.isOn}>
        Send
      </button>
    </form>
  );
}
