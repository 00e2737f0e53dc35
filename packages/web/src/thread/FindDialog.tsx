import { useEffect, useMemo, useState } from 'react';
import { Modal } from '../app/Modal.tsx';
import { fleet, ui } from '../app/stores.ts';
import { limits } from '../limits.ts';
import { parseQuery } from '../model/search-query.ts';
import { cleanLine } from '../text/clean-text.ts';
import { collectThreads, type WholeThread } from './collect-session.ts';
import { findInThreads } from './find-in-blocks.ts';

/** Looks through everything that all threads of a session have said and done, also what is not on the screen. */
export function FindDialog({ sessionId }: { sessionId: string }) {
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  const { threads, count } = useThreads(sessionId);
  const hits = useMemo(() => findInThreads(threads, parseQuery(text)), [threads, text]);
  const at = Math.min(index, Math.max(0, hits.length - 1));
  const open = (place: number) => {
    const hit = hits[place];
    if (hit === undefined) return;
    ui.go({ view: 'thread', sessionId, threadId: hit.row.threadId ?? undefined, eventId: hit.block.id });
  };
  const state =
    threads.length < count
      ? `reading ${threads.length} of ${count} threads`
      : hits.length === limits.hitsMax
        ? `the first ${limits.hitsMax}`
        : `${hits.length} found`;
  return (
    <Modal label="Find in this session" className="palette find">
      <input
        role="combobox"
        aria-label="Find in this session"
        aria-expanded="true"
        aria-controls="find-list"
        aria-activedescendant={hits.length === 0 ? undefined : `hit-${at}`}
        placeholder="Words, tool:bash, path:src, agent:tester, is:error"
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setIndex(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            const next = Math.max(0, Math.min(hits.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)));
            setIndex(next);
            document.querySelector(`#hit-${next}`)?.scrollIntoView({ block: 'nearest' });
          } else if (event.key === 'Enter') {
            event.preventDefault();
            open(at);
          }
        }}
      />
      <p className="quiet find-state" role="status">
        {text === '' ? `${count} threads, from their first word to their last` : state}
      </p>
      <ul id="find-list" role="listbox" aria-label="Found">
        {hits.map(({ row, block, excerpt }, place) => (
          <li
            key={`${row.key} ${block.id} ${place}`}
            id={`hit-${place}`}
            role="option"
            aria-selected={place === at}
            onClick={() => open(place)}
            onPointerMove={() => setIndex(place)}
          >
            <span className="quiet">
              {cleanLine(row.agent)}
              {row.ordinal > 0 && ` ${row.ordinal}`}
            </span>
            <span className="palette-name">{cleanLine(excerpt)}</span>
            <small className="quiet">{block.type}</small>
          </li>
        ))}
      </ul>
    </Modal>
  );
}

/** As they are read. What is said while one searches is found the next time. */
function useThreads(sessionId: string): { readonly threads: readonly WholeThread[]; readonly count: number } {
  const [threads, setThreads] = useState<readonly WholeThread[]>([]);
  const rows = useMemo(
    () => fleet.rows().filter((row) => row.sessionId === sessionId && row.threadId !== null),
    [sessionId],
  );
  useEffect(() => {
    let isGone = false;
    const place = new Map(rows.map((row, index) => [row, index]));
    const add = (thread: WholeThread) => {
      if (isGone) return;
      // In the order of the tree, whichever was read first.
      setThreads((known) => [...known, thread].toSorted((a, b) => place.get(a.row)! - place.get(b.row)!));
    };
    collectThreads(rows, add).catch((error: unknown) => ui.fail(error));
    return () => {
      isGone = true;
    };
  }, [rows]);
  return { threads, count: rows.length };
}
