/**
 * Where the workspaces of sessions are, when each process has a disk of its own. A session whose workspace is on a disk
 * stays with that disk; when it is lost, that is said, and nobody goes on elsewhere as if nothing had happened.
 */
export interface Homes {
  /** `elsewhere`: another process has its workspace, or will have it again soon. `lost`: nobody has. */
  find(sessionId: string): Promise<'none' | 'here' | 'elsewhere' | 'lost'>;
  /** Its workspace is about to be used here. Durable when this resolves. */
  settle(sessionId: string): Promise<void>;
  /** What was lost is forgotten: the next workspace may be anywhere. */
  leave(sessionId: string): Promise<void>;
  /** Whether this disk has a workspace of the session. Asked often, so it is a guess without the store. */
  hasWorkspace(sessionId: string): Promise<boolean>;
}
