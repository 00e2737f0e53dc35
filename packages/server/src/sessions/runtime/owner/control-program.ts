import type { JsonObject } from '../../../base/json/json.ts';
import type { ControlNodes } from '../../../nodes/node-controls.ts';
import type { Leases } from '../../../store/store.ts';
import type { ControlOutcome, SessionControl } from '../program/control-session.ts';
import { sessionError } from '../../core/session-errors.ts';

/** What program control needs. */
export interface ProgramControlOptions {
  readonly leases: Pick<Leases, 'findOwner'>;
  /** Sends a request to the program of a session that this process owns; undefined if another process owns it. */
  readonly own: (sessionId: string, control: SessionControl) => Promise<ControlOutcome | undefined>;
  /** The other nodes, if several share the store. */
  readonly nodes?: ControlNodes | undefined;
}

/** Sends a request to the program of a session and resolves with its response. */
export type ControlProgram = (
  sessionId: string,
  control: SessionControl,
) => Promise<Extract<ControlOutcome, { type: 'answered' }>['answer']>;

/** Creates a function that sends requests to the program of a session, through the owner node. Throws refusals. */
export function createProgramControl({ leases, own, nodes }: ProgramControlOptions): ControlProgram {
  return async (sessionId, control) => {
    const outcome = (await own(sessionId, control)) ?? (await forward(sessionId, control));
    if (outcome.type === 'refused') throw sessionError(outcome.code, outcome.problem);
    return outcome.answer;
  };

  async function forward(sessionId: string, control: SessionControl): Promise<ControlOutcome> {
    const owner = await leases.findOwner(sessionId);
    const code = 'program_not_running';
    if (owner === undefined) return { type: 'refused', code, problem: `the program of ${sessionId} does not run` };
    const received = await nodes?.ask(nodes.nodeOf(owner), sessionId, control as unknown as JsonObject);
    // The other node runs the same code.
    const outcome = received as ControlOutcome | undefined;
    return (
      outcome ?? { type: 'refused', code: 'session_elsewhere', problem: `the owner of ${sessionId} did not answer` }
    );
  }
}
