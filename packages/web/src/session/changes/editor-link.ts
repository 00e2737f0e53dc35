import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';

/**
 * Opens a file of the workspace in the local editor. Undefined if the workspace is not on this machine, as far as the page can
 * know: its own address is then not a loopback address.
 */
export function editorLink(
  { workspace }: Pick<WorkspaceChanges, 'workspace'>,
  path: string,
  hostname: string,
): string | undefined {
  if (workspace === null || !LOOPBACK.has(hostname)) return undefined;
  const names = `${workspace}/${path}`.split('/').map(encodeURIComponent);
  return `vscode://file${names.join('/').startsWith('/') ? '' : '/'}${names.join('/')}`;
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
