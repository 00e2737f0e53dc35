import { useEffect, useState } from 'react';
import { readLog } from '../connection/read-log.ts';
import { formatSpan } from '../model/format.ts';
import type { ShownRow } from '../model/summary.ts';
import { cleanText } from '../text/clean-text.ts';
import { collectDeltas, type Delta } from './collect-deltas.ts';
import type { Block } from './transcript.ts';

/** How a request streamed: each piece with its time and its place in the log. Read from the log when it is looked at. */
export function Deltas({ row, block, blocks }: { row: ShownRow; block: Block | undefined; blocks: readonly Block[] }) {
  const index = block === undefined ? -1 : blocks.indexOf(block);
  const request = blocks.slice(0, index + 1).findLast((one) => one.type === 'request');
  const number = request?.type === 'request' ? request.number : undefined;
  const [deltas, setDeltas] = useState<readonly Delta[] | undefined>();
  useEffect(() => {
    setDeltas(undefined);
    if (number === undefined || row.threadId === null) return;
    const ended = new AbortController();
    void collectDeltas(readLog(row.sessionId, ended.signal), row.threadId, number).then(setDeltas, () => setDeltas([]));
    return () => ended.abort();
  }, [row.sessionId, row.threadId, number]);
  if (number === undefined) return <p className="quiet">Choose a block of a model request.</p>;
  if (deltas === undefined) return <p className="quiet">Reading …</p>;
  const start = deltas[0]?.at ?? 0;
  return (
    <table className="usage deltas">
      <thead>
        <tr>
          <th scope="col">after</th>
          <th scope="col">seq</th>
          <th scope="col">what</th>
        </tr>
      </thead>
      <tbody>
        {deltas.map(({ at, seq, type, text }, place) => (
          <tr key={place}>
            <td>{formatSpan(at - start)}</td>
            <td>{seq}</td>
            <td className="delta-text">
              <b className="quiet">{type}</b> {cleanText(text)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
