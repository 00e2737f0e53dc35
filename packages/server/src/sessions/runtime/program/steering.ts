import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { programOptionsOf } from '../../../engines/program/program-options.ts';
import { toProgramModelName } from '../../../engines/program/program-model-name.ts';
import type { Program } from '../../../engines/program/program.ts';
import { agentOf } from '../../core/state/agent-of.ts';
import type { SessionState, ThreadState } from '../../core/state/state.ts';

/**
 * Options of a program that can be changed while it runs. The wire allows changes of a session's agent only while the session is idle, and none
 * of its model; metadata can be changed at any time, so these options are there.
 */
export interface Steering {
  /** Null: the default of the program. */
  readonly model: string | null;
  readonly permissionMode: string;
}

/** The options from the session's metadata, otherwise the defaults of the agent. */
export function steeringOf(state: SessionState, root: ThreadState): Steering {
  const agent = agentOf(state, root);
  const { model, permissionMode } = unsteeredOf(agent);
  const options = programOptionsOf(agent.model.id, state.metadata);
  return {
    // The model of a roster member is that of its definition.
    model: (root.parentId === null ? toText(options.model) : undefined) ?? model,
    permissionMode: toText(options.permissionMode) ?? permissionMode,
  };
}

/** The options of a program of this agent without any metadata. */
export function unsteeredOf({ model }: AgentSnapshot): Steering {
  return { model: toProgramModelName(model.id), permissionMode: 'default' };
}

/** Sends the program the options that changed. */
export function steer(program: Program, before: Steering, now: Steering): void {
  if (before.model !== now.model) program.setModel(now.model);
  if (before.permissionMode !== now.permissionMode) program.setPermissionMode(now.permissionMode);
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
