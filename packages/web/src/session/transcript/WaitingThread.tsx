import { fleet } from '../../stores/stores.ts';
import type { ShownRow } from '../../model/summary.ts';
import { formatSpan } from '../../model/format.ts';
import { cleanText } from '@fleetloom/protocol/text';
import { toolNames } from './tool-names.ts';

/** A thread without blocks: its task, its tools, and how long it has waited for the first token. */
export function WaitingThread({ row, isRead, problem }: { row: ShownRow; isRead: boolean; problem: string }) {
  const { slot } = row;
  const tools = toolNames(row.session.record, row.agent);
  const waited = fleet.now() - (slot.startedAt ?? fleet.now());
  return (
    <div className="nothing">
      <h1>
        {problem !== ''
          ? 'The thread cannot be loaded'
          : isRead
            ? `Waiting for the first token — ${formatSpan(Math.max(0, waited))}`
            : 'Loading …'}
      </h1>
      {problem !== '' && <p className="fault">{problem}</p>}
      {slot.task !== null && <blockquote>{cleanText(slot.task)}</blockquote>}
      <p className="quiet">{slot.model}</p>
      <p className="quiet">{tools.length === 0 ? 'no tools' : `tools: ${tools.join(', ')}`}</p>
    </div>
  );
}
