import type { AssistantBlock, InputBlock, Message, ResultBlock, TextBlock } from '../../../base/content.ts';
import type { Json, JsonObject } from '../../../base/json/json.ts';
import type { RunRecord, Stopped } from '../../../frames/record-data.ts';
import type { FileCounts } from '@fleetloom/protocol/fleet';
import type { Status } from '../../../store/records.ts';
import type { Turn } from '../../../store/frame.ts';
import type { SeenCommands } from './seen-commands.ts';
import type {
  Budget,
  ProgramWorkKind,
  RequestPurpose,
  SessionCreated,
  StopDetails,
  TurnEnd,
  UsageTotals,
} from '../../../frames/payload-parts.ts';
import type { UnmergedChanges } from '../../../frames/workspace-frames.ts';

/**
 * The state of a session, folded from its log. Only `evolve` changes it, so that the same frames give the same state.
 */
export interface SessionState {
  readonly id: string;
  /** The session as it was created. Fields that can change are separate. */
  readonly created: SessionCreated;
  agent: SessionCreated['agent'];
  title: string | null;
  metadata: JsonObject;
  budget: Budget | null;
  status: Status;
  stop: Stopped;
  isArchived: boolean;
  readonly threads: Map<string, ThreadState>;
  /** The recorded workspace; null before it is opened, and for sessions that are not recorded. */
  workspace: RecordedWorkspace | null;
  /** Changes of a thread that are being merged; null if none are. */
  merging: Merging | null;
  /** The workspace was discarded and not opened again. */
  isDiscarded: boolean;
  run: Run | null;
  /** The run in progress, or the last one. */
  newestRun: RunRecord | null;
  /** The beginning of the first message, by which a session without a title is named. */
  firstMessage: string | null;
  /** Why the newest run failed. */
  runError: string | null;
  usage: UsageTotals;
  requests: number;
  /** Time during which at least one thread was running. */
  active: Stopwatch;
  createdAt: number;
  /** When the last frame was written. */
  updatedAt: number;
}

/** The recorded files of a session, as trees of its snapshots. */
export interface RecordedWorkspace {
  /** The tree that the agents began with. */
  readonly opened: string;
  /** The last recorded tree. */
  readonly tree: string;
  /** The difference between the two trees. */
  readonly counts: FileCounts;
}

/** The worktree of a thread, as trees of the snapshots of the session. */
export interface Isolation {
  /** The last recorded tree; null before the worktree is created and after it was discarded. */
  readonly tree: string | null;
  /** The tree that the worktree began with, or the one that was last merged. */
  readonly merged: string | null;
  readonly branch: string | null;
  readonly unmerged: UnmergedChanges | null;
}

/** A merge in progress: some of its files may be written already. */
export interface Merging {
  readonly threadId: string;
  /** The tree of the parent thread's workspace before and after the merge. */
  readonly from: string;
  readonly tree: string;
  /** The merged tree of the thread. */
  readonly merged: string;
  readonly toolUseId: string | null;
  readonly by: string | null;
}

/** The state of the program that runs a thread as its main agent. */
export interface ProgramState {
  /** The program's id of the conversation; null until the conversation begins. */
  readonly conversation: string | null;
  /** The program's id of the last message of the last completed turn. */
  readonly conversationAt: string | null;
  /** The conversation belongs to the session that this one was forked from: the program must copy it first. */
  readonly isForked: boolean;
  /** Work of the program that belongs to no turn, by id. */
  readonly work: Readonly<Record<string, ProgramWork>>;
}

/** The state of a program that has not started. */
export const noProgram: ProgramState = { conversation: null, conversationAt: null, isForked: false, work: {} };

/** Work of a program outside of turns. */
export interface ProgramWork {
  readonly kind: ProgramWorkKind;
  readonly description: string;
  readonly since: number;
  /** When the work no longer counts as in progress; null: when the program reports its end. */
  readonly until: number | null;
}

/** The run in progress. */
export interface Run {
  readonly id: string;
  nextStreamId: number;
  /** How the last turn of the primary thread ended. */
  outcome: { readonly end: TurnEnd; readonly error: string | null; readonly content: string } | null;
}

/** A duration that grows only while `since` is set. */
export interface Stopwatch {
  totalMs: number;
  since: number | null;
}

/** The state of one thread. */
export interface ThreadState {
  readonly id: string;
  readonly parentId: string | null;
  readonly depth: number;
  readonly agentName: string;
  /** The task that it was started for, if it is one of the program's own types of agents. */
  readonly title: string | null;
  /** The index of the agent in the roster; null for the session's own agent. */
  readonly member: number | null;
  /** For a sub-agent of a program: the program's id of it. */
  readonly programKey: string | null;
  /** The program's id of the call that started it. */
  readonly programCall: string | null;
  /** Used if a program runs the thread as its main agent. */
  program: ProgramState;
  /** The thread's own worktree; null: it works in the workspace of its parent thread, the primary thread in that of the session. */
  isolation: Isolation | null;
  /** The newest turn of its parent, in this run, that sent a message to it. */
  calledBy: number | null;
  /** The parent's `delegate` call that waits for its first turn. */
  joinedBy: { readonly toolUseId: string; readonly index: number } | null;
  status: Status;
  stop: Stopped;
  isArchived: boolean;
  /** Whether its last turn failed. */
  hasFailed: boolean;
  turn: OpenTurn | null;
  /** Messages for the next turn, in order. */
  inbox: Waiting[];
  history: Message[];
  /** Blocks of the model response that is being logged. */
  blocks: AssistantBlock[];
  /** Tool calls of the newest model response, in order, until their results are in the history. */
  calls: Map<string, Call>;
  /** Null if text commands are not run for this thread. */
  readonly seen: SeenCommands | null;
  usage: UsageTotals;
  /** Usage of the newest model response, which shows how full the context window is. Null before the first one and after a compaction. */
  answerUsage: UsageTotals | null;
  active: Stopwatch;
  readonly createdAt: number;
  startedAt: number | null;
  updatedAt: number;
}

