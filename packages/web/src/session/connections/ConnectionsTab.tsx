import './connections.css';
import { cleanLine, formatBytes } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatClock, formatNumber } from '../../model/format.ts';
import { api } from '../../stores/connection/api.ts';
import { describeProblem } from '../../ui/admin/AdminPage.tsx';
import { useLoaded } from '../../ui/use-loaded.ts';
import { describeOutcome, type EgressConnection, sumHosts, toRows } from './connection-rows.ts';

interface Found {
  readonly entries: readonly EgressConnection[];
  /** Whether older entries exist that were not read. */
  readonly isCut: boolean;
}

/** The hosts to which the commands of a session were connected, and the hosts that were refused. */
export function ConnectionsTab({ sessionId }: { sessionId: string }) {
  const [reads, setReads] = useState(0);
  const { value, problem, isLoading } = useLoaded(sessionId, String(reads), () => readConnections(sessionId));
  const rows = toRows(value?.entries ?? []);
  return (
    <section className="connections" aria-label="Connections" aria-busy={isLoading}>
      <header>
        <p className="quiet">
          Hosts that the commands of this session were connected to, or refused; the newest first.
        </p>
        <button type="button" disabled={isLoading} onClick={() => setReads(reads + 1)}>
          {isLoading ? 'Loading …' : 'Reload'}
        </button>
      </header>
      {problem !== undefined && (
        <p className="fault" role="alert">
          {describeProblem(problem)}
        </p>
      )}
      {value !== undefined && rows.length === 0 && <p className="no-rows">The commands have made no connections.</p>}
      {rows.length > 0 && <Hosts rows={rows} />}
      {rows.length > 0 && <Rows rows={rows} />}
      {value?.isCut === true && <p className="quiet">Older ones are listed by `fleetloom egress`.</p>}
    </section>
  );
}

function Hosts({ rows }: { rows: readonly EgressConnection[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label="Hosts">
      <table>
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col">Allowed</th>
            <th scope="col">Refused</th>
            <th scope="col">Sent</th>
            <th scope="col">Received</th>
          </tr>
        </thead>
        <tbody>
          {sumHosts(rows).map(({ host, allowed, refused, bytesSent, bytesReceived }) => (
            <tr key={host}>
              <td>{cleanLine(host)}</td>
              <td>{formatNumber(allowed)}</td>
              <td data-refused={refused > 0}>{refused > 0 ? `✗ ${formatNumber(refused)}` : '0'}</td>
              <td>{formatBytes(bytesSent)}</td>
              <td>{formatBytes(bytesReceived)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Rows({ rows }: { rows: readonly EgressConnection[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label="All connections">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Host</th>
            <th scope="col">What became of it</th>
            <th scope="col">Sent</th>
            <th scope="col">Received</th>
            <th scope="col">Credentials</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.id} ${row.outcome} ${row.created_at}`}>
              <td>
                <time dateTime={row.created_at}>{formatClock(Date.parse(row.created_at))}</time>
              </td>
              <td>{row.host === null ? '–' : cleanLine(`${row.host}:${row.port ?? ''}`)}</td>
              <td data-refused={row.outcome === 'refused'}>{cleanLine(describeOutcome(row))}</td>
              <td>{row.bytes_sent === null ? '' : formatBytes(row.bytes_sent)}</td>
              <td>{row.bytes_received === null ? '' : formatBytes(row.bytes_received)}</td>
              <td>{describeCredentials(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function describeCredentials({ credentials }: EgressConnection): string {
  const used = Object.entries(credentials).map(([id, uses]) => `${id} ×${uses}`);
  return cleanLine(used.join(', '));
}

/** Reads the newest connections, at most ENTRIES_MAX. */
async function readConnections(sessionId: string): Promise<Found> {
  const entries: EgressConnection[] = [];
  for await (const entry of api.list<EgressConnection>(`v1/sessions/${sessionId}/egress?limit=1000`)) {
    entries.push(entry);
    if (entries.length === ENTRIES_MAX) return { entries, isCut: true };
  }
  return { entries, isCut: false };
}

const ENTRIES_MAX = 2_000;
