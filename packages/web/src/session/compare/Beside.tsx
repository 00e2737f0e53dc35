import { fleet, ui } from '../../stores/stores.ts';
import { type Route, toBeside } from '../../stores/ui-store.ts';
import type { ShownRow } from '../../model/summary.ts';
import { threadName } from '../../model/thread-name.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { Compare } from './Compare.tsx';
import type { ThreadEvents } from '../transcript/thread-events.ts';
import { Transcript } from '../transcript/Transcript.tsx';
import { useThreadEvents } from '../transcript/use-thread-events.ts';

/** A second thread, of any session, shown beside the first thread or compared with it request by request. */
export function Beside({ route, row, events }: { route: Route; row: ShownRow; events: ThreadEvents | undefined }) {
  const rows = fleet.rows().filter(({ threadId }) => threadId !== null);
  const other = rows.find((one) => toBeside(one) === route.beside);
  const otherEvents = useThreadEvents(other);
  const isCompared = route.isCompared === true;
  return (
    <section className="thread-centre beside" aria-label="Second thread" data-compared={isCompared}>
      <header className="thread-head">
        <select
          aria-label="Thread to show"
          value={route.beside}
          onChange={(event) => ui.go({ ...route, beside: event.target.value })}
        >
          {other === undefined && <option value={route.beside}>unknown thread</option>}
          {rows.map((one) => (
            <option key={toBeside(one)} value={toBeside(one)}>
              {`${'  '.repeat(one.level)}${threadName(one)}${one.sessionId === row.sessionId ? '' : ` — ${cleanLine(one.session.record?.title ?? one.sessionId)}`}`}
            </option>
          ))}
        </select>
        <span className="thread-actions">
          <button
            type="button"
            aria-pressed={isCompared}
            onClick={() => ui.go({ ...route, isCompared: !isCompared, eventId: undefined })}
          >
            Compare <kbd>C</kbd>
          </button>
          <button type="button" onClick={() => ui.go({ ...route, beside: undefined, isCompared: false })}>
            Close <kbd>|</kbd>
          </button>
        </span>
      </header>
      {other === undefined ? (
        <p className="nothing quiet">Select a thread.</p>
      ) : isCompared ? (
        <Compare sides={[row, other]} blocks={[events?.blocks ?? [], otherEvents?.blocks ?? []]} />
      ) : (
        <Transcript key={toBeside(other)} row={other} events={otherEvents} />
      )}
    </section>
  );
}
