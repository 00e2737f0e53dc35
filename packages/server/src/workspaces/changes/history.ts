import { type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import type { WorkspaceChanged } from '../../frames/workspace-frames.ts';
import { readBatches } from '../../log/read-batches.ts';
import type { Store } from '../../store/store.ts';
import { createLocks } from '../../tools/locks.ts';
import { changesLimits } from './limits.ts';

/** A frame about the workspace of a session. */
export type WorkspaceFrame = Extract<SessionFrame, { type: `workspace.${string}` }>;
/** A frame that names a tree. */
export type TreeFrame = Extract<
  WorkspaceFrame,
  { type: 'workspace.opened' | 'workspace.isolated' | 'workspace.changed' }
>;

/** The frames of a log about the workspace of its session. */
export interface WorkspaceHistory {
  /** The frames, in the order of the log. */
  readonly frames: readonly WorkspaceFrame[];
  /** The names of the tools whose calls these frames mention, by the id of the call. */
  readonly tools: ReadonlyMap<string, string>;
}

/** Reads the workspace history of a session from its log. */
export type ReadHistory = (sessionId: string) => Promise<WorkspaceHistory>;

/** Creates a reader with a cache: a log only grows, and most of its frames are not about the workspace. */
export function createHistory(store: Pick<Store, 'read'>): ReadHistory {
  const known = new Map<string, KnownHistory>();
  const locks = createLocks();
  return (sessionId) =>
    locks.hold(sessionId, async () => {
      const history = known.get(sessionId) ?? { frames: [], tools: new Map(), openCalls: new Map(), seq: 0 };
      for await (const entries of readBatches(store, sessionId, history.seq, { skipsDeltas: true })) {
        for (const entry of entries) {
          if (entry.kind === 'frame' && isRead(entry.type)) add(history, toSessionFrame(entry.value));
          history.seq = entry.lastSeq;
        }
      }
      // Inserted again, so that the map is ordered by last use.
      known.delete(sessionId);
      known.set(sessionId, history);
      dropOldest(known);
      return { frames: [...history.frames], tools: new Map(history.tools) };
    });
}

interface KnownHistory {
  readonly frames: WorkspaceFrame[];
  readonly tools: Map<string, string>;
  /** The tools of calls without a result. A change precedes the result of its call in the log. */
  readonly openCalls: Map<string, string>;
  seq: number;
}

function isRead(type: string): boolean {
  return type.startsWith('workspace.') || CALLS.has(type);
}

const CALLS: ReadonlySet<string> = new Set([
  'agent.tool_use',
  'agent.mcp_tool_use',
  'agent.tool_result',
  'agent.mcp_tool_result',
] satisfies SessionFrame['type'][]);

function add({ frames, tools, openCalls }: KnownHistory, frame: SessionFrame): void {
  switch (frame.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
      openCalls.set(frame.payload.id, frame.payload.name);
      return;
    case 'agent.tool_result':
      openCalls.delete(frame.payload.tool_use_id);
      return;
    case 'agent.mcp_tool_result':
      openCalls.delete(frame.payload.mcp_tool_use_id);
      return;
    default:
      // The cast is safe because `isRead` selects frames by their type.
      frames.push(frame as WorkspaceFrame);
  }
  if (frame.type !== 'workspace.changed') return;
  for (const id of toCallIds(frame.payload)) {
    const tool = openCalls.get(id);
    if (tool !== undefined) tools.set(id, tool);
  }
}

function toCallIds({ tool_use_id: id, candidates = [] }: WorkspaceChanged): readonly string[] {
  return id === null ? candidates.map((call) => call.tool_use_id) : [id];
}

function dropOldest(known: Map<string, { readonly frames: readonly WorkspaceFrame[] }>): void {
  let count = [...known.values()].reduce((sum, { frames }) => sum + frames.length, 0);
  for (const [sessionId, { frames }] of known) {
    if (known.size <= changesLimits.historiesMax && count <= changesLimits.historyFramesMax) return;
    known.delete(sessionId);
    count -= frames.length;
  }
}
