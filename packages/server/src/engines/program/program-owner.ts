/** The owner of a program. The files of programs are separate for each owner. */
export interface ProgramOwner {
  readonly sessionId: string;
  /** The thread of a roster member; undefined: the session's own agent. */
  readonly threadId?: string | undefined;
}

/** The owner of a program and its workspace. */
export interface ProgramDirectory extends ProgramOwner {
  readonly directory: string;
}
