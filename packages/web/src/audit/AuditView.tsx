import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { formatNumber } from '../model/format.ts';
import { ui } from '../stores/stores.ts';
import { useAction } from '../ui/admin/use-action.ts';
import { AdminPage } from '../ui/admin/AdminPage.tsx';
import { useLoaded } from '../ui/use-loaded.ts';
import { AuditFilters } from './AuditFilters.tsx';
import { AuditTools } from './AuditTools.tsx';
import { EntryRow } from './EntryRow.tsx';
import { type AuditFilter, readFilter, toSearch } from './filter-entries.ts';
import { findEntries, type FoundEntries } from './read-audit.ts';

/** The audit log of the workspace, the newest entry first. */
export function AuditView({ search }: { search: string }) {
  const [reads, setReads] = useState(0);
  const filter = readFilter(search);
  const subject = toSearch(filter);
  const loaded = useLoaded(`audit ${subject}`, String(reads), (signal) => findEntries(filter, undefined, signal), 200);
  return (
    <AdminPage
      name="Audit"
      about="What people and programs did to this workspace. Entries are only appended, and each has the hash of the one before it."
      loaded={loaded}
      reload={() => setReads(reads + 1)}
      actions={<AuditTools />}
    >
      {(found) => (
        <>
          <AuditFilters filter={filter} onChange={(next) => ui.replace({ view: 'audit', search: toSearch(next) })} />
          <Entries key={`${subject} ${reads}`} found={found} filter={filter} />
        </>
      )}
    </AdminPage>
  );
}

function Entries({ found, filter }: { found: FoundEntries; filter: AuditFilter }) {
  const [older, setOlder] = useState<FoundEntries | undefined>();
  const { isBusy, problem, run } = useAction();
  const entries: readonly FleetAuditEntry[] = [...found.entries, ...(older?.entries ?? [])];
  const { before } = older ?? found;
  const looked = found.looked + (older?.looked ?? 0);
  const more = async () => {
    const next = await findEntries(filter, before);
    setOlder({
      ...next,
      entries: [...(older?.entries ?? []), ...next.entries],
      looked: (older?.looked ?? 0) + next.looked,
    });
  };
  return (
    <>
      <div className="scroll-x" tabIndex={0} role="group" aria-label="Entries">
        <table className="audit-table">
          <thead>
            <tr>
              <th scope="col">Entry</th>
              <th scope="col">Time</th>
              <th scope="col">Who</th>
              <th scope="col">Action</th>
              <th scope="col">What</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <EntryRow key={entry.seq} entry={entry} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet" role="status">
        {toFound(entries.length, looked, before === undefined)}
      </p>
      {before !== undefined && (
        <button type="button" disabled={isBusy} onClick={() => run(more)}>
          {isBusy ? 'Looking …' : 'Older entries'}
        </button>
      )}
      {problem !== '' && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** A text with the number of shown entries and of entries that were searched. */
function toFound(count: number, looked: number, isAll: boolean): string {
  const of = `${isAll ? '' : 'newest '}${formatNumber(looked)} ${looked === 1 ? 'entry' : 'entries'}`;
  if (count === 0) return `No entry matches, of the ${of}.`;
  return count === looked && isAll ? `All ${of} of the log.` : `${formatNumber(count)} of the ${of}.`;
}
