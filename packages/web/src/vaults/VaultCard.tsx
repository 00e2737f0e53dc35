import type { Vault, VaultCredential } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatDay } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { ActionForm, textOf } from '../ui/admin/ActionForm.tsx';
import { ConfirmButton } from '../ui/admin/ConfirmButton.tsx';
import { useLoaded } from '../ui/use-loaded.ts';
import { AddCredential } from './AddCredential.tsx';
import { ConnectServer } from './ConnectServer.tsx';
import { CredentialRow } from './CredentialRow.tsx';

/** One vault: its name, its credentials, and their actions. */
export function VaultCard({ vault, onChanged }: { vault: Vault; onChanged: () => void }) {
  const [reads, setReads] = useState(0);
  const [open, setOpen] = useState<'rename' | 'add' | 'connect' | undefined>();
  const { id, display_name: name, archived_at: archived } = vault;
  const { value, problem } = useLoaded(id, `${reads} ${archived}`, () => readCredentials(id, archived !== null));
  const reload = () => setReads(reads + 1);
  const close = () => setOpen(undefined);
  const rename = async (fields: FormData) => {
    await api.post(`v1/vaults/${id}`, { display_name: textOf(fields, 'name') ?? '' });
    close();
    onChanged();
  };
  const archive = async () => {
    await api.post(`v1/vaults/${id}/archive`, {});
    onChanged();
  };
  return (
    <section aria-label={cleanLine(name)} className="vault">
      <header>
        <h2>{cleanLine(name)}</h2>
        <p className="quiet">
          <code>{id}</code> · created {formatDay(Date.parse(vault.created_at))}
          {archived !== null && ` · archived ${formatDay(Date.parse(archived))}`}
        </p>
        {archived === null && (
          <p className="row-actions">
            <button data-needs="manage" className="primary" type="button" onClick={() => setOpen('connect')}>
              Connect with OAuth …
            </button>
            <button data-needs="manage" type="button" onClick={() => setOpen('add')}>
              Add a credential …
            </button>
            <button data-needs="manage" type="button" onClick={() => setOpen('rename')}>
              Rename …
            </button>
            <ConfirmButton
              label="Archive …"
              of={cleanLine(name)}
              needs="manage"
              question="Its secrets are erased. Sessions go on without them."
              confirm="Archive it for good"
              run={archive}
            />
          </p>
        )}
      </header>
      {open === 'rename' && (
        <ActionForm name="Rename the vault" submit="Rename" needs="manage" onSubmit={rename} onCancel={close}>
          <label>
            Name <input name="name" required maxLength={255} defaultValue={name} />
          </label>
        </ActionForm>
      )}
      {open === 'add' && <AddCredential vaultId={id} onAdded={() => (close(), reload())} onCancel={close} />}
      {open === 'connect' && <ConnectServer vaultId={id} onConnected={reload} onClose={close} />}
      {problem !== undefined && (
        <p className="fault" role="alert">
          The credentials could not be read. Reload the page.
        </p>
      )}
      {value === undefined && problem === undefined && <p className="quiet">Loading …</p>}
      {value?.length === 0 && <p className="quiet">It has no credentials.</p>}
      <ul className="credentials" aria-label="Credentials">
        {(value ?? []).map((credential) => (
          <CredentialRow key={credential.id} credential={credential} onChanged={reload} />
        ))}
      </ul>
    </section>
  );
}

/** Reads the credentials of a vault. Archived credentials are included for an archived vault, whose credentials are all archived. */
async function readCredentials(vaultId: string, hasArchived: boolean): Promise<readonly VaultCredential[]> {
  const found: VaultCredential[] = [];
  const path = `v1/vaults/${vaultId}/credentials?limit=100${hasArchived ? '&include_archived=true' : ''}`;
  for await (const credential of api.list<VaultCredential>(path)) found.push(credential);
  return found;
}
