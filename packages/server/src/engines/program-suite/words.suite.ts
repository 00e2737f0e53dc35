/** How the model of a program calls what every program has: the steps of a script. */
export interface ProgramWords {
  readonly bash: (command: string) => object;
  /** Starts a sub-agent with a prompt; it is waited for unless it goes to the background. */
  readonly delegate: (agentName: string, description: string, prompt: string, isInBackground?: boolean) => object;
  /** Speaks to a sub-agent that has ended. */
  readonly followUp: (key: string, message: string) => object;
  /** Asks people something with two answers to choose from. */
  readonly question: (question: string, answers: readonly [string, string]) => object;
  /** Calls a custom tool of its definition. */
  readonly custom: (name: string, input: object) => object;
}
