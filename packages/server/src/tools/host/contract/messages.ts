import type { WorkspaceToolName } from '@fleetloom/protocol/managed-agents';
import type { Json } from '../../../base/json/json.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import type { HostPrograms } from '../../builtin/host-programs.ts';

/**
 * What the server sends to a tool host. Each request but `cancel` gets exactly one {@link HostAnswer}, and a host sends
 * nothing else: a host that is under the control of an agent cannot send more than it was asked for.
 */
export type HostRequest = HostCall & { readonly id: number };

/** A request of the server to a tool host. */
export type HostCall =
  /** The first request. */
  | {
      readonly type: 'open';
      readonly workspace: string;
      readonly programs: HostPrograms;
      /** Environment variables of shells in addition to the variables of the host. */
      readonly environment: Readonly<Record<string, string>>;
      /** Limits that differ from the defaults. */
      readonly limits: Partial<ToolLimits>;
    }
  | { readonly type: 'run'; readonly threadId: string; readonly tool: WorkspaceToolName; readonly input: Json }
  /** Writes an output that is too long for the model to a new file. The answer has the path. */
  | { readonly type: 'keep'; readonly name: string; readonly text: string }
  /** Ends the shell of a thread. */
  | { readonly type: 'close_thread'; readonly threadId: string }
  /** Aborts the call with this id, which still gets an answer. This request itself gets none. */
  | { readonly type: 'cancel' };

/** What a tool host sends to the server. */
export interface HostAnswer {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
  /** How many shells are open in the host. */
  readonly shells: number;
}

/** Reads a message of a tool host, which is not trusted. Throws when it is not an answer. */
export function toHostAnswer(message: Uint8Array): HostAnswer {
  const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message));
  if (typeof parsed !== 'object' || parsed === null) throw new TypeError('not an object');
  const { id, text, isError, shells } = parsed as { readonly [Name in keyof HostAnswer]?: unknown };
  if (!isCount(id) || typeof text !== 'string' || typeof isError !== 'boolean' || !isCount(shells)) {
    throw new TypeError('not an answer');
  }
  return { id, text, isError, shells };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
