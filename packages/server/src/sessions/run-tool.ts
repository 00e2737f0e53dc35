import { limits } from '../base/limits.ts';
import type { Schedule } from '../base/schedule.ts';
import { type ToolResult, textResult } from '../tools/tool.ts';
import type { Offers } from './run-request.ts';
import { type Call, type SessionState, type ThreadState, threadOf } from './state.ts';

export interface ToolRunner {
  readonly offers: Offers;
  readonly schedule: Schedule;
  /** The directory that the agents of the session share. Where several nodes share sessions, it binds this one here. */
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  /** Asked right before a tool begins: if the session is not ours any more, the signal of the call says so after this. */
  readonly checkOwner: () => void;
  /** The thread will never use a tool again: what they keep for it can be let go. */
  readonly onThreadEnd: (threadId: string) => void;
}

/** Runs one call. Whatever happens, it has a result, and soon after the signal too. */
export async function runTool(
  runner: ToolRunner,
  state: SessionState,
  threadId: string,
  call: Call,
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    return await Promise.race([run(runner, state, threadId, call, signal), neverLongAfter(signal, runner.schedule)]);
  } catch (error) {
    // Tools do not throw. One that does all the same must not take the session with it.
    return textResult(`The tool ${call.name} broke: ${error instanceof Error ? error.message : String(error)}`, {
      isError: true,
    });
  }
}

async function run(
  { offers, openWorkspace, checkOwner }: ToolRunner,
  state: SessionState,
  threadId: string,
  { name, input, serverName }: Call,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { tools } = await offers.get(state, threadOf(state, threadId));
  const tool = tools.get(name);
  // Somebody may have consented to it at one server; the same name means another one by now.
  const isElsewhere = tool?.kind === 'mcp' && tool.serverName !== serverName;
  if (tool === undefined || tool.kind === 'custom' || isElsewhere) {
    return textResult(`The tool ${name} is not available any more.`, { isError: true });
  }
  const workspace = once(() => openWorkspace(state.id));
  // Before it begins, and each time: what was mounted meanwhile has to be there, also for a shell that is open already.
  // Others ask for it only if they have more to tell than fits into a result.
  if (tool.kind === 'builtin' && tool.isSandboxed) await workspace();
  checkOwner();
  if (signal.aborted) return textResult('It was stopped before it began.', { isError: true });
  const hadShell = name === 'bash' && hasRun(threadOf(state, threadId), 'bash');
  return await tool.run(input, { sessionId: state.id, threadId, openWorkspace: workspace, signal, hadShell });
}

/** Whether an earlier answer of the thread called the tool. */
function hasRun({ history, calls }: ThreadState, toolName: string): boolean {
  const open = new Set([...calls.values()].map(({ callId }) => callId));
  return history.some(({ content }) =>
    content.some((block) => block.type === 'tool_use' && block.name === toolName && !open.has(block.id)),
  );
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}

function neverLongAfter(signal: AbortSignal, schedule: Schedule): Promise<ToolResult> {
  const { promise, resolve } = withResolvers<ToolResult>();
  const giveUp = () => {
    schedule(() => resolve(textResult('The tool did not stop in time.', { isError: true })), limits.toolStopMsMax);
  };
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, { once: true });
  return promise;
}

/** `Promise.withResolvers` needs Node 22. */
function withResolvers<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
