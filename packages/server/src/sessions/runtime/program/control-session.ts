import type {
  ControlAnswer,
  ControlRequest,
  ProgramDiff,
  ProgramRewind,
  ProgramUsage,
} from '../../../engines/program/program-controls.ts';
import { MAIN, type Program } from '../../../engines/program/program.ts';
import type { SessionErrorCode } from '../../core/session-errors.ts';
import type { SessionState } from '../../core/state/state.ts';
import type { TakenEvent } from '../../core/command.ts';

/** A request to the program of a session. */
export interface SessionControl {
  readonly request: ControlRequest;
  /** The name of the caller, for the log. */
  readonly by: string;
}

/** The outcome of a control request, as data: the response may come from another node. */
export type ControlOutcome =
  | { readonly type: 'answered'; readonly answer: ProgramUsage | ProgramDiff | ProgramRewind }
  | { readonly type: 'refused'; readonly code: SessionErrorCode; readonly problem: string };

/** The session that a request is for. */
export interface Controlled {
  readonly state: SessionState;
  readonly program: Program | undefined;
  readonly log: (event: TakenEvent['event']) => Promise<void>;
}

/** Sends a request outside of turns to the program of a session. A rewind is in the log when this resolves. */
export async function controlSession(
  { state, program, log }: Controlled,
  { request, by }: SessionControl,
): Promise<ControlOutcome> {
  const { id } = state;
  if (program === undefined) return refuse('program_not_running', `the program of ${id} does not run`);
  if (!program.controls.includes(request.type)) return unsupported(id, request);
  if (isChanging(request) && isAtWork(state)) return refuse('session_running', `${id} is at work`);
  const answer = await program.control(request);
  switch (answer.type) {
    case 'unsupported':
      return unsupported(id, request);
    case 'exited':
      return refuse('program_not_running', `the program of ${id} has ended`);
    case 'failed':
      return refuse(request.type === 'rewind' ? 'not_rewindable' : 'program_failed', toProblem(request, answer));
    case 'rewind':
      if (request.type === 'rewind' && isChanging(request)) {
        const { files, added, removed } = answer;
        await log({ type: 'files_rewound', key: MAIN, messageId: request.messageId, by, files, added, removed });
      }
      return { type: 'answered', answer };
    default:
      return { type: 'answered', answer };
  }
}

function isChanging(request: ControlRequest): boolean {
  return request.type === 'rewind' && !request.isDryRun;
}

function isAtWork({ threads }: SessionState): boolean {
  return [...threads.values()].some(({ turn }) => turn !== null);
}

function unsupported(sessionId: string, { type }: ControlRequest): ControlOutcome {
  return refuse('program_unsupported', `this version of the program of ${sessionId} has no ${names[type]}`);
}

const names: Readonly<Record<ControlRequest['type'], string>> = {
  usage: 'usage report',
  diff: 'diff of its workspace',
  rewind: 'way to rewind files',
};

function toProblem(request: ControlRequest, { message }: Extract<ControlAnswer, { type: 'failed' }>): string {
  const where = request.type === 'rewind' ? ` for ${request.messageId}` : '';
  return `the program refused${where}: ${message.replace(/\.$/, '')}`;
}

function refuse(code: SessionErrorCode, problem: string): ControlOutcome {
  return { type: 'refused', code, problem };
}
