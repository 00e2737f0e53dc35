import type { Done, GateMode } from '@fleetloom/protocol/fleet';
import { chooseCoordinator } from '../agents/choose-coordinator.ts';
import { readAgents } from '../agents/read-agents.ts';
import { saveAgents } from '../agents/save-agents.ts';
import { DEFAULT_MODEL, OFFLINE_MODEL, toModelName } from '../agents/to-model-name.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { answerAsks, type AskMode } from '../run/answer-asks.ts';
import { listenForEnd } from '../run/asked.ts';
import { followRun, type RunEnd } from '../run/follow-run.ts';
import { openServer, type RunServer, type RunServerOptions } from '../run/open-server.ts';
import { createJsonView, createTextView, type RunView } from '../run/run-view.ts';
import { type RunRequest, startRun } from '../run/start-run.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface RunOptions extends RunServerOptions {
  agents?: string;
  agent?: string;
  model?: string;
  gate?: GateMode;
  approvals?: AskMode;
  json?: boolean;
}

/** `fleetloom run`: gives a task to a fleet, shows it at work and prints what comes out. */
export async function run(io: Io, task: string | undefined, options: RunOptions): Promise<number> {
  const message = await readTask(io, task);
  const asked = listenForEnd(io);
  // Before the server: what is wrong with the directory is known sooner.
  const files = options.agents === undefined ? [] : await readAgents(options.agents);
  const coordinator = options.agents === undefined ? undefined : chooseCoordinator(files, options.agent);
  for (const { file, notes } of files) for (const note of notes) tell(io, options, `${file}: ${note}`);
  if (options.model !== undefined && options.agent !== undefined && coordinator === undefined) {
    throw new UsageError(
      '--model is for agents that do not say which; the server’s agent has its own.',
      'Leave it out.',
    );
  }

  const server = await openServer(io, options);
  try {
    const api = createServerApi(server.connection, limits.callMs, () => io.timers.now());
    const model = chooseModel(io, options, server);
    const agent =
      coordinator === undefined
        ? toAgent(options.agent, model)
        : { agent: await saveAgents(api, files, coordinator, model) };
    const gate = options.gate ?? (options.json === true ? 'strict' : 'live');
    return await carryOut(io, options, { api, server, asked, request: { message, gate, agent } });
  } finally {
    asked.stop();
    const left = await server.close();
    if (left !== undefined) tell(io, options, `files that agents wrote are in ${left}`);
  }
}

interface Task {
  readonly api: ServerApi;
  readonly server: RunServer;
  readonly asked: ReturnType<typeof listenForEnd>;
  readonly request: RunRequest;
}

async function carryOut(io: Io, options: RunOptions, { api, server, asked, request }: Task): Promise<number> {
  if (asked.signal !== undefined) return exitCode[asked.signal];
  const first = await startRun(api, request);
  const asks = answerAsks(io, {
    api,
    sessionId: first.session_id,
    mode: options.approvals ?? 'ask',
    isOwn: server.isOwn,
    isShown: (toolUseId) => view.shows(toolUseId),
    onNote: (text) => view.note(text),
    onInterrupt: () => asked.ask('SIGINT'),
  });
  const now = () => api.clock.toServerTime(io.timers.now());
  const view: RunView = options.json === true ? createJsonView(io) : await createTextView(io, () => asks.isOpen, now);
  let end: RunEnd;
  try {
    end = await followRun(
      io,
      api,
      {
        first,
        gate: request.gate,
        onNote: (text) => view.note(text),
        onEvent: async (event) => {
          asks.take(event);
          await view.take(event);
        },
      },
      asked,
    );
  } finally {
    asks.stop();
    view.stop();
  }
  if (options.json !== true) await printContent(io, end.done);
  if (asked.signal !== undefined) return exitCode[asked.signal];
  return judge(io, end.done);
}

async function readTask(io: Io, task: string | undefined): Promise<string> {
  const text = task === undefined || task === '-' ? await readInput(io) : task;
  if (text.trim() !== '') return text;
  throw new UsageError('There is no task.', 'Say what is to be done: fleetloom run "Summarise README.md"');
}

async function readInput(io: Io): Promise<string> {
  if (io.stdin.isTTY === true) return '';
  const chunks: Uint8Array[] = [];
  for await (const chunk of io.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function chooseModel(io: Io, options: RunOptions, { hasModels }: RunServer): string {
  if (options.model !== undefined) return toModelName(options.model);
  if (hasModels) return DEFAULT_MODEL;
  if (options.agent === undefined || options.agents !== undefined) {
    tell(
      io,
      options,
      `ANTHROPIC_API_KEY is not set: agents without a model use ${OFFLINE_MODEL}, which repeats its task`,
    );
  }
  return OFFLINE_MODEL;
}

/** One of the server's, or one for this run that may delegate to all of them. */
function toAgent(named: string | undefined, model: string): RunRequest['agent'] {
  return named === undefined ? { agent_def: { name: 'assistant', model } } : { agent: named };
}

/** The synthesis as it is; on a terminal without what a terminal would obey. */
async function printContent(io: Io, done: Done | undefined): Promise<void> {
  if (done === undefined || done.content === '') return;
  const text = io.stdout.isTTY === true ? cleanText(done.content) : done.content;
  await writeText(io.stdout, text.endsWith('\n') ? text : `${text}\n`);
}

function judge(io: Io, done: Done | undefined): number {
  if (done?.ok === true) return exitCode.ok;
  const why = done?.error ?? done?.error_code ?? 'its end was not seen';
  io.stderr.write(`fleetloom: The run failed: ${cleanLine(why)}\n`);
  return done?.error_code === 'unknown_agent' ? exitCode.notFound : exitCode.failed;
}

function tell(io: Io, { json }: RunOptions, text: string): void {
  if (json !== true) io.stderr.write(`fleetloom: ${text}\n`);
}
