import type { AssistantBlock, InputBlock, Message, ResultBlock, TextBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { PROGRAM_PREFIX } from '../engines/program.ts';
import type { RunRecord, Stopped } from '../frames/record-data.ts';
import type { Status } from '../store/records.ts';
import type { Turn } from '../store/frame.ts';
import type { SeenCommands } from './seen-commands.ts';
import type { Budget, RequestPurpose, SessionCreated, StopDetails, TurnEnd, UsageTotals } from '../frames/frames.ts';

/**
 * What a session is, folded from its log. Only `evolve` changes it, so that whoever reads the same frames knows the same.
 */
export interface SessionState {
  readonly id: string;
  /** As it was made; what can change later stands beside it. */
  readonly created: SessionCreated;
  agent: SessionCreated['agent'];
  title: string | null;
  metadata: JsonObject;
  budget: Budget | null;
  status: Status;
  stop: Stopped;
  isArchived: boolean;
  readonly threads: Map<string, ThreadState>;
  /** How the program that runs the session named the conversation; null as long as it has not begun. */
  conversation: string | null;
  /** The last message of the last turn that has ended, as the program names it. */
  conversationAt: string | null;
  /** The conversation is that of the session that this one was forked from: the program has to make it its own. */
  isConversationForked: boolean;
  run: Run | null;
  /** The one that goes on, or the last one that did. */
  newestRun: RunRecord | null;
  usage: UsageTotals;
  requests: number;
  /** How long it was running, threads that overlap counted once. */
  active: Stopwatch;
  createdAt: number;
  /** When the last frame was written. */
  updatedAt: number;
}

export interface Run {
  readonly id: string;
  nextStreamId: number;
  /** How the last turn of the primary thread ended. */
  outcome: { readonly end: TurnEnd; readonly error: string | null; readonly content: string } | null;
}

/** Time that passes only while `since` is set. */
export interface Stopwatch {
  totalMs: number;
  since: number | null;
}

export interface ThreadState {
  readonly id: string;
  readonly parentId: string | null;
  readonly depth: number;
  readonly agentName: string;
  /** What it was started for, if it is one of the program's own kinds of agents. */
  readonly title: string | null;
  /** An entry of the session's members; null for the session's own agent. */
  readonly member: number | null;
  /** How the program that runs the session names it. */
  readonly programKey: string | null;
  /** The call that made it, as that program names it. */
  readonly programCall: string | null;
  /** The newest turn of its parent, in this run, that spoke to it. */
  calledBy: number | null;
  /** The call of its parent that waits for its first turn. */
  joinedBy: { readonly toolUseId: string; readonly index: number } | null;
  status: Status;
  stop: Stopped;
  isArchived: boolean;
  turn: OpenTurn | null;
  /** Letters and messages that wait for the next turn, in their order. */
  inbox: Waiting[];
  history: Message[];
  /** Of the answer that is being written to the log. */
  blocks: AssistantBlock[];
  /** Of the newest answer, in its order, until the model is told their results. */
  calls: Map<string, Call>;
  /** Null where commands in the text of a model are not run. */
  readonly seen: SeenCommands | null;
  usage: UsageTotals;
  /** Of the newest answer: how full the window of the model was. Null if there is none, or it was compacted since. */
  answerUsage: UsageTotals | null;
  active: Stopwatch;
  readonly createdAt: number;
  startedAt: number | null;
  updatedAt: number;
}

export type Waiting =
  | { readonly type: 'user.message'; readonly id: string; readonly content: readonly InputBlock[] }
  | { readonly type: 'system.message'; readonly id: string; readonly content: readonly TextBlock[] }
  | {
      readonly type: 'letter';
      readonly id: string;
      readonly content: readonly InputBlock[];
      /** It is told with the next turn, and does not begin one. */
      readonly isQuiet: boolean;
    };

export interface OpenTurn extends Turn {
  readonly startedAt: number;
  /** Where in the history of its thread it begins. */
  historyFrom: number;
  phase: Phase;
  /** Model requests so far. */
  iteration: number;
  /** Requests that failed since the last one that did not. */
  failures: number;
  /** Compactions since the last answer. */
  compactions: number;
  /** Answers with commands that were not run because the thread had read them. */
  quotes: number;
  /** Somebody interrupted it, and tools have yet to stop. */
  stopping: { readonly isReported: boolean } | null;
  /** The text of its newest answer that had any: what the agent has to say in the end. */
  said: string;
  /** Why the model stopped when it last answered. */
  answer: { readonly reason: string; readonly details: StopDetails | null } | null;
}

export type Phase =
  /** A model request is due. */
  | { readonly type: 'due'; readonly purpose: RequestPurpose }
  | { readonly type: 'requesting'; readonly startId: string; readonly purpose: RequestPurpose }
  | { readonly type: 'waiting'; readonly at: number; readonly purpose: RequestPurpose }
  /** The model has answered; its calls are open. */
  | { readonly type: 'calling' }
  /** A program does it all, and tells what it does. `startId`: the model request that is under way. */
  | { readonly type: 'program'; readonly startId: string | null };

export interface Call {
  /** Of its event. */
  readonly id: string;
  /** How the model names it. */
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
  readonly kind: 'builtin' | 'session' | 'mcp' | 'custom';
  /** Of the MCP server that has it: another one may have a tool of the same name. */
  readonly serverName: string | null;
  readonly isAsked: boolean;
  /** Of a program: whether the program has asked for it. */
  readonly isRequested: boolean;
  /** Written in the text: the model is told the result as text, too. */
  readonly isCommand: boolean;
  readonly runsAt: 'server' | 'worker' | 'client';
  progress: Progress;
  /** Of `delegate`: what came back, by the index of the task. */
  readonly answers: Map<number, Answer>;
  /** Of `delegate`: who works on it, by the index of the task. */
  readonly children: Map<number, string>;
}

export interface Answer {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

export type Progress =
  /** Of a program, which may yet ask for it, run it or refuse it on its own. It can be answered before the program asks. */
  | { readonly type: 'proposed' }
  /** Somebody has to say whether it may run. */
  | { readonly type: 'asking' }
  | { readonly type: 'due' }
  /** The client or its worker has to bring the result. */
  | { readonly type: 'outside' }
  | { readonly type: 'running'; readonly since: number }
  /** Children work on it. */
  | { readonly type: 'joining'; readonly since: number }
  /** It must not run; its result comes with the same write. */
  | { readonly type: 'refused'; readonly message: string | null }
  | ({ readonly type: 'done' } & Answer);

export const noUsage: UsageTotals = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_5m_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  cost_nano_usd: 0,
};

/** Why a session ends its turns whose node is gone, as its log says it. */
export const WORKSPACE_LOST = 'workspace_lost';

export const endTurn: Stopped = { reason: { type: 'end_turn' }, details: null };

/** Whether a program runs the whole session: the name of the agent's model says so. */
export function isProgram({ agent }: Pick<SessionState, 'agent'>): boolean {
  return agent.model.id.startsWith(PROGRAM_PREFIX);
}

export function primaryOf(state: SessionState): ThreadState {
  return threadOf(state, state.created.primary_thread_id);
}

/** A thread that the log has named. */
export function threadOf(state: SessionState, id: string): ThreadState {
  const thread = state.threads.get(id);
  if (thread === undefined) throw new Error(`${state.id} has no thread ${id}`);
  return thread;
}

export function childrenOf(state: SessionState, id: string): ThreadState[] {
  return [...state.threads.values()].filter(({ parentId }) => parentId === id);
}

export function openCallsOf(thread: ThreadState): Call[] {
  return [...thread.calls.values()].filter(({ progress }) => progress.type !== 'done');
}

export function textAnswer(text: string, isError: boolean): Answer {
  return { content: [{ type: 'text', text }], isError };
}

export type { Stopped };
