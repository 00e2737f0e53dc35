import { EventQueue } from '../../engines/claude-code/event-queue.ts';
import {
  type Decision,
  MAIN,
  type Program,
  type ProgramAsk,
  type ProgramCall,
  type ProgramEngine,
  type ProgramEvent,
  type ProgramOptions,
} from '../../engines/program.ts';

/** A program that does what a test tells it to, and remembers what it was told. */
export interface TestProgram {
  readonly options: ProgramOptions;
  /** What the session wanted of it, one line each. */
  readonly heard: string[];
  tell(...events: readonly ProgramEvent[]): void;
  exit(message: string): void;
}

export interface TestPrograms extends ProgramEngine {
  /** Those that were opened, in their order. */
  readonly opened: readonly TestProgram[];
  /** The one with this number, as soon as it is there. */
  wait(number?: number): Promise<TestProgram>;
}

export function createTestPrograms({ isDeaf = false } = {}): TestPrograms {
  const opened: TestProgram[] = [];
  return {
    opened,
    wait: async (number = 0) => {
      while (opened[number] === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      return opened[number];
    },
    open: async (options) => {
      const { program, test } = createTestProgram(options, isDeaf);
      opened.push(test);
      return program;
    },
    whyUnavailable: async () => null,
    describe: async () => ({ version: null, isSandboxed: true, permissionModes: [], depths: [], settings: [] }),
    copyConversation: async () => true,
    forget: async () => {},
    listKept: async () => [],
    reap: async () => 0,
    close: async () => {},
  };
}

function createTestProgram(options: ProgramOptions, isDeaf: boolean): { program: Program; test: TestProgram } {
  const queue = new EventQueue<ProgramEvent>({
    sizeMax: Infinity,
    takeMax: Infinity,
    onFull: () => {},
    onRoom: () => {},
  });
  const heard: string[] = [];
  let isGone = false;
  const exit = (message: string, isWanted: boolean) => {
    if (isGone) return;
    isGone = true;
    queue.push([{ type: 'exited', key: MAIN, message, isWanted }], 0);
    queue.end();
  };
  const program: Program = {
    events: queue,
    say: (content) =>
      void heard.push(`say ${content.map((block) => ('text' in block ? block.text : block.type)).join('|')}`),
    interrupt: () => void heard.push('interrupt'),
    stopThread: (key) => void heard.push(`stop ${key}`),
    setModel: (model) => void heard.push(`model ${model}`),
    setPermissionMode: (mode) => void heard.push(`mode ${mode}`),
    answer: (callId, decision) => void heard.push(toHeard(callId, decision)),
    giveResult: (callId) => void heard.push(`result ${callId}`),
    vitals: () => ({ pid: null, isAlive: !isGone, lastByteAt: null }),
    close: async () => {
      heard.push('close');
      if (!isDeaf) exit('closed', true);
    },
  };
  return {
    program,
    test: {
      options,
      heard,
      tell: (...events) => queue.push(events.flatMap(withAsk), 0),
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

/** Calls that the program does not ask for right behind them. */
const proposed = new WeakSet<ProgramEvent>();

/** The program asks as soon as it has announced the call, unless the test says otherwise. */
function withAsk(event: ProgramEvent): ProgramEvent[] {
  const isAsked = event.type === 'call' && 'permission' in event.tool && event.tool.permission === 'ask';
  return isAsked && !proposed.has(event) ? [event, asks(event.callId, event.key)] : [event];
}

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };

// What a program tells, in short.

export const begins = (key = MAIN): ProgramEvent => ({ type: 'request_started', key, model: 'claude-x' });
export const ends = (key = MAIN): ProgramEvent => ({
  type: 'request_ended',
  key,
  model: 'claude-x',
  usage,
  stopReason: 'end_turn',
  isError: false,
});
export const says = (text: string, key = MAIN): ProgramEvent => ({
  type: 'block_ended',
  key,
  block: text,
  content: { type: 'text', text },
});
export const calls = (callId: string, permission: 'allow' | 'ask', key = MAIN): ProgramEvent => ({
  ...toCall(callId, { kind: 'builtin', permission }),
  key,
});
/** A call that the definition wants asked for, and that the program has not asked for yet. */
export const proposes = (callId: string, key = MAIN): ProgramEvent => {
  const call: ProgramEvent = { ...toCall(callId, { kind: 'builtin', permission: 'ask' }), key };
  proposed.add(call);
  return call;
};
export const asks = (callId: string, key = MAIN, more: Partial<ProgramAsk> = {}): ProgramEvent => ({
  type: 'ask',
  key,
  callId,
  kind: 'tool',
  reason: null,
  input: {},
  ...more,
});
export const callsAgent = (callId: string): ProgramEvent => ({ ...toCall(callId, { kind: 'agent' }), key: MAIN });
export const gives = (callId: string, key = MAIN): ProgramEvent => ({
  type: 'result',
  key,
  callId,
  content: [{ type: 'text', text: 'done' }],
  isError: false,
});
export const opens = (key: string, callId: string | null): ProgramEvent => ({
  type: 'thread_opened',
  key,
  parentKey: MAIN,
  agentName: 'worker',
  description: key,
  prompt: `Do ${key}.`,
  callId,
});
export const leaves = (key: string, status: 'completed' | 'failed' | 'stopped' = 'completed'): ProgramEvent => ({
  type: 'thread_ended',
  key,
  status,
  error: null,
});
export const turnBegins: ProgramEvent = { type: 'turn_started', key: MAIN };
export const turnEnds: ProgramEvent = { type: 'turn_ended', key: MAIN, outcome: { type: 'done' }, isMoreToCome: false };

function toCall(callId: string, tool: ProgramCall['tool']): ProgramCall {
  return { type: 'call', callId, name: 'Bash', input: {}, tool };
}
