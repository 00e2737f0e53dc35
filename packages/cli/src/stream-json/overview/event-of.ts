import type { AgentEvent } from '@fleetloom/protocol/stream-json';

/** The event of this type. */
export type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>;
