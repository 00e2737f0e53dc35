import type { FleetKey } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatAgo, formatDay } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { ActionForm, textOf } from '../ui/admin/ActionForm.tsx';
import { ConfirmButton } from '../ui/admin/ConfirmButton.tsx';
import type { KeySecret } from './key-secret.ts';

interface KeyTableProps {
  readonly keys: readonly FleetKey[];
  /** The key that this browser is signed in with. */
  readonly ownId: string | null;
  readonly onRotated: (secret: KeySecret) => void;
  readonly onChanged: () => void;
}

const overlaps: readonly (readonly [ms: number, label: string])[] = [
  [86_400_000, 'for another day'],
  [7 * 86_400_000, 'for another week'],
  [3_600_000, 'for another hour'],
  [0, 'no longer'],
];

/** The keys with their limits and actions. */
export function KeyTable({ keys, ownId, onRotated, onChanged }: KeyTableProps) {
  const [rotatedId, setRotatedId] = useState<string | undefined>();
  const rotated = keys.find(({ id }) => id === rotatedId);
  const rotate = async (fields: FormData) => {
    const body = { overlap_ms: Number(textOf(fields, 'overlap') ?? 0) };
    const secret = await api.post<KeySecret>(`v1/fleet/keys/${rotatedId}/rotate`, body);
    setRotatedId(undefined);
    onRotated(secret);
  };
  return (
    <>
      {rotated !== undefined && (
        <ActionForm
          key={rotatedId}
          name={`Rotate ${cleanLine(rotated.name)}`}
          submit="Make a new secret"
          needs="admin"
          onSubmit={rotate}
          onCancel={() => setRotatedId(undefined)}
        >
          <label>
            The old secret works{' '}
            <select name="overlap">
              {overlaps.map(([ms, label]) => (
                <option key={ms} value={ms}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </ActionForm>
      )}
      <div className="scroll-x" tabIndex={0} role="group" aria-label="Keys of this workspace">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">May</th>
              <th scope="col">Directories</th>
              <th scope="col">Engines</th>
              <th scope="col">Expires</th>
              <th scope="col">Last use</th>
              <th scope="col">Created</th>
              <th scope="col">
                <span className="hidden-text">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td>
                  {cleanLine(key.name)} {key.id === ownId && <span className="tag">this browser</span>}
                  <br />
                  <code className="quiet">{key.id}</code>
                </td>
                <td>{describeScopes(key)}</td>
                <td className="key-values">{toLines(key.directories)}</td>
                <td className="key-values">{toLines(key.engines)}</td>
                <td>{key.expires_at === null ? 'never' : formatDay(Date.parse(key.expires_at))}</td>
                <td>{key.last_used_at === null ? 'not yet' : formatAgo(serverNow() - Date.parse(key.last_used_at))}</td>
                <td>
                  {formatDay(Date.parse(key.created_at))}
                  {key.overlap_until !== null && Date.parse(key.overlap_until) > serverNow() && (
                    <>
                      <br />
                      <span className="quiet">old secret until {formatDay(Date.parse(key.overlap_until))}</span>
                    </>
                  )}
                </td>
                <td className="row-actions-cell">
                  <span className="row-actions">
                    {key.kind === 'api' && (
                      <button
                        data-needs="admin"
                        type="button"
                        aria-label={`Rotate ${cleanLine(key.name)}`}
                        onClick={() => setRotatedId(key.id)}
                      >
                        Rotate …
                      </button>
                    )}
                    <ConfirmButton
                      label="Revoke …"
                      of={cleanLine(key.name)}
                      needs="admin"
                      question={key.id === ownId ? 'This browser is signed out.' : 'It works no longer.'}
                      confirm="Revoke it for good"
                      run={async () => {
                        await api.delete(`v1/fleet/keys/${key.id}`);
                        onChanged();
                      }}
                    />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function describeScopes({ kind, scopes }: FleetKey): string {
  if (kind === 'environment') return 'serve one environment';
  return scopes === null ? 'everything' : scopes.join(', ');
}

function toLines(values: readonly string[] | null): string {
  return values === null ? 'all' : values.map(cleanLine).join('\n');
}
