import type { ChangesSource } from '@fleetloom/protocol/fleet';
import type { MountedResource } from '@fleetloom/protocol/managed-agents';

/** Facts about the source of a session that are known without opening its workspace. */
export interface SourceFacts {
  readonly shown: ChangesSource;
}

/** The source among the resources of a session. Undefined for a session without a source. */
export function findSourceFacts(resources: readonly MountedResource[]): SourceFacts | undefined {
  const directory = resources.find((resource) => resource.type === 'directory');
  if (directory !== undefined) {
    const { type, mode, path, branch, commit } = directory;
    return { shown: { type, mode, path, branch, base: commit } };
  }
  return resources.some(({ type }) => type !== 'file') ? { shown: { type: 'repositories' } } : undefined;
}

/** The targets to which changes of a source can be applied. A directory without commits has no branches. */
export function canApply({ shown }: SourceFacts): { readonly working_tree: boolean; readonly branch: boolean } {
  if (shown.type === 'repositories' || shown.mode === 'read_only') return { working_tree: false, branch: false };
  return { working_tree: shown.mode !== 'in_place', branch: shown.base !== null };
}
