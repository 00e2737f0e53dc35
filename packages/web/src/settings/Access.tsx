import type { FleetKey, FleetSettings } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatAgo, formatDay } from '../model/format.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { signOut } from '../stores/connection/sign-out.ts';
import { CopyLine } from '../ui/text/CopyLine.tsx';

/** What a key may do, in words. */
function describeKey({ scopes, directories, engines }: Pick<FleetKey, 'scopes' | 'directories' | 'engines'>): string {
  const parts = [
    scopes === null ? 'everything in the workspace' : scopes.join(', '),
    ...(directories === null ? [] : [`in ${directories.join(', ')}`]),
    ...(engines === null ? [] : [`with ${engines.join(', ')}`]),
  ];
  return cleanLine(parts.join(' '));
}

/** The key and workspace that this browser is signed in with, and the keys of the workspace. */
export function Access({ settings }: { settings: FleetSettings }) {
  const { workspace_id: workspaceId, key_id: keyId, keys, node_id: nodeId, nodes, scopes, role } = settings;
  const mine = keys.find(({ id }) => id === keyId);
  const workspace = workspaceId.replace(/^wrkspc_/, '');
  const option = workspace === 'default' ? '' : ` --workspace ${workspace}`;
  return (
    <>
      <dl className="facts">
        <dt>Signed in with</dt>
        <dd>
          {keyId === null ? (
            'no key: this server accepts every request from its own machine'
          ) : (
            <>
              {cleanLine(mine?.name ?? 'a key that was revoked')} <code>{keyId}</code>
            </>
          )}
        </dd>
        <dt>May</dt>
        <dd>
          {role !== null && `${role}: `}
          {scopes.join(', ')}
        </dd>
        <dt>Workspace</dt>
        <dd>{cleanLine(workspace)}</dd>
        <dt>Server</dt>
        <dd>
          {location.origin}
          {nodeId !== null && ` · answered by node ${cleanLine(nodeId)} of ${nodes}`}
        </dd>
      </dl>
      {keyId !== null && (
        <button type="button" onClick={() => inBackground(signOut())}>
          Sign out
        </button>
      )}
      {keys.length > 0 && (
        <>
          <h3>Keys of this workspace</h3>
          <div className="scroll-x" tabIndex={0} role="group" aria-label="Keys of this workspace">
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Id</th>
                  <th scope="col">For</th>
                  <th scope="col">Expires</th>
                  <th scope="col">Last use</th>
                  <th scope="col">Created</th>
                </tr>
              </thead>
              <tbody>
                {keys.map(({ id, name, kind, created_at: at, ...key }) => (
                  <tr key={id}>
                    <td>
                      {cleanLine(name)} {id === keyId && <span className="tag">this browser</span>}
                    </td>
                    <td>
                      <code>{id}</code>
                    </td>
                    <td>{kind === 'api' ? describeKey(key) : 'workers of one environment'}</td>
                    <td>{key.expires_at === null ? 'never' : formatDay(Date.parse(key.expires_at))}</td>
                    <td>
                      {key.last_used_at === null ? 'not yet' : formatAgo(serverNow() - Date.parse(key.last_used_at))}
                    </td>
                    <td>{formatDay(Date.parse(at))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p className="quiet">
            Keys are created and revoked on the server's machine, so that a stolen key cannot create another one:
          </p>
          <CopyLine text={`npx fleetloom keys create <name> --scope read run${option}`} />
          <CopyLine text="npx fleetloom keys rotate <id>" />
          <CopyLine text="npx fleetloom keys revoke <id>" />
        </>
      )}
    </>
  );
}
