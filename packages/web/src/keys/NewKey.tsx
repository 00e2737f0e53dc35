import type { FleetScope } from '@fleetloom/protocol/fleet';
import { api } from '../stores/connection/api.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { ActionForm, listOf, textOf } from '../ui/admin/ActionForm.tsx';
import type { KeySecret } from './key-secret.ts';

interface NewKeyProps {
  /** The scopes of the caller, which a new key may have. */
  readonly own: readonly FleetScope[];
  readonly onCreated: (secret: KeySecret) => void;
  readonly onCancel: () => void;
}

const scopes: readonly (readonly [FleetScope, string])[] = [
  ['read', 'read: see everything'],
  ['run', 'run: start and continue sessions'],
  ['approve', 'approve: decide tool calls'],
  ['manage', 'manage: agents, vaults, rules'],
  ['admin', 'admin: keys, people, audit'],
];

const days = [7, 30, 90, 365];

/** The form of a new key. It begins with the fewest rights. */
export function NewKey({ own, onCreated, onCancel }: NewKeyProps) {
  const create = async (fields: FormData) => {
    const chosen = scopes.map(([scope]) => scope).filter((scope) => fields.has(scope));
    if (chosen.length === 0) throw new Error('Choose at least one scope.');
    const validDays = Number(textOf(fields, 'days') ?? 0);
    const directories = (textOf(fields, 'directories') ?? '').split('\n').flatMap((line) => line.trim() || []);
    const engines = listOf(fields, 'engines');
    const body = {
      name: textOf(fields, 'name') ?? '',
      scopes: chosen,
      ...(validDays === 0 ? {} : { expires_at: new Date(serverNow() + validDays * 86_400_000).toISOString() }),
      ...(directories.length === 0 ? {} : { directories }),
      ...(engines.length === 0 ? {} : { engines }),
    };
    onCreated(await api.post<KeySecret>('v1/fleet/keys', body));
  };
  return (
    <ActionForm name="New key" submit="Create" needs="admin" onSubmit={create} onCancel={onCancel}>
      <label>
        Name <input name="name" required maxLength={256} placeholder="ci" />
      </label>
      <fieldset>
        <legend>May</legend>
        {scopes
          .filter(([scope]) => own.includes(scope))
          .map(([scope, label]) => (
            <label key={scope}>
              <input name={scope} type="checkbox" defaultChecked={scope === 'read'} /> {label}
            </label>
          ))}
      </fieldset>
      <label>
        Valid for{' '}
        <select name="days" defaultValue="90">
          {days.map((each) => (
            <option key={each} value={each}>
              {each} days
            </option>
          ))}
          <option value="0">ever</option>
        </select>
      </label>
      <details>
        <summary>Limits</summary>
        <label>
          Directories, one on each line (empty: all that the server allows)
          <textarea name="directories" rows={2} placeholder="/srv/app" />
        </label>
        <label>
          Engines (empty: all)
          <input name="engines" placeholder="model scripted claude-code codex opencode acp" />
        </label>
      </details>
    </ActionForm>
  );
}
