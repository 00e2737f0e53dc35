import type { FleetScope, FleetSettings } from '@fleetloom/protocol/fleet';
import { api } from './connection/api.ts';

const SCOPES: readonly FleetScope[] = ['read', 'run', 'approve', 'manage', 'admin'];

/** The element that stores the scopes that the login lacks. base.css hides the controls that need one of them. */
interface Noted {
  readonly dataset: { missing?: string | undefined };
}

/** Hides controls that the login may not use. The server rejects their requests in any case. */
export async function followRights(page: Noted = document.documentElement): Promise<void> {
  noteRights(page, await api.get<FleetSettings>('v1/fleet/settings'));
}

/** Stores the missing scopes on the page, as `data-missing`. */
export function noteRights(page: Noted, { scopes }: Pick<FleetSettings, 'scopes'>): void {
  page.dataset.missing = SCOPES.filter((scope) => !scopes.includes(scope)).join(' ');
}

/** Whether the login has a scope. Checked by forms and keys, because hiding a control does not disable them. */
export function mayDo(scope: FleetScope, page: Noted = document.documentElement): boolean {
  return !(page.dataset.missing ?? '').split(' ').includes(scope);
}
