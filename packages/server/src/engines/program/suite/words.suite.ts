/** Steps of a script in which the model calls tools that every program has, by the program's names. */
export interface ProgramWords {
  readonly bash: (command: string) => object;
  readonly read: (path: string) => object;
  /** Writes a whole file. An existing file must be read first. */
  readonly write: (path: string, content: string) => object;
  /** Starts a sub-agent with a prompt, and waits for it unless it runs in the background. */
  readonly delegate: (agentName: string, description: string, prompt: string, isInBackground?: boolean) => object;
  /** Sends a message to a sub-agent that has ended. */
  readonly followUp: (key: string, message: string) => object;
  /** An agent waits for the sub-agent that it follows up, instead of reading its report in a message. */
  readonly joinsFollowUps?: boolean;
  /** The turns that send a message to a sub-agent of an earlier process. */
  readonly followUpAfterRestart: (key: string, message: string) => readonly (readonly object[])[];
  /** Asks people a question with two answers to choose from. */
  readonly question: (question: string, answers: readonly [string, string]) => object;
  /** Calls a custom tool of the definition. */
  readonly custom: (name: string, input: object) => object;
  /** The permission mode in which agents change nothing and no person is asked. */
  readonly closedMode: string;
  /** The error of the program for an unknown conversation. */
  readonly lostConversation: RegExp;
  /** The end of the result of a command that printed a line. */
  readonly outputEnd: '' | '\n';
  /** The program starts sub-agents even if no level is left, because its depth cannot be limited. */
  readonly ignoresDepth?: boolean;
  /** Whether calls of one response run one after another. */
  readonly isSequential: boolean;
  /** Whether the model API marks a result as an error. */
  readonly marksErrors: boolean;
  /** Whether a call that starts a sub-agent has a description of its task. */
  readonly describes: boolean;
}
