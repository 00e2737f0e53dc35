/**
 * Where sessions live, when each process has a disk of its own. One that has something on a disk stays with that disk; when
 * it is lost, that is said, and nobody goes on elsewhere as if nothing had happened.
 */
export interface Homes {
  /** `elsewhere`: another process has what it left on a disk, or will have it again soon. `lost`: nobody has. */
  find(sessionId: string): Promise<'none' | 'here' | 'elsewhere' | 'lost'>;
  /** It is about to use something here. Durable when this resolves; rejects if it lives elsewhere. */
  settle(sessionId: string, use: HomeUse): Promise<void>;
  /** What was lost is forgotten: the next home may be anywhere. */
  leave(sessionId: string): Promise<void>;
  /** Whether the session lives here. Asked often, so it is a guess without the store. */
  isHere(sessionId: string): Promise<boolean>;
}

/** `workspace`: its files. `program`: a process, which keeps what it knows of the conversation on the disk of its node. */
export type HomeUse = 'workspace' | 'program';
