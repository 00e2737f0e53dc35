import { programOptionKeys } from '../../engines/program-options.ts';
import { PROGRAM_PREFIX, type Program } from '../../engines/program.ts';
import type { SessionState } from '../state.ts';

/**
 * What can be changed of a program while it runs. The wire allows changes of a session's agent only while the session is idle, and none
 * of its model; metadata can be changed at any time, so these options are there.
 */
export interface Steering {
  /** Null: what the program takes by itself. */
  readonly model: string | null;
  readonly permissionMode: string;
}

/** As the session's metadata has it, and otherwise as programs begin. */
export function steeringOf({ agent, metadata }: Pick<SessionState, 'agent' | 'metadata'>): Steering {
  const { model, permissionMode } = unsteeredOf({ agent });
  return {
    model: toText(metadata[programOptionKeys.model]) ?? model,
    permissionMode: toText(metadata[programOptionKeys.permissionMode]) ?? permissionMode,
  };
}

/** What a program of this agent begins with. */
export function unsteeredOf({ agent }: Pick<SessionState, 'agent'>): Steering {
  const model = agent.model.id.slice(PROGRAM_PREFIX.length);
  return { model: model === 'default' || model === '' ? null : model, permissionMode: 'default' };
}

/** Tells the program what is different. */
export function steer(program: Program, before: Steering, now: Steering): void {
  if (before.model !== now.model) program.setModel(now.model);
  if (before.permissionMode !== now.permissionMode) program.setPermissionMode(now.permissionMode);
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
