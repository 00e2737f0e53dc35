import { UsageError } from '../usage-error.ts';

/** People name a workspace as they like; ids of workspaces have a form. */
export function toWorkspaceId(name: string): string {
  const id = name.startsWith('wrkspc_') ? name : `wrkspc_${name}`;
  if (/^wrkspc_[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw new UsageError(`"${name}" is no name of a workspace.`, 'Use 1 to 64 letters, digits, _ and -.');
}
