import type { FileResourceParams, MountedResource, SourceResourceParams } from '@fleetloom/protocol/managed-agents';
import type { SessionResources } from '../../files/session-resources.ts';
import type { NewSession, SessionSources } from '../../workspaces/sources/session-sources.ts';

/** The services that store the resources of a new session. */
export interface ResourceParts {
  readonly resources: SessionResources;
  readonly sources: SessionSources;
}

/** Stores the resources of a session before it is created: the session may read them from its first event on. */
export async function addResources(
  { resources, sources }: ResourceParts,
  session: NewSession,
  params: readonly (FileResourceParams | SourceResourceParams)[],
): Promise<readonly MountedResource[]> {
  // Sources come first: files are mounted into the directories that they create.
  const added = await sources.add(
    session,
    params.filter((each) => each.type !== 'file'),
  );
  const files = params.filter((each) => each.type === 'file');
  return files.length === 0 ? added : [...added, ...(await resources.add(session, files))];
}
