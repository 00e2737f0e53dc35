import type { FleetSettings } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { AdminPage } from '../ui/admin/AdminPage.tsx';
import { NewSecret } from '../ui/admin/NewSecret.tsx';
import { useLoaded } from '../ui/use-loaded.ts';
import type { KeySecret } from './key-secret.ts';
import { KeyTable } from './KeyTable.tsx';
import { NewKey } from './NewKey.tsx';

/** The keys of the workspace. An admin can also create, rotate and revoke keys. */
export function KeysView() {
  const [reads, setReads] = useState(0);
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<KeySecret | undefined>();
  const loaded = useLoaded('keys', String(reads), () => api.get<FleetSettings>('v1/fleet/settings'));
  const reload = () => setReads(reads + 1);
  const show = (secret: KeySecret) => {
    setMade(secret);
    setNew(false);
    reload();
  };
  const workspace = loaded.value?.workspace_id.replace(/^wrkspc_/, '');
  return (
    <AdminPage
      name="Keys"
      about={`Keys of the API${workspace === undefined ? '' : `, for the workspace ${cleanLine(workspace)}`}. A key that is revoked is refused within a second, with every login and stream that was made with it.`}
      loaded={loaded}
      reload={reload}
      actions={
        loaded.value !== undefined &&
        (loaded.value.keys.length > 0 || loaded.value.person !== null) && (
          <button data-needs="admin" type="button" className="primary" onClick={() => setNew(true)}>
            New key …
          </button>
        )
      }
    >
      {(settings) => (
        <>
          {made !== undefined && (
            <NewSecret label="New secret" secret={made.secret} onDone={() => setMade(undefined)}>
              The secret of <b>{cleanLine(made.name)}</b> <code>{made.id}</code>. It is shown only now: the server
              stores nothing that it could be read from.
            </NewSecret>
          )}
          {isNew && <NewKey own={settings.scopes} onCreated={show} onCancel={() => setNew(false)} />}
          {settings.keys.length === 0 && settings.person === null ? (
            <section className="nothing" aria-label="No keys">
              <h2>This server needs no key</h2>
              <p className="quiet">It was started with --open, and accepts every request from its own machine.</p>
            </section>
          ) : (
            <KeyTable keys={settings.keys} ownId={settings.key_id} onRotated={show} onChanged={reload} />
          )}
        </>
      )}
    </AdminPage>
  );
}
