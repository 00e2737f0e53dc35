import type { FleetSettings } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { inBackground } from '../stores/connection/in-background.ts';
import { signOut } from '../stores/connection/sign-out.ts';
import { toPersonName } from '../model/person-name.ts';

/** The key and workspace that this browser is signed in with. */
export function Access({ settings }: { settings: FleetSettings }) {
  const { workspace_id: workspaceId, key_id: keyId, keys, node_id: nodeId, nodes, scopes, role, person } = settings;
  const isSignedIn = keyId !== null || person !== null;
  const mine = keys.find(({ id }) => id === keyId);
  const workspace = workspaceId.replace(/^wrkspc_/, '');
  return (
    <>
      <dl className="facts">
        <dt>Signed in with</dt>
        <dd>
          {person !== null ? (
            <>
              {cleanLine(toPersonName(person) ?? '')} <code>{cleanLine(person.issuer)}</code>
            </>
          ) : keyId === null ? (
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
      {isSignedIn && (
        <button type="button" onClick={() => inBackground(signOut())}>
          Sign out
        </button>
      )}
    </>
  );
}
