import { createMessage, type LineSink, StreamJsonReader } from '@fleetloom/protocol/stream-json';
import type { ProgramHandle } from '../engine/create-program-engine.ts';
import { programLimits } from '../limits.ts';
import type { Cancel } from '../../../base/schedule.ts';
import type { ProgramControl } from '../program-controls.ts';
import { MAIN, type ProgramEvent, type ProgramOptions } from '../program.ts';
import { Asks } from './approvals/asks.ts';
import { controlProgram } from './controls/control-program.ts';
import { ControlRequests } from './controls/control-requests.ts';
import { toMessageUuid } from './controls/to-message-uuid.ts';
import type { GatewayEvent } from '../gateway/events.ts';
import type { GatewaySession } from '../gateway/gateway.ts';
import { HeldPrompts } from './controls/held-prompts.ts';
import type { ProgramLaunch } from '../launch/to-launch.ts';
import { contain } from '../process/contain.ts';
import { isOversizedLine } from '../process/oversized-line.ts';
import { type ProcessOptions, ProgramProcess } from '../process/process.ts';
import { ProgramEvents } from '../process/program-events.ts';
import { ProgramTranslator } from './translate/program-translator.ts';
import { toAgents, toArguments } from './launch/to-arguments.ts';
import { isEmptyOutput } from './lines/is-empty-output.ts';
import { ResumedAgents } from './messages/resumed-agents.ts';
import { toWireBlocks } from './lines/to-content.ts';
import { listCustomTools } from '../mcp/mcp-tools.ts';
import { TOOL_SERVER } from '../mcp/server-names.ts';
import { ToolServer } from './approvals/tool-server.ts';
import { LateCalls } from './transcript/late-calls.ts';
import { LineOrder } from './transcript/line-order.ts';
import { SilentAgents, type SilentAgentsOptions } from './transcript/silent-agents.ts';
import { Workflows } from './transcript/workflows.ts';

/** Options of one running claude program. */
export interface ClaudeProgramOptions extends ProgramOptions, Pick<ProcessOptions, 'register' | 'schedule'> {
  /** The control requests that this version answers outside of turns. */
  readonly controls: readonly ProgramControl[];
  /** The program prints lines of sub-agents of sub-agents too. */
  readonly hearsNested: boolean;
  /** A file with the settings that have precedence; without it they are on the command line. */
  readonly settingsFile?: string | undefined;
  /** Returns the command that starts the program with these arguments. */
  readonly toLaunch: (args: readonly string[]) => ProgramLaunch;
  /** The location of the transcripts of sub-agents whose lines the program does not print. */
  readonly transcripts: Pick<SilentAgentsOptions, 'projects' | 'sizes'>;
  /** Called with the id of every conversation of the program, before the event that names it. */
  readonly onConversation?: ((conversation: string) => void) | undefined;
  /** The gateway between the program and its endpoint, which reads the responses to its agents. Absent if requests do not pass one. */
  readonly gateway?: ProgramGateway | undefined;
}

/** The gateway of one program. */
export interface ProgramGateway {
  readonly session: GatewaySession;
  /** Sets the listener for gateway events from now on. */
  readonly hear: (listener: (event: GatewayEvent) => void) => void;
}

