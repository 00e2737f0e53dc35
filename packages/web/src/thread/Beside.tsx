import { fleet, ui } from '../app/stores.ts';
import type { Route } from '../app/ui-store.ts';
import type { ShownRow } from '../model/summary.ts';
import { threadName } from '../model/thread-name.ts';
import { cleanLine } from '../text/clean-text.ts';
import { Compare } from './Compare.tsx';
import type { ThreadEvents } from './thread-events.ts';
import { Transcript } from './Transcript.tsx';
import { useThreadEvents } from './use-thread-events.ts';

/** A second thread, of this session or another: to be read beside the first, or compared with it request by request. */
export function Beside({ route, row, events }: { route: Route; row: ShownRow; events: ThreadEvents | undefined }) {
  const rows = fleet.rows().filter(({ threadId }) => threadId !== null);
  const other = rows.find((one) => placeOf(one) === route.beside);
  const otherEvents = useThreadEvents(other);
  const isCompared = route.isCompared === true;
  return (
    <section className="thread-centre beside" aria-label="Beside it" data-compared={isCompared}>
      <header className="thread-head">
        <select
          aria-label="Thread beside it"
          value={route.beside}
          onChange={(event) => ui.go({ ...route, beside: event.target.value })}
        >
          {other === undefined && <option value={route.beside}>a thread that is not here</option>}
          {rows.map((one) => (
            <option key={placeOf(one)} value={placeOf(one)}>
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
            Compare <kbd>c</kbd>
          </button>
          <button type="button" onClick={() => ui.go({ ...route, beside: undefined, isCompared: false })}>
            Close <kbd>|</kbd>
          </button>
        </span>
      </header>
      {other === undefined ? (
        <p className="nothing quiet">Choose a thread.</p>
      ) : isCompared ? (
        <Compare sides={[row, other]} blocks={[events?.blocks ?? [], otherEvents?.blocks ?? []]} />
      ) : (
        <Transcript key={placeOf(other)} row={other} events={otherEvents} />
      )}
    </section>
  );
}

export function placeOf({ sessionId, threadId }: Pick<ShownRow, 'sessionId' | 'threadId'>): string {
  return `${sessionId}/${threadId}`;
}
