import { noCapabilities } from './program-capabilities.ts';
import { MAIN, type Program, type ProgramEngine, type ProgramEvent, type ProgramRefusal } from './program.ts';

/** An engine in place of a missing program: every program that it opens ends at once, with the reason. */
export function createNoProgramEngine(message: string): ProgramEngine {
  return {
    open: async () => toEndedProgram(message, 'program_unavailable'),
    whyUnavailable: async () => message,
    describe: async () => ({
      version: null,
      isSandboxed: true,
      permissionModes: [],
      depths: [],
      settings: [],
      controls: [],
      capabilities: noCapabilities,
    }),
    copyConversation: async () => false,
    recover: async function* () {},
    forget: async () => {},
    listKept: async () => [],
    reap: async () => 0,
    close: async () => {},
  };
}

/** A program that has ended before it began. */
export function toEndedProgram(message: string, refusal?: ProgramRefusal): Program {
  const reason = refusal === undefined ? {} : { refusal };
  const events: readonly ProgramEvent[] = [{ type: 'exited', key: MAIN, message, isWanted: false, ...reason }];
  return {
    events: {
      [Symbol.asyncIterator]: async function* () {
        yield events;
      },
    },
    say: () => {},
    interrupt: () => {},
    stopThread: () => {},
    setModel: () => {},
    setPermissionMode: () => {},
    answer: () => {},
    giveResult: () => {},
    controls: [],
    control: async () => ({ type: 'exited' }),
    vitals: () => ({ pid: null, isAlive: false, lastByteAt: null }),
    close: async () => {},
  };
}
