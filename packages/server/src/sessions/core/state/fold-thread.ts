import { quoteResult } from '@fleetloom/protocol/fleet';
import type { InputBlock, Message, TextBlock, ToolResultBlock } from '../../../base/content.ts';
import type { Turn } from '../../../store/frame.ts';
import type { FramePayloads } from '../../../frames/frames.ts';
import { noSeenCommands, seeCommands } from './seen-commands.ts';
import {
  type Answer,
  type Call,
  endTurn,
  noProgram,
  noUsage,
  type OpenTurn,
  type Phase,
  type Progress,
  type Stopwatch,
  type ThreadState,
  textAnswer,
  type Waiting,
} from './state.ts';

// The steps of `evolve` that concern one thread.

/** Field by field, as is a turn: many are made at once, and spreading an object takes ten times as long. */
export function toThread(
  made: Pick<
    ThreadState,
    | 'id'
    | 'parentId'
    | 'depth'
    | 'agentName'
    | 'title'
    | 'member'
    | 'programKey'
    | 'programCall'
    | 'isolation'
    | 'joinedBy'
  > & {
    time: number;
    hasTextCommands: boolean;
  },
): ThreadState {
  return {
    id: made.id,
    parentId: made.parentId,
    depth: made.depth,
    agentName: made.agentName,
    title: made.title,
    member: made.member,
    programKey: made.programKey,
    programCall: made.programCall,
    program: noProgram,
    isolation: made.isolation,
    calledBy: null,
    joinedBy: made.joinedBy,
    status: 'idle',
    stop: endTurn,
    isArchived: false,
    hasFailed: false,
    turn: null,
    inbox: [],
    history: [],
    blocks: [],
    calls: new Map(),
    seen: made.hasTextCommands ? noSeenCommands() : null,
    usage: noUsage,
    answerUsage: null,
    active: { totalMs: 0, since: null },
    createdAt: made.time,
    startedAt: null,
    updatedAt: made.time,
  };
}

/** The state of a turn that begins. */
export function toOpenTurn(thread: ThreadState, turn: Turn, startedAt: number, phase: Phase): OpenTurn {
  return {
    streamId: turn.streamId,
    depth: turn.depth,
    run: turn.run,
    startedAt,
    historyFrom: thread.history.length,
    phase,
    iteration: 0,
    failures: 0,
    compactions: 0,
    quotes: 0,
    stopping: null,
    said: '',
    answer: null,
  };
}

/** Removes a message from the inbox and returns it. */
export function takeFromInbox(thread: ThreadState, id: string): Waiting | undefined {
  const found = thread.inbox.find((waiting) => waiting.id === id);
  if (found !== undefined) thread.inbox = thread.inbox.filter((waiting) => waiting !== found);
  return found;
}

/** Marks a message so that it does not begin a turn. */
export function hush(waiting: Waiting): Waiting {
  return waiting.type === 'letter' ? { ...waiting, isQuiet: true } : waiting;
}

type Use = Pick<FramePayloads['agent.tool_use'], 'id' | 'call_id' | 'name' | 'input' | 'evaluated_permission'> &
  Pick<Call, 'kind' | 'runsAt'> & {
    readonly is_command?: true;
    readonly mcp_server_name?: string;
    readonly approval?: 'on_request';
  };

/** Adds a tool call to a thread. */
export function addCall(thread: ThreadState, use: Use): void {
  const { id, call_id: callId, name, input, kind, runsAt, is_command: isCommand = false } = use;
  if (!isCommand) thread.blocks.push({ type: 'tool_use', id: callId, name, input });
  thread.calls.set(id, {
    id,
    callId,
    name,
    input,
    kind,
    serverName: use.mcp_server_name ?? null,
    isAsked: use.evaluated_permission === 'ask',
    isRequested: false,
    answerId: null,
    isCommand,
    runsAt,
    progress: firstProgress(use),
    answers: new Map(),
    children: new Map(),
  });
}

/** The program waits for a decision about this input, which may contain more than the input of the call. */
export function requestApproval(
  thread: ThreadState,
  { tool_use_id: id, input }: FramePayloads['approval.requested'],
): void {
  const call = thread.calls.get(id)!;
  const progress: Progress = { type: call.kind === 'custom' ? 'outside' : 'asking' };
  thread.calls.set(id, { ...call, input: input === undefined ? call.input : input, isRequested: true, progress });
}

