import { UsageError } from '../base/usage-error.ts';

/** The workspace id for a name, with or without its prefix. */
export function toWorkspaceId(name: string): string {
  const id = name.startsWith('wrkspc_') ? name : `wrkspc_${name}`;
  if (/^wrkspc_[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw new UsageError(`"${name}" is not a valid workspace name.`, 'Use 1 to 64 letters, digits, _ and -.');
}
