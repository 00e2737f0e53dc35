import type { InputBlock } from '../../../base/content.ts';
import type { ProgramHandle } from '../engine/create-program-engine.ts';
import { JsonRpc, type RpcAnswer } from '../lines/json-rpc.ts';
import type { Fields } from '../lines/json-rpc-line.ts';
import { record, text } from '../lines/values.ts';
import { LineProgram, type LineProgramOptions } from '../process/line-program.ts';
import { MAIN, type ProgramEvent, type ProgramOptions } from '../program.ts';
import { type PermissionMode, permissionModes } from './approvals/call-policy.ts';
import { toInput } from './launch/to-input.ts';
import { toApprovalPolicy, toThreadParams, type ThreadParamsOptions } from './launch/to-thread-params.ts';
import type { ToolServer } from './server/tool-server.ts';
import { CodexTranslator } from './translate/codex-translator.ts';
import type { ThreadFacts } from './translate/sub-agents.ts';

/** Options of one running Codex. */
export interface CodexProgramOptions
  extends ProgramOptions,
    Pick<LineProgramOptions, 'register' | 'schedule' | 'launch'>,
    Pick<ThreadParamsOptions, 'mcpServers' | 'toolsUrl'> {
  /** The custom tools of the agents. */
  readonly tools: ToolServer;
  /** The model of the definition; null: Codex chooses. */
  readonly model: string | null;
  /** Called once, when the process has ended. */
  readonly onEnd: () => void;
}

