import type { Done, FileCounts, GateMode } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { AgentFile } from '../agents/agent-file.ts';
import { chooseCoordinator } from '../agents/choose-coordinator.ts';
import { readAgents } from '../agents/read-agents.ts';
import { saveAgents } from '../agents/save-agents.ts';
import { DEFAULT_MODEL, toModelName } from '../agents/to-model-name.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { beginRun } from './begin-run.ts';
import { decideApprovals, type ApprovalMode } from './decide-approvals.ts';
import { listenForStop } from './stop-listener.ts';
import { followRun, type RunEnd } from './follow-run.ts';
import { openServer, type RunServer, type RunServerOptions } from './open-server.ts';
import { createJsonView, createTextView, type RunView } from './run-view.ts';
import type { RunRequest } from './start-run.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { findUnsandboxedPrograms } from '../agents/require-approval.ts';
import { keepRun, readRun, removeRun } from '../workspace/kept-runs.ts';
import { finishWorkspace } from './finish-workspace.ts';
import { chooseWorkspace, type RunWorkspace, type WorkspaceOptions } from './run-workspace.ts';

/** Options of `run`. */
export interface RunOptions extends RunServerOptions, WorkspaceOptions {
  agents?: string;
  agent?: string;
  model?: string;
  gate?: GateMode;
  approvals?: ApprovalMode;
  json?: boolean;
}

/** `fleetloom run`: sends a task to an agent, shows the run and prints its result. */
export async function run(io: Io, task: string | undefined, options: RunOptions): Promise<number> {
  const message = await readTask(io, task);
  const stop = listenForStop(io);
  // Read before the server starts, so that errors in the definitions are reported at once.
  const files = options.agents === undefined ? [] : await readAgents(options.agents);
  const coordinator = options.agents === undefined ? undefined : chooseCoordinator(files, options.agent);
  for (const { file, notes } of files) for (const note of notes) printNote(io, options, `${file}: ${note}`);
  if (options.model !== undefined && options.agent !== undefined && coordinator === undefined) {
    throw new UsageError(
      `--model has no effect on "${options.agent}": an agent of the server has its own model.`,
      'Omit --model.',
    );
  }

  const workspace = await chooseWorkspace(io, options);
  const server = await openServer(io, options, workspace);
  let isOver = false;
  try {
    const api = createServerApi(server.connection, limits.callMs, () => io.timers.now());
    const model = chooseModel(options, files, server);
    const agent =
      coordinator === undefined
        ? await toAgent(api, options.agent, model, workspace)
        : { agent: await saveAgents(api, files, coordinator, model) };
    const gate = options.gate ?? (options.json === true ? 'strict' : 'live');
    const request = { message, gate, agent, resource: workspace?.resource };
    const ended = await runTask(io, options, { api, server, stop, workspace, request });
    isOver = !ended.isKept;
    return ended.code;
  } finally {
    stop.stop();
    const left = await server.close();
    if (left !== undefined) printNote(io, options, `files written by agents are in ${left}`);
    // The data directory of this run is removed if it contains nothing that a later command could use.
    const isOwn = server.data !== undefined && options.data === undefined;
    if (isOwn && (isOver || readRun(server.data) === undefined)) await removeRun(server.data);
  }
}

interface Task {
  readonly api: ServerApi;
  readonly server: RunServer;
  readonly stop: ReturnType<typeof listenForStop>;
  readonly workspace: RunWorkspace | undefined;
  readonly request: RunRequest;
}

interface TaskEnd {
  readonly code: number;
  /** Whether the data of the run is needed later. */
  readonly isKept: boolean;
}

