import type { FleetRole } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { ActionForm, textOf } from '../ui/admin/ActionForm.tsx';
import { NewSecret } from '../ui/admin/NewSecret.tsx';

const roles: readonly (readonly [FleetRole, string])[] = [
  ['viewer', 'viewer: sees everything, changes nothing'],
  ['approver', 'approver: also decides tool calls'],
  ['operator', 'operator: also runs sessions and manages agents and vaults'],
  ['admin', 'admin: everything'],
];

/** Creates a link that signs one browser in, once, with a role. */
export function RoleLink() {
  const [link, setLink] = useState<string | undefined>();
  const create = async (fields: FormData) => {
    const { path } = await api.post<{ path: string }>('v1/login_links', { role: textOf(fields, 'role') });
    setLink(new URL(path, location.origin).href);
  };
  return (
    <>
      {link !== undefined && (
        <NewSecret label="New login link" secret={link} onDone={() => setLink(undefined)}>
          It signs one browser in, once, within minutes. Send it only to the person that it is for.
        </NewSecret>
      )}
      <ActionForm name="New login link" submit="Create a login link" needs="admin" onSubmit={create}>
        <label>
          Role{' '}
          <select name="role">
            {roles.map(([role, label]) => (
              <option key={role} value={role}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </ActionForm>
    </>
  );
}
