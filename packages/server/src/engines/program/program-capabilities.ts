/**
 * The capabilities of a program, known before a session starts it. Each capability decides a test of the program suite, or a line of
 * `fleetloom doctor` and docs/engines.md.
 */
export interface ProgramCapabilities {
  /** How the text of sub-agents arrives: as deltas or block by block. `none`: the program does not report sub-agents. */
  readonly subAgentText: 'deltas' | 'blocks' | 'none';
  /** Whether the agents of the roster run with their own definitions. */
  readonly roster: boolean;
  /** Where an agent reads the report of its sub-agent: in the result of the call that started it, or in a later message. */
  readonly subAgentReport: 'result' | 'message';
  /** Whether the definition or the program decides which calls need an approval. */
  readonly approvals: 'definition' | 'program';
  /** Where the model reads the reason of a denial: in the result of the call, or in a later message. */
  readonly denialReason: 'result' | 'message';
  /** A person can allow a call with another input. Without it such a decision denies the call. */
  readonly changedInput: boolean;
  /** The model can ask people a question. */
  readonly questions: boolean;
  /** Which agents have the custom tools of their definition. */
  readonly customTools: 'all_agents' | 'main_agent' | 'none';
  /** How the model receives the system prompt of the definition. */
  readonly systemPrompt: 'system' | 'message';
  /** When the output of a command is shown: while it runs, only where the agent reports it, or when it has ended. */
  readonly commandOutput: 'live' | 'if_offered' | 'at_end';
  /** The tasks that an agent has planned are reported. */
  readonly plans: boolean;
  /** When a message that arrives during a turn is read: in that turn, or in the next one. */
  readonly steering: 'turn' | 'next_turn';
  /** When another model is used after a change: from the next model request on, or from the next turn on. */
  readonly modelChange: 'request' | 'turn';
  /** When the usage of a model request is known: at its end, or after the results of its calls, or only that of a whole turn. */
  readonly requestUsage: 'at_end' | 'later' | 'turn';
  /** The stop reason of each model request is known. */
  readonly stopReasons: boolean;
  /** The HTTP status of a failed model request is known when it is sent again, and when it ends the turn. */
  readonly failureStatus: boolean;
  /** The program waits while its events are not read. Without it the program keeps its output in its own memory. */
  readonly waitsForReader: boolean;
  /** Whether a conversation can be continued by another process. */
  readonly resume: 'always' | 'if_offered';
  /** A session can be forked with the history that the program has. */
  readonly fork: boolean;
  /** Work before a crash of the server that is missing in the log is read from the program's transcripts. */
  readonly recovery: boolean;
}

/** The texts of one capability for people: its title, and the consequence for a program without it. */
interface CapabilityWords {
  readonly title: string;
  /** The best value. */
  readonly best: string | boolean;
  readonly without: string;
  /** Further values with texts of their own. */
  readonly others?: Readonly<Record<string, string>>;
}

/** The texts of each capability, in the order of docs/engines.md and `fleetloom doctor`. */
export const capabilityWords: { readonly [Name in keyof ProgramCapabilities]: CapabilityWords } = {
  subAgentText: {
    title: 'text of sub-agents while it grows',
    best: 'deltas',
    without: 'text of sub-agents arrives block by block',
    others: { none: 'sub-agents of the program are not reported: a call shows what they return' },
  },
  roster: {
    title: 'agents of the roster run with their own definitions',
    best: true,
    without: 'agents of the roster do not run with their own definitions',
  },
  subAgentReport: {
    title: 'a sub-agent reports in the result of the call that started it',
    best: 'result',
    without: 'a sub-agent reports in a later message, and a coordinator that has ended its turn does not read it',
  },
  approvals: {
    title: 'the definition decides which calls need an approval',
    best: 'definition',
    without:
      'the program decides which calls need an approval: a call that it does not ask for runs, whatever the definition says',
  },
  denialReason: {
    title: 'the reason of a denial is in the result of the call',
    best: 'result',
    without: 'the reason of a denial reaches the model as a message',
  },
  changedInput: {
    title: 'an approval can change the input of the call',
    best: true,
    without: 'an approval cannot change the input of the call: it is denied, and the model reads what to run instead',
  },
  questions: {
    title: 'the model can ask people a question',
    best: true,
    without: 'the model cannot ask people a question',
  },
  customTools: {
    title: 'custom tools for sub-agents too',
    best: 'all_agents',
    without: 'custom tools are not available to sub-agents',
    others: { none: 'custom tools are not available' },
  },
  systemPrompt: {
    title: 'the system prompt of the definition',
    best: 'system',
    without: 'the system prompt of the definition is the beginning of the first message',
  },
  commandOutput: {
    title: 'the output of a command while it runs',
    best: 'live',
    without: 'the output of a command is shown when it has ended',
    others: { if_offered: 'the output of a command is shown while it runs where the agent reports it' },
  },
  plans: {
    title: 'the plan of an agent as a list of tasks',
    best: true,
    without: 'the plan of an agent is not reported as a list of tasks',
  },
  steering: {
    title: 'a message during a turn is read in that turn',
    best: 'turn',
    without: 'a message during a turn is read after it',
  },
  modelChange: {
    title: 'another model from the next model request on',
    best: 'request',
    without: 'another model is used from the next turn on',
  },
  requestUsage: {
    title: 'the usage of a model request is known at its end',
    best: 'at_end',
    without:
      'the usage of a model request is known after the results of its calls: where one waits for a person, it is counted with the next request',
    others: { turn: 'the usage is known for whole turns, and model requests are inferred' },
  },
  stopReasons: {
    title: 'the stop reason of each model request',
    best: true,
    without: 'the stop reason of a model request is not known',
  },
  failureStatus: {
    title: 'the HTTP status of failed model requests',
    best: true,
    without: 'the HTTP status of a failed model request is not known',
  },
  waitsForReader: {
    title: 'the program waits while its output is not read',
    best: true,
    without: 'output that is not read stays in the memory of the program',
  },
  resume: {
    title: 'a conversation is continued after a restart',
    best: 'always',
    without: 'a conversation is continued after a restart where the agent offers it (session/load); elsewhere it ends',
  },
  fork: { title: 'forks with the history of the program', best: true, without: 'sessions cannot be forked' },
  recovery: {
    title: 'after a crash of the server, work that was not logged is read from transcripts',
    best: true,
    without: 'after a crash of the server, work that was not logged is lost',
  },
};

/** The capabilities that a program lacks, with one part of a sentence for each. */
export function listLacks(capabilities: ProgramCapabilities): readonly string[] {
  // The cast: the type of `capabilityWords` has exactly these keys.
  const names = Object.keys(capabilityWords) as (keyof ProgramCapabilities)[];
  return names.flatMap((name) => {
    const { best, without, others = {} } = capabilityWords[name];
    const value = capabilities[name];
    return value === best ? [] : [others[String(value)] ?? without];
  });
}

/** The capabilities of an engine without a program: none. */
export const noCapabilities: ProgramCapabilities = {
  subAgentText: 'blocks',
  roster: false,
  subAgentReport: 'message',
  approvals: 'program',
  denialReason: 'message',
  changedInput: false,
  questions: false,
  customTools: 'none',
  systemPrompt: 'message',
  commandOutput: 'at_end',
  plans: false,
  steering: 'next_turn',
  modelChange: 'turn',
  requestUsage: 'later',
  stopReasons: false,
  failureStatus: false,
  waitsForReader: false,
  resume: 'if_offered',
  fork: false,
  recovery: false,
};
