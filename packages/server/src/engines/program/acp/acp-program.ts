import type { ProgramHandle } from '../engine/create-program-engine.ts';
import { LineProgram, type LineProgramOptions } from '../process/line-program.ts';
import type { ProgramOptions } from '../program.ts';
import { AcpConversation, type AcpConversationOptions } from './acp-conversation.ts';

/** Options of one running ACP agent. */
export interface AcpProgramOptions
  extends ProgramOptions,
    Pick<LineProgramOptions, 'register' | 'schedule' | 'launch'>,
    Pick<AcpConversationOptions, 'model' | 'mcpServers'> {
  /** Called once, when the process has ended. */
  readonly onEnd: () => void;
}

/** The program of one session: an ACP agent on its own process, with one conversation. */
export function openAcpProgram(options: AcpProgramOptions): ProgramHandle {
  const conversation = new AcpConversation({
    ...options,
    write: (line) => program.process.write(line),
    emit: (events) => program.push(events),
    onFailure: (reason) => program.process.fail(reason),
  });
  const program = new LineProgram({
    ...options,
    onMessage: (message) => conversation.take(message),
    onEnd: () => {
      conversation.close();
      options.onEnd();
    },
  });
  conversation.begin();
  const act = (run: () => void) => {
    run();
    program.flush(0);
  };

  return {
    gone: program.process.gone,
    events: program.events,
    say: (content) => act(() => conversation.say(content)),
    interrupt: () => act(() => conversation.interrupt()),
    // ACP does not have sub-agents, custom tools or questions.
    stopThread: () => {},
    giveResult: () => {},
    setModel: (model) => conversation.setModel(model),
    setPermissionMode: (mode) => conversation.setClosed(mode === 'deny'),
    answer: (callId, decision) => act(() => conversation.answer(callId, decision)),
    controls: [],
    control: async () => (program.process.vitals.isAlive ? { type: 'unsupported' } : { type: 'exited' }),
    vitals: () => program.process.vitals,
    close: (how) => {
      const { isResting } = conversation;
      // An interrupt makes the agent end its commands, which may survive it otherwise.
      if (program.process.vitals.isAlive) act(() => conversation.interrupt());
      return program.process.close({ isResting, ...how });
    },
  };
}
