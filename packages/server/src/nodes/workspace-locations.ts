/**
 * The node whose disk has the workspace of a session, if each node has a disk of its own. A session stays on that disk; if
 * the disk is lost, the turn ends with `workspace_lost` instead of continuing on another node.
 */
export interface WorkspaceLocations {
  /** Where the workspace is. `elsewhere`: on the disk of another node, which may be restarting. `lost`: on the disk of a node that is gone. */
  find(sessionId: string): Promise<'none' | 'here' | 'elsewhere' | 'lost'>;
  /** Records that the session is about to use this disk. Durable when this resolves; rejects if the session is on another disk. */
  settle(sessionId: string, use: WorkspaceUse): Promise<void>;
  /** Forgets a lost workspace: the next workspace of the session may be on any node. */
  leave(sessionId: string): Promise<void>;
  /** Whether the workspace is probably on this disk. Called often, so it does not read the store. */
  isHere(sessionId: string): Promise<boolean>;
}

/** How a session uses a disk. `workspace`: for its files. `program`: for an agent program, which stores its conversation on the disk of its node. */
export type WorkspaceUse = 'workspace' | 'program';
