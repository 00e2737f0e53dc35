import { findBuiltInTool } from '@fleetloom/protocol/managed-agents';
import { toolLimits } from '../../tools/limits.ts';
import type { Schedule } from '../../base/schedule.ts';
import { type ToolResult, textResult } from '../../tools/tool.ts';
import type { OfferedTools } from './run-request.ts';
import { type Call, type SessionState, type ThreadState, threadOf } from '../core/state/state.ts';
import { worktreeOwnerOf } from '../core/state/workspace-of.ts';

/** What running a tool needs. */
export interface ToolRunner {
  readonly offers: OfferedTools;
  readonly schedule: Schedule;
  /**
   * Opens the directory that the agents of the session share, or the own worktree of a thread (`worktreeOwner`). Where
   * several nodes share sessions, this binds the session to this node.
   */
  readonly openWorkspace: (sessionId: string, worktreeOwner: string | null) => Promise<string>;
  /** Called right before a tool begins: aborts the signal of the call if the lease of the session is lost. */
  readonly checkOwner: () => void;
  /** Called when the thread has ended: resources that tools hold for it can be released. */
  readonly onThreadEnd: (threadId: string) => void;
}

/** Runs one tool call. It always has a result; after the signal is aborted, within a short time. */
export async function runTool(
  runner: ToolRunner,
  state: SessionState,
  threadId: string,
  call: Call,
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    return await Promise.race([run(runner, state, threadId, call, signal), timeoutAfterAbort(signal, runner.schedule)]);
  } catch (error) {
    // Tools do not throw. A defect in one must not lose the session.
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
  // The call was approved for one MCP server; the name belongs to another server by now.
  const isElsewhere = tool?.kind === 'mcp' && tool.serverName !== serverName;
  if (tool === undefined || tool.kind === 'custom' || isElsewhere) {
    return textResult(`The tool ${name} is not available any more.`, { isError: true });
  }
  const worktreeOwner = worktreeOwnerOf(state, threadId)?.id ?? null;
  const workspace = once(() => openWorkspace(state.id, worktreeOwner));
  // Before each call: files that were mounted in the meantime must be present, also for a shell that is open already.
  // Other tools open the workspace only if their output does not fit into a result.
  if (tool.kind === 'builtin' && tool.isSandboxed) await workspace();
  checkOwner();
  if (signal.aborted) return textResult('It was stopped before it began.', { isError: true });
  const hadShell = findBuiltInTool(name)?.hasShell === true && hasRun(threadOf(state, threadId), name);
  return await tool.run(input, {
    sessionId: state.id,
    threadId,
    openWorkspace: workspace,
    worktreeOwner,
    signal,
    hadShell,
  });
}

/** Whether an earlier model response of the thread called the tool. */
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

function timeoutAfterAbort(signal: AbortSignal, schedule: Schedule): Promise<ToolResult> {
  const { promise, resolve } = withResolvers<ToolResult>();
  const giveUp = () => {
    schedule(() => resolve(textResult('The tool did not stop in time.', { isError: true })), toolLimits.toolStopMsMax);
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
