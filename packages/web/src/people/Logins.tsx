import type { FleetLogin, FleetSettings } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatDay } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { describeBrowser } from '../stores/notices/push.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { toPersonName } from '../model/person-name.ts';
import { describeProblem } from '../ui/admin/AdminPage.tsx';
import { useLoaded } from '../ui/use-loaded.ts';

/** The browsers that are signed in to the workspace, for an admin. */
export function Logins() {
  const [reads, setReads] = useState(0);
  const { value, problem } = useLoaded('logins', String(reads), readLogins);
  const revoke = async (id: string) => {
    await api.delete(`v1/fleet/logins/${encodeURIComponent(id)}`);
    setReads(reads + 1);
  };
  if (problem !== undefined) {
    return (
      <p className="fault" role="alert">
        {describeProblem(problem)}
      </p>
    );
  }
  if (value === undefined) return <p className="quiet">Loading …</p>;
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label="Signed-in browsers">
      <table>
        <thead>
          <tr>
            <th scope="col">Since</th>
            <th scope="col">Who</th>
            <th scope="col">Role</th>
            <th scope="col">From</th>
            <th scope="col">Browser</th>
            <th scope="col">
              <span className="hidden-text">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {value.logins.map((login) => (
            <tr key={login.id}>
              <td>{formatDay(Date.parse(login.created_at))}</td>
              <td>
                {cleanLine(toPersonName(login.person) ?? value.keyNames.get(login.key_id ?? '') ?? login.key_id ?? '–')}
              </td>
              <td>{login.role ?? 'as its key'}</td>
              <td>{cleanLine(login.address ?? '–')}</td>
              <td title={cleanLine(login.user_agent ?? '')}>
                {login.user_agent === null ? '–' : describeBrowser(login.user_agent)}
              </td>
              <td>
                {login.is_current ? (
                  <span className="tag">this browser</span>
                ) : (
                  <button data-needs="admin" type="button" onClick={() => inBackground(revoke(login.id))}>
                    Sign out
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

async function readLogins() {
  const [{ data: logins }, { keys }] = await Promise.all([
    api.get<{ readonly data: readonly FleetLogin[] }>('v1/fleet/logins'),
    api.get<FleetSettings>('v1/fleet/settings'),
  ]);
  return { logins, keyNames: new Map(keys.map(({ id, name }) => [id, name])) };
}
