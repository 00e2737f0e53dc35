import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatClock, formatDay } from '../model/format.ts';
import { LongText } from '../ui/text/LongText.tsx';
import { toActor } from './filter-entries.ts';

/** One entry on one line, which expands to all its fields. */
export function EntryRow({ entry }: { entry: FleetAuditEntry }) {
  const [isOpen, setOpen] = useState(false);
  const { seq, recorded_at: recordedAt, entry: done, hash } = entry;
  const at = Date.parse(recordedAt);
  return (
    <>
      <tr>
        <td>
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`Entry ${seq}: ${isOpen ? 'hide' : 'show'} all of it`}
            onClick={() => setOpen(!isOpen)}
          >
            {seq} {isOpen ? '▾' : '▸'}
          </button>
        </td>
        <td>
          <time dateTime={recordedAt}>
            {formatDay(at)} {formatClock(at)}
          </time>
        </td>
        <td className="audit-text">{cleanLine(toActor(entry))}</td>
        <td>{cleanLine(done.action)}</td>
        <td className="audit-text">
          <code>{cleanLine(done.target ?? '–')}</code>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5} className="audit-detail">
            <div>
              <LongText text={JSON.stringify(done, null, 2)} />
              <p className="quiet">
                Hash <code>{hash}</code>
              </p>
            </div>
          </td>
        </tr>
      )}
    </>
  );
}
