/** How the model of a program calls what every program has: the steps of a script. */
export interface ProgramWords {
  readonly bash: (command: string) => object;
  readonly read: (path: string) => object;
  /** Writes a whole file. One that exists has to be read first. */
  readonly write: (path: string, content: string) => object;
  /** Starts a sub-agent with a prompt; it is waited for unless it goes to the background. */
  readonly delegate: (agentName: string, description: string, prompt: string, isInBackground?: boolean) => object;
  /** Speaks to a sub-agent that has ended. */
  readonly followUp: (key: string, message: string) => object;
  /** An agent waits for the sub-agent that it follows up, instead of reading its report in a message. */
  readonly joinsFollowUps?: boolean;
  /** The turns in which a sub-agent of an earlier process is spoken to. */
  readonly followUpAfterRestart: (key: string, message: string) => readonly (readonly object[])[];
  /** Asks people something with two answers to choose from. */
  readonly question: (question: string, answers: readonly [string, string]) => object;
  /** Calls a custom tool of its definition. */
  readonly custom: (name: string, input: object) => object;
  /** The permission mode in which nothing is changed and no person is asked. */
  readonly closedMode: string;
  /** What the program says of a conversation that it does not know. */
  readonly lostConversation: RegExp;
  /** How the result of a command that printed a line ends. */
  readonly outputEnd: '' | '\n';
  /** The program starts sub-agents also where no level is left: it cannot be kept from that. */
  readonly ignoresDepth?: boolean;
  /** Whether calls of one answer are made one after another. */
  readonly isSequential: boolean;
  /** Whether the model API marks a result as an error. */
  readonly marksErrors: boolean;
  /** Whether a call that starts a sub-agent has a description of its task. */
  readonly describes: boolean;
}
