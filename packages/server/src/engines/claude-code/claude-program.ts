import { createMessage, type LineSink, StreamJsonReader } from '@fleetloom/protocol/stream-json';
import { limits } from '../../base/limits.ts';
import type { Cancel } from '../../base/schedule.ts';
import { MAIN, type Program, type ProgramEvent, type ProgramOptions } from '../program.ts';
import { Asks } from './asks.ts';
import { EventQueue } from './event-queue.ts';
import type { GatewayEvent } from './gateway/events.ts';
import type { GatewaySession } from './gateway/gateway.ts';
import { HeldPrompts } from './held-prompts.ts';
import type { ProgramLaunch } from './launch/to-launch.ts';
import { isOversizedLine } from './oversized-line.ts';
import { type ProcessOptions, ProgramProcess } from './process.ts';
import { ProgramTranslator } from './program-translator.ts';
import { toAgents, toArguments } from './to-arguments.ts';
import { toWireBlocks } from './to-content.ts';
import { TOOL_SERVER } from './tool-policy.ts';
import { ToolServer } from './tool-server.ts';
import { LineOrder } from './transcript/line-order.ts';
import { SilentAgents, type SilentAgentsOptions } from './transcript/silent-agents.ts';
import { Workflows } from './transcript/workflows.ts';

export interface ClaudeProgramOptions extends ProgramOptions, Pick<ProcessOptions, 'register' | 'schedule'> {
  /** Agents of agents have lines too. */
  readonly hearsNested: boolean;
  /** A file with the settings that have precedence; without one they are on the command line. */
  readonly settingsFile?: string | undefined;
  /** How to start the program with these arguments. */
  readonly toLaunch: (args: readonly string[]) => ProgramLaunch;
  /** Where the program keeps the transcripts of sub-agents whose lines it does not print. */
  readonly transcripts: Pick<SilentAgentsOptions, 'projects' | 'sizes'>;
  /** Called with the id of every conversation of the program, before the event that names it. */
  readonly onConversation?: ((conversation: string) => void) | undefined;
  /** Its way to the endpoint, on which its agents are listened to, if there is one. */
  readonly gateway?: ProgramGateway | undefined;
}

export interface ProgramGateway {
  readonly session: GatewaySession;
  /** Whom it tells what passes, from now on. */
  readonly hear: (listener: (event: GatewayEvent) => void) => void;
}

/** `gone` resolves when no process of it is left. */
export interface ClaudeProgramHandle extends Program {
  readonly pid: number | undefined;
  readonly gone: Promise<void>;
}

/** The program of one session: lines out of its process become events, and what we want of it lines into it. */
export function openClaudeProgram(options: ClaudeProgramOptions): ClaudeProgramHandle {
  const { agent, members, gateway } = options;
  const queue = new EventQueue<ProgramEvent>({
    sizeMax: limits.programQueueBytesMax,
    takeMax: limits.programTakeBytesMax,
    onFull: () => program.pause(),
    onRoom: () => {
      pace();
      onRoom();
    },
  });
  const write = (line: string) => program.write(line);
  const asks = new Asks(write);
  const tools = new ToolServer(
    [agent, ...members].flatMap(({ tools: own }) => own.filter((tool) => tool.type === 'custom')),
    write,
  );
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
    whyUnreachable: (serverName) => gateway?.session.whyUnreachable(serverName) ?? null,
    onUnknownRequest,
  });
  const reader = new StreamJsonReader({ lineBytesMax: limits.programLineBytesMax });
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
    take: (line) => push(translator.take(line)),
    onFailure: () => push(translator.missTranscript(MAIN, 'unreadable')),
    onHold: () => program.pause(),
    onRelease: () => {
      flush(0);
      pace();
    },
  });
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
      if (prompts.takeReport(line)) return;
      for (const each of workflows.expand(line)) lines.push(each);
    },
    // A line that cannot be read is lost, and the next one is read as if nothing had happened.
    issue: () => {},
  };
  const prompts = new HeldPrompts({
    settings: options.settings ?? 'none',
    write,
    schedule: options.schedule,
    onLoaded: (loaded) => queue.push([{ key: MAIN, ...loaded }], 0),
  });
  let cancelPatience: Cancel | undefined;
  /** A turn that was announced by its nature has to come soon, or it does not come. */
  const watchExpected = () => {
    if (translator.isExpecting && !isOver) {
      cancelPatience ??= options.schedule(() => {
        cancelPatience = undefined;
        queue.push(translator.giveUp(), 0);
      }, limits.programExpectMs);
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

  gateway?.hear((event) =>
    queue.push(translator.takeTapped(event, queue.isFull), event.event.type === 'delta' ? event.event.text.length : 0),
  );
  // Not through a port of this machine: its secret would stand on the command line, which other users can read.
  const isOnlyWay = gateway !== undefined && gateway.session.socketPath !== null;
  const mcpUrlOf = isOnlyWay ? (name: string) => gateway.session.mcpUrlOf(name) : undefined;
  const program = new ProgramProcess({
    ...options,
    launch: options.toLaunch(toArguments({ ...options, mcpUrlOf })),
    onOutput: (bytes) => {
      reader.read(bytes, sink);
      noiseBytes = events.length > 0 ? 0 : noiseBytes + bytes.length;
      if (noiseBytes > limits.programNoiseBytesMax) {
        program.fail(`it wrote more than ${limits.programNoiseBytesMax} bytes without any event`);
      }
      flush(bytes.length);
    },
    onExit: (exit) => {
      prompts.close();
      gateway?.session.close();
      silent.stop();
      workflows.close();
      reader.readEnd(sink);
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
      // Without it sub-agents in the foreground would be silent.
      forwardSubagentText: true,
      forwardNestedSubagentToolCalls: true,
      // An interrupt is for the main agent; others are stopped one by one.
      perTaskStopAffordance: true,
      ...(members.length === 0 ? {} : { agents: toAgents(members) }),
      ...(agent.system === null || agent.system === '' ? {} : { appendSystemPrompt: agent.system }),
      ...(tools.isEmpty ? {} : { sdkMcpServers: [TOOL_SERVER] }),
    }),
  );
  prompts.begin();

  return {
    pid: program.pid,
    gone: program.gone,
    events: queue,
    say: (content) => {
      translator.said();
      prompts.write(createMessage.user(toWireBlocks(content)));
    },
    interrupt: () => write(createMessage.interrupt()),
    stopThread: (key) => write(createMessage.stopTask(workflows.taskOf(translator.taskOf(key)))),
    setModel: (model) => write(createMessage.setModel(model ?? 'default')),
    setPermissionMode: (mode) => write(createMessage.setPermissionMode(mode)),
    answer: (callId, decision) => asks.give(callId, decision),
    giveResult: (callId, result) => {
      // One of them knows the call: questions are asked for, custom tools are called.
      if (translator.isQuestion(callId)) asks.give(callId, result);
      else tools.give(callId, result);
    },
    vitals: () => program.vitals,
    close: () => {
      const { isResting } = translator;
      // 2.1.197 asks its model once more between SIGTERM and its end, and may run a tool again.
      if (!isResting) gateway?.session.close();
      return program.close({ isResting });
    },
  };
}
