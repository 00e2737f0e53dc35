import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { noteRights } from './rights.ts';

const source = fileURLToPath(new URL('..', import.meta.url));

it('[ID9] controls are marked with the scope that they need, and hidden for a login that lacks it', () => {
  const page = { dataset: {} as { missing?: string } };
  noteRights(page, { scopes: ['read', 'approve'] });
  expect(page.dataset.missing).toBe('run manage admin');
  noteRights(page, { scopes: ['read', 'run', 'approve', 'manage', 'admin'] });
  expect(page.dataset.missing).toBe('');
  const styles = readFileSync(`${source}ui/base.css`, 'utf8');
  const marked = new Map<string, number>();
  for (const file of readdirSync(source, { recursive: true }) as string[]) {
    if (!file.endsWith('.tsx')) continue;
    for (const [, scope] of readFileSync(`${source}${file}`, 'utf8').matchAll(/data-needs="(\w+)"/g)) {
      marked.set(scope!, (marked.get(scope!) ?? 0) + 1);
    }
  }
  expect([...marked.keys()].sort()).toEqual(['admin', 'approve', 'manage', 'run']);
  for (const scope of marked.keys()) {
    expect(styles).toContain(`[data-missing~="${scope}"] [data-needs="${scope}"]`);
  }
});
