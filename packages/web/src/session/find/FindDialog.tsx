import { useEffect, useMemo, useState } from 'react';
import { PickDialog } from '../../ui/PickDialog.tsx';
import { fleet, ui } from '../../stores/stores.ts';
import { sessionLimits } from '../transcript/limits.ts';
import { plural } from '../../model/format.ts';
import { parseQuery } from '../../model/search-query.ts';
import { threadName } from '../../model/thread-name.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { collectThreads, type WholeThread } from '../transcript/collect-session.ts';
import { findInThreads } from './find-in-blocks.ts';

/** Searches the complete transcripts of all threads of a session. */
export function FindDialog({ sessionId }: { sessionId: string }) {
  const [text, setText] = useState('');
  const { threads, count } = useThreads(sessionId);
  const hits = useMemo(() => findInThreads(threads, parseQuery(text)), [threads, text]);
  const status =
    threads.length < count
      ? `loading ${threads.length} of ${count} threads`
      : hits.length === sessionLimits.hitsMax
        ? `first ${sessionLimits.hitsMax} hits`
        : plural(hits.length, 'hit');
  return (
    <PickDialog
      label="Find in this session"
      className="find"
      placeholder="Words, tool:bash, path:src, agent:tester, is:error, cost>0.5"
      text={text}
      onText={setText}
      status={text === '' ? `searches ${plural(count, 'thread')}` : status}
      items={hits}
      keyOf={({ row, block }, index) => `${row.key} ${block.id} ${index}`}
      onPick={({ row, block }) =>
        ui.go({ view: 'session', sessionId, threadId: row.threadId ?? undefined, eventId: block.id })
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

/** The transcripts, as they load. Events that arrive while the dialog is open are not included. */
function useThreads(sessionId: string): { readonly threads: readonly WholeThread[]; readonly count: number } {
  const [threads, setThreads] = useState<readonly WholeThread[]>([]);
  const rows = useMemo(
    () => fleet.rows().filter((row) => row.sessionId === sessionId && row.threadId !== null),
    [sessionId],
  );
  useEffect(() => {
    let isClosed = false;
    const order = new Map(rows.map((row, index) => [row, index]));
    const add = (thread: WholeThread) => {
      if (isClosed) return;
      // In the order of the tree, not in the order of loading.
      setThreads((known) => [...known, thread].toSorted((a, b) => order.get(a.row)! - order.get(b.row)!));
    };
    ui.attempt(collectThreads(rows, add));
    return () => {
      isClosed = true;
    };
  }, [rows]);
  return { threads, count: rows.length };
}
