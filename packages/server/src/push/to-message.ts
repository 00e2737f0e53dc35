import { cutText, type PushMessage } from '@fleetloom/protocol/fleet';
import type { SummaryData } from '../frames/summary-data.ts';
import type { Store } from '../store/store.ts';
import type { SummaryRecord } from '../store/summaries.ts';
import { FAILED, NEEDS } from './find-changes.ts';
import { pushLimits } from './limits.ts';
import type { StoredDevice } from './push-records.ts';

/** A message for a device, with the urgency that push services use to save batteries. */
export interface DeviceMessage {
  readonly message: PushMessage;
  readonly urgency: 'high' | 'normal';
}

/**
 * The message for the pending changes of a device, from the current state of sessions; undefined if no change applies any more. It counts all
 * sessions of the workspace, because it replaces earlier messages.
 */
export async function toMessage(
  store: Pick<Store, 'summaries'>,
  workspaceId: string,
  { pending, notify, includesContent }: Pick<StoredDevice, 'pending' | 'notify' | 'includesContent'>,
  now: number,
): Promise<DeviceMessage | undefined> {
  const current = (await store.summaries.getAll(workspaceId, Object.keys(pending))).filter(({ sessionId, state }) =>
    pending[sessionId]!.startsWith(`${state} `),
  );
  if (current.length === 0) return undefined;
  const count = async (state: 'needs_you' | 'failed', activeFrom?: number) => {
    const list = { workspaceId, now, includesArchived: false, sort: 'activity', order: 'desc', limit: 1 } as const;
    const { groups } = await store.summaries.list({ ...list, activeFrom });
    return groups.reduce((sum, group) => sum + (group.state === state ? group.count : 0), 0);
  };
  const [needsYou, failed] = await Promise.all([
    notify.includes('approvals') ? count(NEEDS) : 0,
    notify.includes('failures') ? count(FAILED, now - pushLimits.pushFailedMs) : 0,
  ]);
  if (needsYou + failed === 0) return undefined;
  return {
    urgency: needsYou > 0 ? 'high' : 'normal',
    message: {
      title: toTitle(needsYou, failed),
      body: includesContent
        ? current.slice(0, pushLimits.pushNamedSessionsMax).map(toLine).join('\n')
        : 'Open Fleetloom to see more.',
      url: toUrl(current, needsYou, failed),
      tag: 'fleetloom',
      needs_you: needsYou,
      failed,
    },
  };
}

function toTitle(needsYou: number, failed: number): string {
  const parts = [
    ...(needsYou > 0 ? [`${sessions(needsYou)} need${needsYou === 1 ? 's' : ''} you`] : []),
    ...(failed > 0 ? [`${needsYou > 0 ? failed : sessions(failed)} failed`] : []),
  ];
  return parts.join(', ');
}

function sessions(count: number): string {
  return `${count} session${count === 1 ? '' : 's'}`;
}

function toLine(summary: SummaryRecord): string {
  // Only sessions write this data. Names and reasons are single lines without control characters.
  const { name, reason } = summary.data as unknown as SummaryData;
  const texts = reason === null ? [name] : [name, reason];
  return texts.map((text) => cutText(text, pushLimits.pushTextCharsMax)).join(': ');
}

function toUrl([first, ...more]: readonly SummaryRecord[], needsYou: number, failed: number): string {
  if (needsYou + failed === 1 && more.length === 0) return `#/thread/${first!.sessionId}`;
  return needsYou > 0 ? '#/inbox' : '#/sessions?status=failed';
}
