import type { EndedConversation } from '../../../engines/program/ended-conversation.ts';
import { EventQueue } from '../../../engines/program/process/event-queue.ts';
import { noCapabilities } from '../../../engines/program/program-capabilities.ts';
import { type ControlAnswer, type ControlRequest, programControls } from '../../../engines/program/program-controls.ts';
import {
  type Decision,
  MAIN,
  type Program,
  type ProgramAsk,
  type ProgramCall,
  type ProgramEngine,
  type ProgramEvent,
  type ProgramOptions,
} from '../../../engines/program/program.ts';

/** A program that emits the events of a test, and records the requests that it receives. */
export interface TestProgram {
  readonly options: ProgramOptions;
  /** The requests of the session, one line each. */
  readonly heard: string[];
  /** The ids of the messages that the program received. */
  readonly saidIds: (string | undefined)[];
  emit(...events: readonly ProgramEvent[]): void;
  exit(message: string): void;
}

/** A program engine whose programs a test controls. */
export interface TestPrograms extends ProgramEngine {
  /** The opened programs, in order. */
  readonly opened: readonly TestProgram[];
  /** The conversations that were to be recovered. */
  readonly recoveries: readonly EndedConversation[];
  /** Resolves with the program of this number when it is opened. */
  wait(number?: number): Promise<TestProgram>;
}

export interface TestProgramsOptions {
  /** The programs do not end on a close. */
  readonly isDeaf?: boolean;
  /** The programs never confirm a decision. */
  readonly isUnanswered?: boolean;
  /** Events in the transcripts of a program that has ended that are not in the log. */
  readonly recovered?: readonly ProgramEvent[];
  /** As `recovered`, for each of several programs of a session. */
  readonly recoveredOf?: (ended: EndedConversation) => readonly ProgramEvent[];
}

export function createTestPrograms(options: TestProgramsOptions = {}): TestPrograms {
  const { recovered = [], recoveredOf = () => recovered } = options;
  const opened: TestProgram[] = [];
  const recoveries: EndedConversation[] = [];
  return {
    opened,
    recoveries,
    wait: async (number = 0) => {
      while (opened[number] === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      return opened[number];
    },
    open: async (asked) => {
      const { program, test } = createTestProgram(asked, options);
      opened.push(test);
      return program;
    },
    whyUnavailable: async () => null,
    describe: async () => ({
      version: null,
      isSandboxed: true,
      permissionModes: [],
      depths: [],
      settings: [],
      controls: [...programControls],
      capabilities: noCapabilities,
    }),
    copyConversation: async () => true,
    recover: async function* (ended) {
      recoveries.push(ended);
      yield recoveredOf(ended);
    },
    forget: async () => {},
    listKept: async () => [],
    reap: async () => 0,
    close: async () => {},
  };
}

function createTestProgram(
  options: ProgramOptions,
  { isDeaf = false, isUnanswered = false }: TestProgramsOptions,
): { program: Program; test: TestProgram } {
  const queue = new EventQueue<ProgramEvent>({
    sizeMax: Infinity,
    takeMax: Infinity,
    onFull: () => {},
    onRoom: () => {},
  });
  const heard: string[] = [];
  const saidIds: (string | undefined)[] = [];
  let isGone = false;
  const exit = (message: string, isWanted: boolean) => {
    if (isGone) return;
    isGone = true;
    queue.push([{ type: 'exited', key: MAIN, message, isWanted }], 0);
    queue.end();
  };
  /** The key of the agent that made each call. */
  const owners = new Map<string, string>();
  const onAnswered = (callId: string) => {
    if (!isGone && !isUnanswered) queue.push([{ type: 'answered', key: owners.get(callId) ?? MAIN, callId }], 0);
  };
  const program: Program = {
    events: queue,
    say: (content, messageId) => {
      saidIds.push(messageId);
      heard.push(`say ${content.map((block) => ('text' in block ? block.text : block.type)).join('|')}`);
    },
    interrupt: () => void heard.push('interrupt'),
    stopThread: (key) => void heard.push(`stop ${key}`),
    setModel: (model) => void heard.push(`model ${model}`),
    setPermissionMode: (mode) => void heard.push(`mode ${mode}`),
    answer: (callId, decision) => {
      heard.push(toHeard(callId, decision));
      onAnswered(callId);
    },
    giveResult: (callId) => {
      heard.push(`result ${callId}`);
      onAnswered(callId);
    },
    controls: programControls,
    control: async (request) => {
      heard.push(toHeardControl(request));
      return isGone ? { type: 'exited' } : toControlAnswer(request);
    },
    vitals: () => ({ pid: null, isAlive: !isGone, lastByteAt: null }),
    close: async (options) => {
      heard.push(options?.isOverdue === true ? 'close overdue' : 'close');
      if (!isDeaf) exit('closed', true);
    },
  };
  return {
    program,
    test: {
      options,
      heard,
      saidIds,
      emit: (...events) => {
        for (const event of events) if (event.type === 'call') owners.set(event.callId, event.key);
        queue.push(events.flatMap(withAsk), 0);
      },
      exit: (message) => exit(message, false),
    },
  };
}

function toHeard(callId: string, decision: Decision): string {
  const more =
    decision.type === 'deny'
      ? decision.isInterrupting === true && ' and interrupt'
      : decision.updatedInput !== undefined && ` with ${JSON.stringify(decision.updatedInput)}`;
  return `${decision.type} ${callId}${more || ''}`;
}

function toHeardControl(request: ControlRequest): string {
  if (request.type !== 'rewind') return request.type;
  return `rewind ${request.messageId}${request.isDryRun ? ' dry' : ''}`;
}

function toControlAnswer(request: ControlRequest): ControlAnswer {
  if (request.type === 'usage') {
    return { type: 'usage', costUsd: 0.5, linesAdded: 2, linesRemoved: 1, models: [], planLimits: [] };
  }
  if (request.type === 'diff') return { type: 'diff', files: [], filesOmitted: 0, reason: 'no-repository' };
  if (request.messageId.includes('unknown')) return { type: 'failed', message: 'No such checkpoint.' };
  return { type: 'rewind', isDryRun: request.isDryRun, files: ['a.txt'], added: 1, removed: 2 };
}

/** Calls for which the program does not request an approval at once. */
const proposed = new WeakSet<ProgramEvent>();

/** The program requests an approval right after it has announced the call, unless the test decides otherwise. */
function withAsk(event: ProgramEvent): ProgramEvent[] {
  const isAsked = event.type === 'call' && 'permission' in event.tool && event.tool.permission === 'ask';
  return isAsked && !proposed.has(event) ? [event, asks(event.callId, event.key)] : [event];
}

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };

