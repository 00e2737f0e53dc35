import { useEffect, useMemo, useState } from 'react';
import { PickDialog } from '../app/PickDialog.tsx';
import { fleet, ui } from '../app/stores.ts';
import { limits } from '../limits.ts';
import { plural } from '../model/format.ts';
import { parseQuery } from '../model/search-query.ts';
import { threadName } from '../model/thread-name.ts';
import { cleanLine } from '../text/clean-text.ts';
import { collectThreads, type WholeThread } from './collect-session.ts';
import { findInThreads } from './find-in-blocks.ts';

/** Looks through everything that all threads of a session have said and done, also what is not on the screen. */
export function FindDialog({ sessionId }: { sessionId: string }) {
  const [text, setText] = useState('');
  const { threads, count } = useThreads(sessionId);
  const hits = useMemo(() => findInThreads(threads, parseQuery(text)), [threads, text]);
  const state =
    threads.length < count
      ? `reading ${threads.length} of ${count} threads`
      : hits.length === limits.hitsMax
        ? `the first ${limits.hitsMax}`
        : `${hits.length} found`;
  return (
    <PickDialog
      label="Find in this session"
      className="find"
      placeholder="Words, tool:bash, path:src, agent:tester, is:error, cost>0.5"
      text={text}
      onText={setText}
      state={text === '' ? `${plural(count, 'thread')}, from the first word to the last` : state}
      items={hits}
      keyOf={({ row, block }, place) => `${row.key} ${block.id} ${place}`}
      onPick={({ row, block }) =>
        ui.go({ view: 'thread', sessionId, threadId: row.threadId ?? undefined, eventId: block.id })
      }
      show={({ row, block, excerpt }) => (
        <>
          <span className="quiet">{threadName(row)}</span>
          <span className="palette-name">{cleanLine(excerpt)}</span>
          <small className="quiet">{block.type}</small>
        </>
      )}
    />
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
