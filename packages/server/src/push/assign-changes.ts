import type { SummaryRecord } from '../store/summaries.ts';
import { FAILED, NEEDS, type SessionChange, toChange } from './find-changes.ts';
import { pushLimits } from './limits.ts';
import type { Changes, PushState, StoredDevice } from './push-records.ts';

/** A change of a session. `at`: the time of its last change, if a later search found it. */
export type FoundChange = SessionChange & { readonly at?: number };

/** Adds changes to the pending changes of each device; undefined if all changes are known. */
export function assignChanges(state: PushState, found: readonly FoundChange[]): PushState | undefined {
  const fresh = found.filter(({ sessionId, change }) => state.announced[sessionId] !== change);
  if (fresh.length === 0 || state.devices.length === 0) return undefined;
  const devices = state.devices.map((device) => withChanges(device, fresh));
  return { devices, announced: { ...state.announced, ...toRecord(fresh) } };
}

/**
 * Compares sessions with the announced changes, after a crash may have lost a change: adds missing changes, and forgets sessions that
 * neither need a person nor have failed any more.
 */
export function assignMissed(
  state: PushState,
  sessions: readonly SummaryRecord[],
  changedBefore: number,
): PushState | undefined {
  const kept = sessions.flatMap(({ sessionId }) => {
    const change = state.announced[sessionId];
    return change === undefined ? [] : [{ sessionId, change }];
  });
  const missed = sessions.flatMap((session): FoundChange[] => {
    const { sessionId, activityAt: at } = session;
    const change = toChange(session, 0);
    // The `seq` of the frame is not known here, so any announced `needs_you` change counts.
    const isKnown = change?.startsWith(NEEDS) === true && state.announced[sessionId]?.startsWith(NEEDS) === true;
    return change === undefined || isKnown || at > changedBefore ? [] : [{ sessionId, change, at }];
  });
  const tidied = { ...state, announced: toRecord(kept) };
  const assigned = assignChanges(tidied, missed);
  return assigned ?? (kept.length < Object.keys(state.announced).length ? tidied : undefined);
}

function withChanges(device: StoredDevice, changes: readonly FoundChange[]): StoredDevice {
  const wanted = changes.filter(({ change, at = device.createdAt }) => {
    const kind = change.startsWith(FAILED) ? 'failures' : 'approvals';
    return device.notify.includes(kind) && at >= device.createdAt;
  });
  if (wanted.length === 0) return device;
  // Entries that are set again come last, so that the newest are kept.
  const entries = new Map(Object.entries(device.pending));
  for (const { sessionId, change } of wanted) {
    entries.delete(sessionId);
    entries.set(sessionId, change);
  }
  return { ...device, pending: Object.fromEntries([...entries].slice(-pushLimits.pushPendingSessionsMax)) };
}

function toRecord(changes: readonly SessionChange[]): Changes {
  return Object.fromEntries(changes.map(({ sessionId, change }) => [sessionId, change]));
}
