import { type FormEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { VList, type VListHandle } from 'virtua';
import { useDraft } from '../../stores/drafts.ts';
import { isSteerable, sendMessage, toDraftName } from '../../stores/send-message.ts';
import { fleet, ui } from '../../stores/stores.ts';
import { plural } from '../../model/format.ts';
import type { ShownRow } from '../../model/summary.ts';
import { threadName } from '../../model/thread-name.ts';
import { addChanges, type ChangedLine } from './add-changes.ts';
import { BlockView } from './BlockView.tsx';
import { ChangedFiles } from './ChangedFiles.tsx';
import { type Live, LiveBlock, liveText } from './LiveBlock.tsx';
import type { ThreadEvents } from './thread-events.ts';
import { threadPage } from './thread-page.ts';
import type { Block } from './blocks.ts';
import { WaitingThread } from './WaitingThread.tsx';

const NEAR_END = 60;
const UP_PIXELS = 8;
const FOLLOW_FRAMES = 3;
/** A scroll this long after a wheel, touch or key event counts as the user's. */
const INPUT_MS = 1_500;

type Item = Block | ChangedLine | { readonly type: 'live'; readonly live: Live };

/** The blocks of a thread; only visible ones are rendered. At its end the list follows new blocks; elsewhere it stays and counts them. */
export function Transcript({ row, events }: { row: ShownRow; events: ThreadEvents | undefined }) {
  const list = useRef<VListHandle>(null);
  const isAtEnd = useRef(true);
  const lastTop = useRef(0);
  const lastInput = useRef(0);
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(0);
  const until = fleet.replay.isOn ? fleet.now() : Infinity;
  const blocks = blocksUntil(events?.blocks ?? [], until);
  const steps = row.session.workspace.steps.filter(({ threadId, at }) => threadId === row.threadId && at <= until);
  const lines = addChanges(blocks, steps);
  const live = liveText(row, blocks);
  // VList renders only visible items: there may be 100,000.
  const items: readonly Item[] = live === undefined ? lines : [...lines, { type: 'live', live }];
  const count = items.length;

  /** Updates whether the list is at its end. Only scrolling up by the user leaves the end; growing or newly measured content does not. */
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
  /** Scrolls to the end for a few frames, because measuring moves it; stops when the user scrolls up. */
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
  // Runs after every render, because measuring may have moved the end.
  useLayoutEffect(() => follow());
  useEffect(() => {
    const index = lines.findIndex(({ id }) => id === threadPage.selectedId);
    if (index === -1) return;
    // Selecting an earlier block leaves the end.
    isAtEnd.current &&= index >= lines.length - 1;
    list.current?.scrollToIndex(index, { align: 'nearest' });
    // Scrolls only when the selection changes.
  }, [threadPage.selectedId]);
  // A reference to the latest closure, which has the current count.
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
          ) : item.type === 'changed' ? (
            <ChangedFiles key={item.id} step={item.step} row={row} />
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

/** The blocks up to a time. A call whose result is later has no result yet. */
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
  const target = { ...row, threadId: row.level === 0 ? null : row.threadId };
  const draft = useDraft(toDraftName(target));
  const { text } = draft;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const message = text.trim();
    if (message === '') return;
    try {
      await sendMessage(target, message);
      draft.clear();
    } catch (error) {
      ui.notifyError(error);
    }
  };
  const isDirect = row.level === 0 || isSteerable(row);
  const label = `Message ${threadName(row)}${isDirect ? '' : ', through its coordinator'}`;
  return (
    <form data-needs="run" className="composer" onSubmit={(event) => void send(event)}>
      <input
        aria-label={label}
        placeholder={`${label} …`}
        value={text}
        disabled={fleet.replay.isOn}
        onChange={(event) => draft.set(event.target.value)}
      />
      <button type="submit" disabled={text.trim() === '' || fleet.replay.isOn}>
        Send
      </button>
    </form>
  );
}
