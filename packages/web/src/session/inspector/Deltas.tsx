import { useEffect, useState } from 'react';
import { readLog } from '../../stores/connection/read-log.ts';
import { formatSpan } from '../../model/format.ts';
import type { ShownRow } from '../../model/summary.ts';
import { cleanText } from '@fleetloom/protocol/text';
import { collectDeltas, type Delta } from './collect-deltas.ts';
import type { Block } from '../transcript/blocks.ts';

/** The streamed events of a model request, each with its time and `seq`, loaded from the log when the tab is opened. */
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
  if (number === undefined) return <p className="quiet">Select a block of a model request.</p>;
  if (deltas === undefined) return <p className="quiet">Loading …</p>;
  const start = deltas[0]?.at ?? 0;
  return (
    <table className="usage deltas">
      <thead>
        <tr>
          <th scope="col">after</th>
          <th scope="col">seq</th>
          <th scope="col">event</th>
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