/** The program of one session: a `codex app-server`. Its lines become events, and actions of this server become requests to it. */
export function openCodexProgram(options: CodexProgramOptions): ProgramHandle {
  const { agent, members, tools } = options;
  const agents = [agent, ...members];
  const server = new JsonRpc((line) => program.process.write(line));
  const translator = new CodexTranslator({
    agent,
    members,
    known: options.known,
    answer: (id, result) => server.answer(id, result),
    reject: (id, message) => server.reject(id, message),
    // The message is lost if the turn has ended in the meantime, or if the sub-agent takes no messages.
    steer: (threadId, expectedTurnId, message) =>
      server.request('turn/steer', { threadId, expectedTurnId, input: toInput([{ type: 'text', text: message }]) }),
    readThread: (threadId) =>
      server.request('thread/read', { threadId }, (answer) =>
        push(translator.describeThread(threadId, toThreadFacts(answer))),
      ),
  });
  let threadId: string | undefined;
  let mode: PermissionMode = 'default';
  /** The mode that was last sent to Codex. */
  let sentMode: PermissionMode = 'default';
  let model = options.model;
  /** The model that Codex chose, for a change back to the default. */
  let ownModel: string | null = null;
  /** Messages from before the conversation was open. */
  let unsaid: (readonly InputBlock[])[] = [];
  let isStopWanted = false;

  const push = (taken: readonly ProgramEvent[]) => {
    program.push(taken);
    for (const event of taken) {
      if (event.type === 'turn_started' && isStopWanted) stop(MAIN);
      if (event.type === 'turn_ended') isStopWanted = false;
    }
  };
  const program = new LineProgram({
    ...options,
    onMessage: (message) => {
      const line = server.take(message);
      if (line === null) return;
      push(translator.take(line));
      if (line.method === 'turn/completed') cleanTerminals(line.params);
    },
    onEnd: () => {
      server.close();
      options.onEnd();
    },
  });
  begin();

  return {
    gone: program.process.gone,
    events: program.events,
    say: (content) => {
      if (threadId === undefined) unsaid.push(content);
      else say(threadId, content);
    },
    interrupt: () => {
      isStopWanted = unsaid.length > 0 || translator.isExpecting;
      stop(MAIN);
    },
    stopThread: (key) => stop(key),
    setModel: (next) => {
      model = next;
      if (threadId === undefined) return;
      const wanted = next ?? ownModel;
      if (wanted !== null) server.request('thread/settings/update', { threadId, model: wanted });
    },
    setPermissionMode: (next) => {
      mode = permissionModes.find((known) => known === next) ?? 'default';
      translator.setMode(mode);
    },
    answer: (callId, decision) => {
      push(translator.give(callId, decision));
      program.flush(0);
    },
    giveResult: (callId, result) => {
      const place = translator.locate(callId);
      if (translator.isServed(callId) && place !== undefined) {
        tools.give(place, result);
        push(translator.serve(callId));
      } else push(translator.give(callId, result));
      program.flush(0);
    },
    controls: [],
    control: async () => (program.process.vitals.isAlive ? { type: 'unsupported' } : { type: 'exited' }),
    vitals: () => program.process.vitals,
    // Codex exits at the end of its input, even in the middle of a turn.
    close: (how) => program.process.close({ isResting: true, ...how }),
  };

  function begin(): void {
    const clientInfo = { name: 'fleetloom', title: 'Fleetloom', version: '0.0.0' };
    const capabilities = { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: UNUSED };
    server.request('initialize', { clientInfo, capabilities }, (answer) => {
      if (answer.type === 'refused') return program.process.fail(`it refused to start: ${answer.message}`);
      server.notify('initialized');
      openThread(/^[^/]+\/(\S+)/.exec(text(answer.result['userAgent']) ?? '')?.[1] ?? null);
    });
  }

  function openThread(version: string | null): void {
    const { resume, forkAt } = options;
    const common = toThreadParams({ ...options, model, mode });
    sentMode = mode;
    const method = resume === null ? 'thread/start' : forkAt === undefined ? 'thread/resume' : 'thread/fork';
    const which =
      resume === null
        ? {}
        : { threadId: resume, ...(forkAt === undefined ? { excludeTurns: true } : { lastTurnId: forkAt }) };
    server.request(method, { ...common, ...which }, (answer) => {
      const id = answer.type === 'result' ? text(record(answer.result['thread'])?.['id']) : undefined;
      if (answer.type === 'refused' || id === undefined) {
        const reason = answer.type === 'refused' ? answer.message : 'it named no conversation';
        return program.process.fail(`it cannot open the conversation: ${reason}`);
      }
      ownModel = text(answer.result['model']) ?? null;
      threadId = id;
      push(translator.open({ threadId: id, model: ownModel ?? '', version }));
      reportSettings(answer.result['instructionSources']);
      for (const content of unsaid.splice(0)) say(id, content);
    });
  }

  function reportSettings(sources: unknown): void {
    const { settings = 'none' } = options;
    if (settings === 'none') return;
    const files: readonly unknown[] = Array.isArray(sources) ? sources : [];
    const instructions = files.map(text).filter((file) => file !== undefined);
    push([
      { key: MAIN, type: 'settings_loaded', settings, instructions, hooks: [], agents: [], skills: [], rules: [] },
    ]);
  }

  /** Sends a message, which begins a turn or joins the running one: the response of Codex has the turn. */
  function say(to: string, content: readonly InputBlock[]): void {
    const said = translator.say();
    const changes = mode === sentMode ? {} : { approvalPolicy: toApprovalPolicy(agents, mode) };
    sentMode = mode;
    server.request('turn/start', { threadId: to, input: toInput(content), ...changes }, (answer) => {
      if (answer.type === 'refused') return push(said.refused(answer.message));
      const turnId = text(record(answer.result['turn'])?.['id']);
      if (turnId !== undefined) said.joined(turnId);
    });
  }

  function stop(key: string): void {
    const turn = translator.turnOf(key);
    if (turn !== undefined) server.request('turn/interrupt', turn);
  }

  /** Ends the commands of an interrupted turn, which would continue to run. */
  function cleanTerminals(params: Fields): void {
    if (record(params['turn'])?.['status'] !== 'interrupted') return;
    server.request('thread/backgroundTerminals/clean', { threadId: params['threadId'] });
  }
}

/** Notifications that the program does not send to this server. */
const UNUSED = ['remoteControl/status/changed', 'account/rateLimits/updated', 'thread/readState/changed'];

function toThreadFacts(answer: RpcAnswer): ThreadFacts | null {
  if (answer.type === 'refused') return null;
  const thread = record(answer.result['thread']) ?? {};
  return {
    nickname: text(thread['agentNickname']) ?? null,
    role: text(thread['agentRole']) ?? null,
    model: text(thread['model']) ?? null,
    parent: text(thread['parentThreadId']) ?? null,
  };
}
