import type { FileResourceParams, MountedResource, SourceResourceParams } from '@fleetloom/protocol/managed-agents';
import type { SessionResources } from '../../files/session-resources.ts';
import type { NewSession, SessionSources } from '../../workspaces/sources/session-sources.ts';

/** What stores the resources of a new session. */
export interface ResourceParts {
  readonly resources: SessionResources;
  readonly sources: SessionSources;
}

/** Stores the resources of a session before it is created: with its first event it may begin to read them. */
export async function addResources(
  { resources, sources }: ResourceParts,
  session: NewSession,
  params: readonly (FileResourceParams | SourceResourceParams)[],
): Promise<readonly MountedResource[]> {
  // First of all: files are mounted into what the source makes.
  const added = await sources.add(
    session,
    params.filter((each) => each.type !== 'file'),
  );
  const files = params.filter((each) => each.type === 'file');
  return files.length === 0 ? added : [...added, ...(await resources.add(session, files))];
}
