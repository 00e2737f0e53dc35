import type { MountedResource } from '@fleetloom/protocol/managed-agents';
import type { SessionCreated } from '../../frames/payload-parts.ts';

/** The source of the workspace of a session, as lists show it; an empty object for a session without a source. */
export function toSessionSource(mounted: readonly MountedResource[]): Pick<SessionCreated, 'source'> {
  const source = mounted.find((each) => each.type !== 'file');
  if (source === undefined) return {};
  if (source.type === 'directory') return { source: { repository: source.path, branch: source.branch } };
  const { url, checkout } = source;
  return { source: { repository: url, branch: checkout?.type === 'branch' ? checkout.name : null } };
}
