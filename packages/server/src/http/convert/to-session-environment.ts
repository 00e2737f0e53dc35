import { type Environment, packageManagers } from '@fleetloom/protocol/managed-agents';
import type { SessionCreated } from '../../frames/payload-parts.ts';

/** The part of an environment that a session stores. The network of self-hosted workers is not known to the server. */
export function toSessionEnvironment({ id, config }: Environment): SessionCreated['environment'] {
  if (config.type !== 'cloud') return { id, type: config.type };
  const { type, networking, packages } = config;
  const hasPackages = packageManagers.some((manager) => packages[manager].length > 0);
  return { id, type, networking, ...(hasPackages ? { packages } : {}) };
}
