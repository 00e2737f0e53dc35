/**
 * On which node's disk the workspace of a session is, if each node has a disk of its own. A session stays with that disk; if
 * the disk is lost, the turn ends with `workspace_lost` instead of continuing on another node.
 */
export interface WorkspaceLocations {
  /** `elsewhere`: on the disk of another node, which may be restarting. `lost`: that node is gone. */
  find(sessionId: string): Promise<'none' | 'here' | 'elsewhere' | 'lost'>;
  /** Records that the session is about to use this disk. Durable when this resolves; rejects if it is on another disk. */
  settle(sessionId: string, use: WorkspaceUse): Promise<void>;
  /** Forgets a lost workspace: the next one may be on any node. */
  leave(sessionId: string): Promise<void>;
  /** Whether the workspace is probably on this disk. Called often, so it does not read the store. */
  isHere(sessionId: string): Promise<boolean>;
}

/** `workspace`: its files. `program`: a process, which keeps what it knows of the conversation on the disk of its node. */
export type WorkspaceUse = 'workspace' | 'program';
