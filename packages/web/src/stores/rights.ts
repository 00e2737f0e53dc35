import type { FleetScope, FleetSettings } from '@fleetloom/protocol/fleet';
import { api } from './connection/api.ts';

const SCOPES: readonly FleetScope[] = ['read', 'run', 'approve', 'manage', 'admin'];

/** Where the page notes which scopes the login lacks: base.css hides the controls that need one of them. */
interface Noted {
  readonly dataset: { missing?: string | undefined };
}

/** Hides what the login may not do. The server refuses it in any case. */
export async function followRights(page: Noted = document.documentElement): Promise<void> {
  noteRights(page, await api.get<FleetSettings>('v1/fleet/settings'));
}

/** Notes the missing scopes on the page, as `data-missing`. */
export function noteRights(page: Noted, { scopes }: Pick<FleetSettings, 'scopes'>): void {
  page.dataset.missing = SCOPES.filter((scope) => !scopes.includes(scope)).join(' ');
}

/** Whether the login may do what needs a scope. A form or key of a hidden control sends nothing. */
export function mayDo(scope: FleetScope, page: Noted = document.documentElement): boolean {
  return !(page.dataset.missing ?? '').split(' ').includes(scope);
}
