import type { SessionHealth, ThreadHealth } from '@fleetloom/protocol/fleet';
import { formatAge } from '../terminal/format.ts';

/** What the server knows of a thread that says nothing, in as few words as fit a line. */
export function describeHealth(
  { is_known: isKnown, owner, threads }: SessionHealth,
  { threadId, lastAt }: { readonly threadId: string | null; readonly lastAt: number | null },
  nowMs: number,
): string {
  if (!isKnown) return `${owner?.node_id ?? 'its owner'} does not answer`;
  if (owner === null) return 'nobody works on it';
  const thread = threads.find(({ id }) => id === threadId);
  if (thread === undefined) return 'nothing under way';
  return `${toWords(thread, nowMs)}${toLastByte(thread, lastAt, nowMs)}`;
}

function toWords(thread: ThreadHealth, nowMs: number): string {
  const age = () => formatAge(nowMs - Date.parse(thread.since));
  switch (thread.doing) {
    case 'program':
      if (thread.pid === null) return 'program not started';
      return thread.is_alive ? 'pid alive' : 'pid dead';
    case 'request':
      if (thread.connection === null) return `request ${age()}`;
      return { queued: 'queued', sent: 'not answered', open: 'connection open' }[thread.connection];
    case 'tool':
      return `runs ${thread.tool} ${age()}`;
    case 'elsewhere':
      return thread.tool === null ? 'runs in its terminal' : `${thread.tool} runs or waits for permission`;
    case 'wait':
      return `waits for ${{ retry: 'its next try', threads: 'others', somebody: 'somebody' }[thread.waits_for]}`;
  }
}

/** Only where it says something else than the last event does: a ping comes without one. */
function toLastByte(thread: ThreadHealth, lastAt: number | null, nowMs: number): string {
  const at = 'last_byte_at' in thread && thread.last_byte_at !== null ? Date.parse(thread.last_byte_at) : null;
  if (at === null || Math.abs(at - (lastAt ?? 0)) < SAME_MS) return '';
  return `, last byte ${formatAge(nowMs - at)}`;
}

/** How long it takes at most until what was read is told. */
const SAME_MS = 2_000;
