import type { Environment } from '@fleetloom/protocol/managed-agents';
import type { SessionCreated } from '../../frames/frames.ts';

/** What a session keeps of its environment. Workers have a network of their own, of which nobody here knows. */
export function toSessionEnvironment({ id, config }: Environment): SessionCreated['environment'] {
  return config.type === 'cloud' ? { id, type: config.type, networking: config.networking } : { id, type: config.type };
}