/** A message that waits in the inbox of a thread. */
export type Waiting =
  | { readonly type: 'user.message'; readonly id: string; readonly content: readonly InputBlock[] }
  | { readonly type: 'system.message'; readonly id: string; readonly content: readonly TextBlock[] }
  | {
      readonly type: 'letter';
      readonly id: string;
      readonly content: readonly InputBlock[];
      /** Delivered with the next turn, without beginning one. */
      readonly isQuiet: boolean;
    };

/** The open turn of a thread. */
export interface OpenTurn extends Turn {
  readonly startedAt: number;
  /** The index in the thread's history at which the turn begins. */
  historyFrom: number;
  phase: Phase;
  /** Model requests so far. */
  iteration: number;
  /** Failed model requests since the last successful one. */
  failures: number;
  /** Compactions since the last model response. */
  compactions: number;
  /** Model responses with text commands that were not run because the thread had read them before. */
  quotes: number;
  /** The turn was interrupted, and tools have yet to stop. */
  stopping: { readonly isReported: boolean } | null;
  /** The text of the newest model response with text: the final text of the turn. */
  said: string;
  /** The stop reason of the newest model response. */
  answer: { readonly reason: string; readonly details: StopDetails | null } | null;
}

/** What an open turn waits for. */
export type Phase =
  /** A model request is due. */
  | { readonly type: 'due'; readonly purpose: RequestPurpose }
  | { readonly type: 'requesting'; readonly startId: string; readonly purpose: RequestPurpose }
  | { readonly type: 'waiting'; readonly at: number; readonly purpose: RequestPurpose }
  /** The model has responded; its calls are open. */
  | { readonly type: 'calling' }
  /** A program runs the turn. `startId`: the open model request. */
  | { readonly type: 'program'; readonly startId: string | null };

/** A tool call of the newest model response. */
export interface Call {
  /** The id of its event. */
  readonly id: string;
  /** The model's id of the call. */
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
  readonly kind: 'builtin' | 'session' | 'mcp' | 'custom';
  /** The name of the MCP server of the tool: another server may have a tool of the same name. */
  readonly serverName: string | null;
  readonly isAsked: boolean;
  /** For a program's call: whether the program has requested a decision. */
  readonly isRequested: boolean;
  /** For a program's call: the id of the accepted answer that was not delivered to the program yet. */
  readonly answerId: string | null;
  /** The call was written as text, so the model gets the result as text, too. */
  readonly isCommand: boolean;
  readonly runsAt: 'server' | 'worker' | 'client';
  progress: Progress;
  /** For `delegate`: the results, by the index of the task. */
  readonly answers: Map<number, Answer>;
  /** For `delegate`: the threads that work on it, by the index of the task. */
  readonly children: Map<number, string>;
}

/** The result of a tool call. */
export interface Answer {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/** How far a tool call is. */
export type Progress =
  /** For a program's call: the program may still request a decision, run the call or refuse it. A decision may arrive before the request. */
  | { readonly type: 'proposed' }
  /** An approval is pending. */
  | { readonly type: 'asking' }
  | { readonly type: 'due' }
  /** A client or worker provides the result. */
  | { readonly type: 'outside' }
  | { readonly type: 'running'; readonly since: number }
  /** Child threads run it. */
  | { readonly type: 'joining'; readonly since: number }
  /** The call must not run. Its result is logged in the same write. */
  | { readonly type: 'refused'; readonly message: string | null }
  | ({ readonly type: 'done' } & Answer);

/** Zero usage. */
export const noUsage: UsageTotals = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_5m_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  cost_nano_usd: 0,
};

/** The reason in the log for turns that ended because the node with the workspace is gone. */
export const WORKSPACE_LOST = 'workspace_lost';

/** The stop of a turn that ended normally. */
export const endTurn: Stopped = { reason: { type: 'end_turn' }, details: null };

/** The primary thread, which is the coordinator's. */
export function primaryOf(state: SessionState): ThreadState {
  return threadOf(state, state.created.primary_thread_id);
}

/** A thread of the session, which must exist. */
export function threadOf(state: SessionState, id: string): ThreadState {
  const thread = state.threads.get(id);
  if (thread === undefined) throw new Error(`${state.id} has no thread ${id}`);
  return thread;
}

/** The threads that a thread has created. */
export function childrenOf(state: SessionState, id: string): ThreadState[] {
  return [...state.threads.values()].filter(({ parentId }) => parentId === id);
}

/** The calls of a thread that have no result yet. */
export function openCallsOf(thread: ThreadState): Call[] {
  return [...thread.calls.values()].filter(({ progress }) => progress.type !== 'done');
}

/** A tool result with one text. */
export function textAnswer(text: string, isError: boolean): Answer {
  return { content: [{ type: 'text', text }], isError };
}

export type { Stopped };