/** The program of one session: lines of its output become events, and requests to the program become lines of its input. */
export function openClaudeProgram(options: ClaudeProgramOptions): ProgramHandle {
  const { agent, members, gateway } = options;
  const queue = new ProgramEvents({
    fail: (reason) => program.fail(reason),
    onFull: () => program.pause(),
    onRoom: () => {
      pace();
      onRoom();
    },
  });
  const write = (line: string) => program.write(line);
  const onAnswered = (callId: string) => push(translator.answered(callId));
  const asks = new Asks(write, onAnswered);
  const requests = new ControlRequests({ write, schedule: options.schedule });
  const tools = new ToolServer(listCustomTools([agent, ...members]), write, onAnswered);
  const onUnknownRequest = (requestId: string) =>
    write(createMessage.answerError(requestId, 'This host cannot do that.'));
  const translator = new ProgramTranslator({
    agent,
    members,
    asks,
    tools,
    known: options.known,
    isResumed: options.resume !== null,
    hearsNested: options.hearsNested,
    isAwaiting: (key) => silent.isAwaiting(key),
    whyUnreachable: (serverName) => gateway?.session.whyUnreachable(serverName) ?? null,
    onUnknownRequest,
  });
  const reader = new StreamJsonReader({ lineBytesMax: programLimits.programLineBytesMax });
  let events: ProgramEvent[] = [];
  let noiseBytes = 0;
  let isOver = false;
  const push = (taken: readonly ProgramEvent[]) => {
    for (const event of taken) {
      if (event.type === 'opened') options.onConversation?.(event.conversation);
      events.push(event);
    }
  };
  let onRoom = () => {};
  const silent = new SilentAgents({
    ...options.transcripts,
    schedule: options.schedule,
    take: (line, bytes) => {
      push(translator.take(line));
      flush(bytes);
      return queue.isFull ? new Promise((resolve) => (onRoom = resolve)) : undefined;
    },
    onProblem: (key, problem) => push(translator.missTranscript(key, problem)),
  });
  const lines = new LineOrder({
    before: (line) => silent.before(line),
    take: (line) => {
      push(translator.take(line));
      lateCalls.take(line);
    },
    onFailure: () => push(translator.missTranscript(MAIN, 'unreadable')),
    onHold: () => program.pause(),
    onRelease: () => {
      flush(0);
      pace();
    },
  });
  const lateCalls = new LateCalls({
    schedule: options.schedule,
    isKnown: (callId) => silent.isKnown(callId),
    look: (callId) => lines.recover(() => silent.look(callId)),
    onMissing: (callId) => tools.refuse(callId),
  });
  const resumed = new ResumedAgents();
  const workflows = new Workflows({
    schedule: options.schedule,
    onLate: (request) => {
      lines.push(request);
      flush(0);
    },
  });
  const pace = () => (lines.isHeld || queue.isFull ? program.pause() : program.resume());
  const sink: LineSink = {
    bytes: isOversizedLine,
    message: (line) => {
      if (isEmptyOutput(line) || prompts.takeReport(line) || requests.take(line)) return;
      for (const each of resumed.expand(line).flatMap((one) => workflows.expand(one))) lines.push(each);
    },
    // A line that cannot be parsed is skipped, and reading continues with the next one.
    issue: () => {},
  };
  const prompts = new HeldPrompts({
    settings: options.settings ?? 'none',
    write,
    schedule: options.schedule,
    onLoaded: (loaded) => queue.push([{ key: MAIN, ...loaded }], 0),
  });
  let cancelPatience: Cancel | undefined;
  /** Limits how long an expected turn is waited for: the program begins such a turn soon or not at all. */
  const watchExpected = () => {
    if (translator.isExpecting && !isOver) {
      cancelPatience ??= options.schedule(() => {
        cancelPatience = undefined;
        push(translator.giveUp());
        flush(0);
      }, programLimits.programExpectMs);
    } else {
      cancelPatience?.();
      cancelPatience = undefined;
    }
  };
  const flush = (size: number) => {
    watchExpected();
    const taken = events;
    events = [];
    queue.push(taken, size);
  };

  gateway?.hear((event) => {
    push(translator.takeTapped(event, queue.isFull));
    // Events of lines that were taken while another line waits come first.
    flush(event.event.type === 'delta' ? event.event.text.length : 0);
  });
  // Only over a socket. The secret of a TCP port would be on the command line, which other users can read.
  const isOnlyWay = gateway !== undefined && gateway.session.socketPath !== null;
  const mcpUrlOf = isOnlyWay ? (name: string) => gateway.session.mcpUrlOf(name) : undefined;
  const program = new ProgramProcess({
    ...options,
    launch: options.toLaunch(toArguments({ ...options, mcpUrlOf })),
    onOutput: (bytes) => {
      reader.read(bytes, sink);
      noiseBytes = events.length > 0 ? 0 : noiseBytes + bytes.length;
      if (noiseBytes > programLimits.programNoiseBytesMax) {
        program.fail(`it wrote more than ${programLimits.programNoiseBytesMax} bytes without any event`);
      }
    },
    // Flushes here, not after each piece: the log commits the events of one flush together.
    onPassed: flush,
    onExit: (exit) => {
      prompts.close();
      requests.close();
      gateway?.session.close();
      silent.stop();
      workflows.close();
      lateCalls.close();
      contain(() => reader.readEnd(sink));
      lines.end(
        () => silent.rest(),
        () => {
          isOver = true;
          events.push({ type: 'exited', key: MAIN, ...exit });
          flush(0);
          queue.end();
        },
      );
    },
  });
  write(
    createMessage.initialize({
      // Without this option no text of sub-agents in the foreground is printed.
      forwardSubagentText: true,
      forwardNestedSubagentToolCalls: true,
      // With this option an interrupt stops the main agent only; sub-agents are stopped one by one.
      perTaskStopAffordance: true,
      ...(members.length === 0 ? {} : { agents: toAgents(members) }),
      ...(agent.system === null || agent.system === '' ? {} : { appendSystemPrompt: agent.system }),
      ...(tools.isEmpty ? {} : { sdkMcpServers: [TOOL_SERVER] }),
    }),
  );
  prompts.begin();

  return {
    gone: program.gone,
    events: queue,
    say: (content, messageId) => {
      translator.said();
      const named = messageId === undefined ? {} : { uuid: toMessageUuid(options.sessionId, messageId) };
      prompts.write(createMessage.user(toWireBlocks(content), named));
    },
    interrupt: () => write(createMessage.interrupt()),
    stopThread: (key) => write(createMessage.stopTask(workflows.taskOf(translator.taskOf(key)))),
    setModel: (model) => write(createMessage.setModel(model ?? 'default')),
    setPermissionMode: (mode) => write(createMessage.setPermissionMode(mode)),
    answer: (callId, decision) => {
      asks.give(callId, decision);
      flush(0);
    },
    giveResult: (callId, result) => {
      // A question is answered as a permission request, a custom tool call by the tool server.
      if (translator.isQuestion(callId)) asks.give(callId, result);
      else tools.give(callId, result);
      flush(0);
    },
    controls: options.controls,
    control: (request) => controlProgram(requests, options.sessionId, request),
    vitals: () => program.vitals,
    close: (options) => {
      const { isResting } = translator;
      // 2.1.197 sends one more model request between SIGTERM and its exit, and may run a tool again.
      if (!isResting) gateway?.session.close();
      return program.close({ isResting, ...options });
    },
  };
}