// Short forms of program events.

/** A model request starts. */
export const begins = (key = MAIN): ProgramEvent => ({ type: 'request_started', key, model: 'claude-x' });
/** A model request ends. */
export const ends = (key = MAIN): ProgramEvent => ({
  type: 'request_ended',
  key,
  model: 'claude-x',
  usage,
  stopReason: 'end_turn',
  isError: false,
});
/** A text block is complete. */
export const says = (text: string, key = MAIN): ProgramEvent => ({
  type: 'block_ended',
  key,
  block: text,
  content: { type: 'text', text },
});
/** A call of a built-in tool. */
export const calls = (callId: string, permission: 'allow' | 'ask', key = MAIN): ProgramEvent => ({
  ...toCall(callId, { kind: 'builtin', permission }),
  key,
});
/** A call that needs an approval, which the program has not requested yet. */
export const proposes = (callId: string, key = MAIN): ProgramEvent => {
  const call: ProgramEvent = { ...toCall(callId, { kind: 'builtin', permission: 'ask' }), key };
  proposed.add(call);
  return call;
};
/** The program asks for an approval. */
export const asks = (callId: string, key = MAIN, more: Partial<ProgramAsk> = {}): ProgramEvent => ({
  type: 'ask',
  key,
  callId,
  kind: 'tool',
  reason: null,
  input: {},
  ...more,
});
/** A call of a custom tool. */
export const callsCustom = (callId: string): ProgramEvent => ({
  ...toCall(callId, { kind: 'custom', toolName: 'form' }),
  key: MAIN,
});
/** A call that starts a sub-agent. */
export const callsAgent = (callId: string): ProgramEvent => ({ ...toCall(callId, { kind: 'agent' }), key: MAIN });
/** The result of a call. */
export const gives = (callId: string, key = MAIN): ProgramEvent => ({
  type: 'result',
  key,
  callId,
  content: [{ type: 'text', text: 'done' }],
  isError: false,
});
/** A sub-agent starts. */
export const opens = (key: string, callId: string | null): ProgramEvent => ({
  type: 'thread_opened',
  key,
  parentKey: MAIN,
  agentName: 'worker',
  description: key,
  prompt: `Do ${key}.`,
  callId,
});
/** A sub-agent ends. */
export const leaves = (key: string, status: 'completed' | 'failed' | 'stopped' = 'completed'): ProgramEvent => ({
  type: 'thread_ended',
  key,
  status,
  error: null,
});
/** Work outside of turns starts. */
export const works = (
  workId: string,
  kind: 'command' | 'wake_up' = 'command',
  until: number | null = null,
): ProgramEvent => ({
  type: 'work_started',
  key: MAIN,
  workId,
  kind,
  description: `does ${workId}`,
  until,
});
/** Work outside of turns ends. */
export const worked = (workId: string): ProgramEvent => ({
  type: 'work_ended',
  key: MAIN,
  workId,
  outcome: 'completed',
});
/** The turn of the main agent starts. */
export const turnBegins: ProgramEvent = { type: 'turn_started', key: MAIN };
/** The turn of the main agent ends. */
export const turnEnds: ProgramEvent = { type: 'turn_ended', key: MAIN, outcome: { type: 'done' }, isMoreToCome: false };

function toCall(callId: string, tool: ProgramCall['tool']): ProgramCall {
  return { type: 'call', callId, name: 'Bash', input: {}, tool };
}
