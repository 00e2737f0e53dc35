import type { Vault } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { ui } from '../stores/stores.ts';
import { ActionForm, textOf } from '../ui/admin/ActionForm.tsx';
import { AdminPage } from '../ui/admin/AdminPage.tsx';
import { NotFound } from '../ui/NotFound.tsx';
import { useLoaded } from '../ui/use-loaded.ts';
import { VaultCard } from './VaultCard.tsx';

/** The vaults of the workspace, and the credentials of the selected one. */
export function VaultsView({ selectedId }: { selectedId: string | undefined }) {
  const [reads, setReads] = useState(0);
  const [hasArchived, setArchived] = useState(false);
  const loaded = useLoaded('vaults', `${reads} ${hasArchived}`, () => readVaults(hasArchived));
  const reload = () => setReads(reads + 1);
  const create = async (fields: FormData) => {
    const vault = await api.post<Vault>('v1/vaults', { display_name: textOf(fields, 'name') ?? '' });
    reload();
    ui.go({ view: 'vaults', sessionId: vault.id });
  };
  return (
    <AdminPage
      name="Vaults"
      about="Tokens for MCP servers and secrets for commands. Sessions that name a vault use them; agents never see them, and neither does this page once they are stored."
      loaded={loaded}
      reload={reload}
      actions={
        <>
          <label className="inline-choice">
            <input type="checkbox" checked={hasArchived} onChange={() => setArchived(!hasArchived)} /> Archived
          </label>
          <a data-needs="manage" className="button primary" href="#/vaults/new">
            New vault …
          </a>
        </>
      }
    >
      {(vaults) => {
        const selected =
          vaults.find(({ id }) => id === selectedId) ?? (selectedId === undefined ? vaults[0] : undefined);
        return (
          <>
            {selectedId === 'new' && (
              <ActionForm
                name="New vault"
                submit="Create"
                needs="manage"
                onSubmit={create}
                onCancel={() => ui.go({ view: 'vaults' })}
              >
                <label>
                  Name <input name="name" required maxLength={255} placeholder="Team" />
                </label>
              </ActionForm>
            )}
            {vaults.length === 0 && selectedId === undefined && (
              <section className="nothing" aria-label="No vaults">
                <h2>There are no vaults</h2>
                <p className="quiet">
                  A vault holds the tokens that sessions send to MCP servers. Create one, add a credential, and name the
                  vault when you create a session.
                </p>
              </section>
            )}
            <nav className="vault-list" aria-label="Vaults">
              {vaults.map(({ id, display_name: name, archived_at: archived }) => (
                <a key={id} href={`#/vaults/${id}`} aria-current={id === selected?.id ? 'page' : undefined}>
                  {cleanLine(name)}
                  {archived !== null && <span className="tag">archived</span>}
                </a>
              ))}
            </nav>
            {selected !== undefined && <VaultCard key={selected.id} vault={selected} onChanged={reload} />}
            {selected === undefined && selectedId !== undefined && selectedId !== 'new' && (
              <NotFound
                what="vault"
                name={selectedId}
                hint="It may be archived or deleted, or belong to another server."
              />
            )}
          </>
        );
      }}
    </AdminPage>
  );
}

async function readVaults(hasArchived: boolean): Promise<readonly Vault[]> {
  const found: Vault[] = [];
  const path = `v1/vaults?limit=100${hasArchived ? '&include_archived=true' : ''}`;
  for await (const vault of api.list<Vault>(path)) found.push(vault);
  return found;
}