function firstProgress({ evaluated_permission: permission, runsAt, approval }: Use): Progress {
  if (permission === 'deny') return { type: 'refused', message: null };
  if (approval === 'on_request') return { type: 'proposed' };
  if (permission === 'ask') return { type: 'asking' };
  return { type: runsAt === 'server' ? 'due' : 'outside' };
}

/** Sets the result of a call. */
export function finishCall(thread: ThreadState, id: string, answer: Answer): void {
  const call = thread.calls.get(id);
  if (call === undefined) return;
  call.progress = { type: 'done', ...answer };
  see(thread, answer.content);
}

/** The decision of a person; null: the program received it, or never will. */
export function setAnswer(thread: ThreadState, id: string, answerId: string | null): void {
  const call = thread.calls.get(id);
  if (call !== undefined) thread.calls.set(id, { ...call, answerId });
}

/** Records text commands in content that the thread did not write. */
export function see({ seen }: ThreadState, content: readonly unknown[]): void {
  if (seen !== null) seeCommands(seen, content);
}

/** Removes finished calls. Calls of a program may outlast the model response that made them. */
export function forgetDone(thread: ThreadState): void {
  for (const { id, progress } of thread.calls.values()) if (progress.type === 'done') thread.calls.delete(id);
}

/** The results of the last model response become part of the history. */
export function emitResults(thread: ThreadState): void {
  thread.history.push(...resultsOf(thread));
  thread.calls = new Map();
}

/**
 * Removes a turn that the model refused from the history: the model would refuse every later request with the same
 * content.
 */
export function forgetTurn(thread: ThreadState): void {
  thread.history = thread.history.slice(0, thread.turn!.historyFrom);
  thread.answerUsage = null;
}

/** In the order of the calls. Results of text commands come last, as the Messages API requires. */
export function resultsOf({ calls }: ThreadState): Message[] {
  const all = [...calls.values()];
  const results = all.filter(({ isCommand }) => !isCommand).map(toResultBlock);
  const texts = all.filter(({ isCommand }) => isCommand).flatMap(toResultTexts);
  return all.length === 0 ? [] : [{ role: 'user', content: [...results, ...texts] }];
}

function answerOf({ progress }: Call): Answer {
  return progress.type === 'done' ? progress : textAnswer('There is no result.', true);
}

/** Quoted, so that nothing runs again when the model repeats it. */
function toResultTexts(call: Call): InputBlock[] {
  const content = answerOf(call).content.flatMap((block): InputBlock[] => {
    if (block.type === 'search_result') return [];
    return block.type === 'text' ? [{ type: 'text', text: quoteResult(block.text) }] : [block];
  });
  return [{ type: 'text', text: 'Result of your command:' }, ...content];
}

function toResultBlock(call: Call): ToolResultBlock {
  const { callId } = call;
  const { content, isError } = answerOf(call);
  return { type: 'tool_result', tool_use_id: callId, content, is_error: isError };
}

/** The text blocks of content as one string. */
export function textOf(content: readonly { readonly type: string }[]): string {
  const texts = content.filter((block): block is TextBlock => block.type === 'text');
  return texts.map(({ text }) => text).join('\n\n');
}

/** A message from another thread, with its sender for the model. */
export function withSender(letter: FramePayloads['agent.thread_message_received']): readonly InputBlock[] {
  const { from_session_thread_id: from, from_agent_name: name, content } = letter;
  const who = name === null ? 'the coordinator' : `the agent "${name}" (thread ${from})`;
  return [{ type: 'text', text: `Message from ${who}:` }, ...content];
}

/** A system message as content for the model. */
export function toSystemNote(content: readonly TextBlock[]): readonly InputBlock[] {
  return [{ type: 'text', text: 'Message from the system, not from the user:' }, ...content];
}

/** Starts a stopwatch unless it is running. */
export function startWatch(watch: Stopwatch, time: number): void {
  watch.since ??= time;
}

/** Stops a stopwatch and adds the time that has passed. */
export function stopWatch(watch: Stopwatch, time: number): void {
  if (watch.since === null) return;
  watch.totalMs += Math.max(0, time - watch.since);
  watch.since = null;
}
