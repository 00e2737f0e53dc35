import type { Environment } from '@fleetloom/protocol/managed-agents';
import type { SessionCreated } from '../../frames/payload-parts.ts';

/** The part of an environment that a session stores. The network of self-hosted workers is not known to the server. */
export function toSessionEnvironment({ id, config }: Environment): SessionCreated['environment'] {
  return config.type === 'cloud' ? { id, type: config.type, networking: config.networking } : { id, type: config.type };
}