async function runTask(io: Io, options: RunOptions, task: Task): Promise<TaskEnd> {
  const { api, server, stop } = task;
  if (stop.signal !== undefined) return { code: exitCode[stop.signal], isKept: false };
  const { workspace } = task;
  const flags = toFlags(options, server);
  const { first, kept } = await beginRun(io, { ...task, flags, options });
  const approvals = decideApprovals(io, {
    api,
    sessionId: first.session_id,
    mode: options.approvals ?? 'ask',
    isOwn: server.isOwn,
    isShown: (toolUseId) => view.shows(toolUseId),
    onNote: (text) => view.note(text),
    onInterrupt: () => stop.request('SIGINT'),
  });
  const now = () => api.clock.toServerTime(io.timers.now());
  const view: RunView =
    options.json === true ? createJsonView(io) : await createTextView(io, () => approvals.isOpen, now);
  let end: RunEnd;
  try {
    end = await followRun(
      io,
      api,
      {
        first,
        gate: task.request.gate,
        onNote: (text) => view.note(text),
        onEvent: async (event) => {
          approvals.take(event);
          await view.take(event);
        },
      },
      stop,
    );
  } finally {
    approvals.stop();
    view.stop();
  }
  if (options.json !== true) await printContent(io, end.done);
  const isStopped = stop.signal !== undefined;
  const onChanges = async (changes: FileCounts) => {
    if (kept !== undefined) await keepRun(kept.data, { ...kept.session, changes });
  };
  const ended = workspace && { api, sessionId: first.session_id, workspace, flags, options, isStopped, onChanges };
  const changes = ended && (await finishWorkspace(io, ended));
  const code = stop.signal === undefined ? toRunExitCode(io, end.done) : exitCode[stop.signal];
  return { code, isKept: changes !== undefined };
}

/** The flags with which later commands find the session. */
function toFlags({ url, data }: RunOptions, { isOwn }: RunServer): readonly string[] {
  if (isOwn) return data === undefined ? [] : ['--data', data];
  return url === undefined ? [] : ['--url', url];
}

async function readTask(io: Io, task: string | undefined): Promise<string> {
  const text = task === undefined || task === '-' ? await readInput(io) : task;
  if (text.trim() !== '') return text;
  throw new UsageError('The task is missing.', 'Pass it as an argument: fleetloom run "Summarise README.md"');
}

async function readInput(io: Io): Promise<string> {
  if (io.stdin.isTTY === true) return '';
  const chunks: Uint8Array[] = [];
  for await (const chunk of io.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** The model of agents that do not name one. Without a model the run is rejected: a scripted model would repeat the task as its result. */
function chooseModel(options: RunOptions, files: readonly AgentFile[], { hasModels }: RunServer): string {
  if (options.model !== undefined) return toModelName(options.model);
  const isUsed = options.agents === undefined ? options.agent === undefined : files.some(({ model }) => model === null);
  if (hasModels || !isUsed) return DEFAULT_MODEL;
  throw new UsageError(
    'There is no model for this run: ANTHROPIC_API_KEY is not set, and --model is not given.',
    'Set ANTHROPIC_API_KEY, or pass --model claude-code/default to use your installed Claude Code, or --model scripted/echo to try a run without a model.',
  );
}

/** The named agent of the server, or a definition of an assistant for this run. */
async function toAgent(
  api: ServerApi,
  named: string | undefined,
  model: string,
  workspace: RunWorkspace | undefined,
): Promise<RunRequest['agent']> {
  if (named !== undefined) return { agent: named };
  if (workspace === undefined) return { agent_def: { name: 'assistant', model } };
  // Without tools the agent could not read the repository.
  const asks = (await findUnsandboxedPrograms(api, [], model)).size > 0;
  const policy = asks ? { default_config: { permission_policy: { type: 'always_ask' } } } : {};
  return { agent_def: { name: 'assistant', model, tools: [{ type: 'agent_toolset_20260401', ...policy }] } };
}

/** Prints the result; on a terminal without control characters. */
async function printContent(io: Io, done: Done | undefined): Promise<void> {
  if (done === undefined || done.content === '') return;
  const text = io.stdout.isTTY === true ? cleanText(done.content) : done.content;
  await writeText(io.stdout, text.endsWith('\n') ? text : `${text}\n`);
}

function toRunExitCode(io: Io, done: Done | undefined): number {
  if (done?.ok === true) return exitCode.ok;
  const why = done?.error ?? done?.error_code ?? 'the connection was lost before the run ended';
  io.stderr.write(`fleetloom: The run failed: ${cleanLine(why)}\n`);
  return done?.error_code === 'unknown_agent' ? exitCode.notFound : exitCode.failed;
}

function printNote(io: Io, { json }: RunOptions, text: string): void {
  if (json !== true) io.stderr.write(`fleetloom: ${text}\n`);
}
