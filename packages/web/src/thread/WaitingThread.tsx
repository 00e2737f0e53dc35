import { fleet } from '../app/stores.ts';
import type { ShownRow } from '../model/summary.ts';
import { formatSpan } from '../model/format.ts';
import { cleanText } from '../text/clean-text.ts';
import { toolNames } from './tool-names.ts';

/** Before the first word: what it was asked, and how long it takes. */
export function WaitingThread({ row, isRead, problem }: { row: ShownRow; isRead: boolean; problem: string }) {
  const { slot } = row;
  const tools = toolNames(row.session.record, row.agent);
  const waited = fleet.now() - (slot.startedAt ?? fleet.now());
  return (
    <div className="nothing">
      <h1>
        {problem !== ''
          ? 'It cannot be read'
          : isRead
            ? `Waiting for the first token — ${formatSpan(Math.max(0, waited))}`
            : 'Reading …'}
      </h1>
      {problem !== '' && <p className="fault">{problem}</p>}
      {slot.task !== null && <blockquote>{cleanText(slot.task)}</blockquote>}
      <p className="quiet">{slot.model}</p>
      <p className="quiet">{tools.length === 0 ? 'no tools' : `tools: ${tools.join(', ')}`}</p>
    </div>
  );
}
