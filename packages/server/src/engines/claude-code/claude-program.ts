import { createMessage, type LineSink, StreamJsonReader } from '@fleetloom/protocol/stream-json';
import { limits } from '../../base/limits.ts';
import type { Cancel } from '../../base/schedule.ts';
import { MAIN, type Program, type ProgramEvent, type ProgramOptions } from '../program.ts';
import { Asks } from './asks.ts';
import { EventQueue } from './event-queue.ts';
import type { GatewayEvent } from './gateway/events.ts';
import type { GatewaySession } from './gateway/gateway.ts';
import { type ProcessOptions, ProgramProcess } from './process.ts';
import { ProgramTranslator } from './program-translator.ts';
import { toAgents, toArguments } from './to-arguments.ts';
import { toWireBlocks } from './to-content.ts';
import { TOOL_SERVER } from './tool-policy.ts';
import { ToolServer } from './tool-server.ts';

export interface ClaudeProgramOptions
  extends ProgramOptions,
    Pick<ProcessOptions, 'path' | 'env' | 'register' | 'schedule'> {
  /** Agents of agents have lines too. */
  readonly hearsNested: boolean;
  /** A way to its endpoint on which its agents are listened to, if there is one. */
  readonly openGateway?: ((onEvent: (event: GatewayEvent) => void) => GatewaySession) | undefined;
}

/** The program of one session: lines out of its process become events, and what we want of it lines into it. */
export function openClaudeProgram(options: ClaudeProgramOptions): Program & { readonly pid: number | undefined } {
  const { agent, members } = options;
  const queue = new EventQueue<ProgramEvent>({
    sizeMax: limits.programQueueBytesMax,
    takeMax: limits.programTakeBytesMax,
    onFull: () => program.pause(),
    onRoom: () => program.resume(),
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
    onUnknownRequest,
  });
  const reader = new StreamJsonReader();
  let events: ProgramEvent[] = [];
  const sink: LineSink = {
    message: (line) => events.push(...translator.take(line)),
    // A line that cannot be read is lost, and the next one is read as if nothing had happened.
    issue: () => {},
  };
  let cancelPatience: Cancel | undefined;
  /** A turn that was announced by its nature has to come soon, or it does not come. */
  const watchExpected = () => {
    if (translator.isExpecting) {
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

  const gateway = options.openGateway?.((event) =>
    queue.push(translator.takeTapped(event, queue.isFull), event.event.type === 'delta' ? event.event.text.length : 0),
  );
  const program = new ProgramProcess({
    ...options,
    env: { ...options.env, ...gateway?.environment(options.env) },
    args: toArguments(options),
    onOutput: (bytes) => {
      reader.read(bytes, sink);
      flush(bytes.length);
    },
    onExit: (exit) => {
      cancelPatience?.();
      gateway?.close();
      reader.readEnd(sink);
      events.push({ type: 'exited', key: MAIN, ...exit });
      flush(0);
      queue.end();
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

  return {
    pid: program.pid,
    events: queue,
    say: (content) => {
      translator.said();
      write(createMessage.user(toWireBlocks(content)));
    },
    interrupt: () => write(createMessage.interrupt()),
    stopThread: (key) => write(createMessage.stopTask(translator.taskOf(key))),
    setModel: (model) => write(createMessage.setModel(model ?? 'default')),
    setPermissionMode: (mode) => write(createMessage.setPermissionMode(mode)),
    answer: (callId, decision) => asks.give(callId, decision),
    giveResult: (callId, result) => {
      // One of them knows the call: questions are asked for, custom tools are called.
      if (translator.isQuestion(callId)) asks.give(callId, result);
      else tools.give(callId, result);
    },
    vitals: () => program.vitals,
    close: () => program.close({ isResting: translator.isResting }),
  };
}
