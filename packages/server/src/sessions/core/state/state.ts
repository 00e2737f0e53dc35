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
  /** As it was created; fields that can change are beside it. */
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
  /** The workspace was discarded, and was not opened again. */
  isDiscarded: boolean;
  run: Run | null;
  /** The one that goes on, or the last one that did. */
  newestRun: RunRecord | null;
  /** The beginning of the first message, by which a session without a title is named. */
  firstMessage: string | null;
  /** Why the newest run failed. */
  runError: string | null;
  usage: UsageTotals;
  requests: number;
  /** How long it was running, threads that overlap counted once. */
  active: Stopwatch;
  createdAt: number;
  /** When the last frame was written. */
  updatedAt: number;
}

/** The recorded files of a session, as trees of its snapshots. */
export interface RecordedWorkspace {
  /** As the agents found it first. */
  readonly opened: string;
  /** As it was recorded last. */
  readonly tree: string;
  /** What differs between the two. */
  readonly counts: FileCounts;
}

/** The worktree of a thread, as trees of the snapshots of the session. */
export interface Isolation {
  /** As it was recorded last; null before it is made, and after it was discarded. */
  readonly tree: string | null;
  /** What it began with, or what was merged last. */
  readonly merged: string | null;
  readonly branch: string | null;
  readonly unmerged: UnmergedChanges | null;
}

/** A merge that is under way: its files may be written in part. */
export interface Merging {
  readonly threadId: string;
  /** The files of the workspace of its parent thread before, and afterwards. */
  readonly from: string;
  readonly tree: string;
  /** The files of the thread. */
  readonly merged: string;
  readonly toolUseId: string | null;
  readonly by: string | null;
}

/** What the log has of the program that runs a thread as its main agent. */
export interface ProgramState {
  /** How the program named the conversation; null as long as it has not begun. */
  readonly conversation: string | null;
  /** The last message of the last turn that has ended, as the program names it. */
  readonly conversationAt: string | null;
  /** The conversation is that of the session that this one was forked from: the program has to make it its own. */
  readonly isForked: boolean;
  /** What the program has under way outside of turns, by its id. */
  readonly work: Readonly<Record<string, ProgramWork>>;
}

/** A program that has not begun. */
export const noProgram: ProgramState = { conversation: null, conversationAt: null, isForked: false, work: {} };

/** Work of a program outside of turns. */
export interface ProgramWork {
  readonly kind: ProgramWorkKind;
  readonly description: string;
  readonly since: number;
  /** When it no longer counts as under way; null: when the program reports its end. */
  readonly until: number | null;
}

/** The run that is under way. */
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

/** The state of one thread. */
export interface ThreadState {
  readonly id: string;
  readonly parentId: string | null;
  readonly depth: number;
  readonly agentName: string;
  /** What it was started for, if it is one of the program's own kinds of agents. */
  readonly title: string | null;
  /** An entry of the session's members; null for the session's own agent. */
  readonly member: number | null;
  /** Of a sub-agent of a program: how the program names it. */
  readonly programKey: string | null;
  /** The call that made it, as that program names it. */
  readonly programCall: string | null;
  /** Of a thread that a program runs as its main agent. */
  program: ProgramState;
  /** Its own worktree; null: it works in the workspace of its parent thread, the primary thread in that of the session. */
  isolation: Isolation | null;
  /** The newest turn of its parent, in this run, that spoke to it. */
  calledBy: number | null;
  /** The call of its parent that waits for its first turn. */
  joinedBy: { readonly toolUseId: string; readonly index: number } | null;
  status: Status;
  stop: Stopped;
  isArchived: boolean;
  /** Whether its last turn failed. */
  hasFailed: boolean;
  turn: OpenTurn | null;
  /** Letters and messages that wait for the next turn, in their order. */
  inbox: Waiting[];
  history: Message[];
  /** Blocks of the model response that is being logged. */
  blocks: AssistantBlock[];
  /** Of the newest model response, in its order, until their results are in the history. */
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

/** The turn of a thread that is under way. */
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
  /** The turn was interrupted, and tools have yet to stop. */
  stopping: { readonly isReported: boolean } | null;
  /** The text of its newest answer that had any: what the agent has to say in the end. */
  said: string;
  /** Why the model stopped when it last answered. */
  answer: { readonly reason: string; readonly details: StopDetails | null } | null;
}

/** What an open turn waits for. */
export type Phase =
  /** A model request is due. */
  | { readonly type: 'due'; readonly purpose: RequestPurpose }
  | { readonly type: 'requesting'; readonly startId: string; readonly purpose: RequestPurpose }
  | { readonly type: 'waiting'; readonly at: number; readonly purpose: RequestPurpose }
  /** The model has answered; its calls are open. */
  | { readonly type: 'calling' }
  /** A program runs the turn. `startId`: the open model request. */
  | { readonly type: 'program'; readonly startId: string | null };

/** A tool call of the newest model response. */
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
  /** Of a program: the answer that was accepted for it and that the program was not handed yet. */
  readonly answerId: string | null;
  /** The call was written as text, so the model gets the result as text, too. */
  readonly isCommand: boolean;
  readonly runsAt: 'server' | 'worker' | 'client';
  progress: Progress;
  /** Of `delegate`: what came back, by the index of the task. */
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
  /** Of a program, which may yet ask for it, run it or refuse it on its own. It can be answered before the program asks. */
  | { readonly type: 'proposed' }
  /** An approval is pending. */
  | { readonly type: 'asking' }
  | { readonly type: 'due' }
  /** The client or its worker has to bring the result. */
  | { readonly type: 'outside' }
  | { readonly type: 'running'; readonly since: number }
  /** Child threads run it. */
  | { readonly type: 'joining'; readonly since: number }
  /** It must not run; its result comes with the same write. */
  | { readonly type: 'refused'; readonly message: string | null }
  | ({ readonly type: 'done' } & Answer);

/** Usage of nothing. */
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

/** The stop of a turn that ended normally. */
export const endTurn: Stopped = { reason: { type: 'end_turn' }, details: null };

/** The primary thread, which is the coordinator's. */
export function primaryOf(state: SessionState): ThreadState {
  return threadOf(state, state.created.primary_thread_id);
}

/** A thread that the log has named. */
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
