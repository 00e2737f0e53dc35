import { findProgramEntry, isProgramModel } from '../../../engines/program/registry.ts';
import { type ProgramWork, type SessionState, type ThreadState, threadOf } from './state.ts';

// A *program root* is a thread that a program runs as its main agent: the primary thread, or that of a roster member whose model names a
// program. The sub-agents of the program are threads below its root, and have a key of the program.

/** Whether a program runs the session's own agent: here, which the name of its model says, or where the session was imported from. */
export function isProgram({ agent, created }: Pick<SessionState, 'agent' | 'created'>): boolean {
  return created.is_read_only === true || isProgramModel(agent.model.id);
}

/** Whether any thread of the session runs on a program, or may. */
export function mayRunPrograms(state: SessionState): boolean {
  return isProgram(state) || state.created.members.some(({ model }) => isProgramModel(model.id));
}

/** Whether a program runs the thread, as its main agent or as a sub-agent. */
export function isProgramThread(state: SessionState, thread: ThreadState): boolean {
  return programRootOf(state, thread) !== null;
}

/** The root of the program that runs a thread; null: a model engine runs it. */
export function programRootOf(state: SessionState, thread: ThreadState): ThreadState | null {
  const root = rootOf(state, thread);
  return root.programKey === null && isRunByProgram(state, root) ? root : null;
}

/** The thread itself, or the nearest one above it that is not a sub-agent of a program. */
export function rootOf(state: SessionState, thread: ThreadState): ThreadState {
  return thread.programKey === null ? thread : rootOf(state, threadOf(state, thread.parentId!));
}

/** The roots of all programs of a session, the primary thread first. */
export function listProgramRoots(state: SessionState): ThreadState[] {
  return [...state.threads.values()].filter((thread) => programRootOf(state, thread) === thread);
}

/** The threads of one program: its root, then the sub-agents below it in the order in which they were created. */
export function listProgramThreads(state: SessionState, root: ThreadState): ThreadState[] {
  return [...state.threads.values()].filter((thread) => rootOf(state, thread) === root);
}

/** Whether a program has something under way at a time: a turn, or work outside of turns. */
export function isProgramOpen(state: SessionState, root: ThreadState, now: number): boolean {
  return hasOpenTurn(state, root) || workUnderWay(root, now).length > 0;
}

/** Whether a turn of a program is open: of its main agent, or of a sub-agent. */
export function hasOpenTurn(state: SessionState, root: ThreadState): boolean {
  return listProgramThreads(state, root).some(({ turn }) => turn !== null);
}

/** Work of a program outside of turns that is under way at a time. */
export function workUnderWay({ program }: ThreadState, now: number): [id: string, work: ProgramWork][] {
  return Object.entries(program.work).filter(([, { until }]) => until === null || until > now);
}

/** The thread that frames about a program are logged on; null, for the program of the session's own agent: on the session. */
export function logThreadOf(root: ThreadState): ThreadState | null {
  return root.parentId === null ? null : root;
}

/** Whether a roster member is run by another program than the thread's, so that the thread can reach it only through the session. */
export function isForeign(state: SessionState, thread: ThreadState, member: number): boolean {
  const own = findProgramEntry(modelOf(state, rootOf(state, thread)));
  const other = findProgramEntry(state.created.members[member]!.model.id);
  return other !== undefined && other !== own;
}

function isRunByProgram(state: SessionState, root: ThreadState): boolean {
  return state.created.is_read_only === true || isProgramModel(modelOf(state, root));
}

function modelOf({ agent, created }: SessionState, { member }: ThreadState): string {
  return (member === null ? agent : created.members[member]!).model.id;
}
