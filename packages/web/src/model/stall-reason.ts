import type { SessionHealth, Slot, ThreadHealth } from '@fleetloom/protocol/fleet';
import { formatDuration } from './format.ts';

/** Why a thread counts as stalled: what the server knows of it, so that nobody has to guess. */
export function stallReason(slot: Slot, now: number, isLive: boolean, health: SessionHealth | undefined): string {
  const silence = `no event for ${formatDuration(now - (slot.lastAt ?? now))}`;
  if (!isLive) return `${silence} · ${lastOf(slot)} · not connected`;
  // A row has little room, and columns for the times: what is known goes first.
  return health === undefined ? `${silence} · ${lastOf(slot)}` : `${describe(slot, now, health)} · ${silence}`;
}

function lastOf({ phase }: Slot): string {
  return phase === 'requesting' || phase === 'starting' ? 'the model has not answered' : `last: ${phase}`;
}

function describe({ threadId }: Slot, now: number, { is_known: isKnown, owner, threads }: SessionHealth): string {
  if (!isKnown) return owner?.node_id == null ? 'its owner does not answer' : `${owner.node_id} does not answer`;
  if (owner === null) return 'nobody works on it';
  const thread = threads.find(({ id }) => id === threadId);
  // Its log goes on in a moment, or the session is told from elsewhere.
  if (thread === undefined) return 'nothing is under way for it';
  const told = toWords(thread, (time) => formatDuration(Math.max(0, now - Date.parse(time))));
  return owner.node_id === null ? told : `${told} · at ${owner.node_id}`;
}

function toWords(thread: ThreadHealth, toAge: (time: string) => string): string {
  switch (thread.doing) {
    case 'request': {
      const { connection, last_byte_at: lastByteAt, since } = thread;
      if (connection === 'queued') return `its request waits for its turn, for ${toAge(since)}`;
      if (connection === 'sent') return `not answered, sent ${toAge(since)} ago`;
      if (connection === null || lastByteAt === null) return `request under way for ${toAge(since)}`;
      return `connection open, last byte ${toAge(lastByteAt)} ago`;
    }
    case 'program': {
      const { pid, is_alive: isAlive, last_byte_at: lastByteAt, tool } = thread;
      if (pid === null) return 'its program is not started yet';
      const bytes = lastByteAt === null ? 'no byte yet' : `last byte ${toAge(lastByteAt)} ago`;
      return `pid ${pid} ${isAlive ? 'alive' : 'dead'}, ${bytes}${tool === null ? '' : `, runs ${tool}`}`;
    }
    case 'tool':
      return `runs ${thread.tool} for ${toAge(thread.since)}`;
    case 'elsewhere':
      if (thread.tool === null) return 'runs in its terminal';
      return `${thread.tool} is running or waits for permission in its terminal`;
    case 'wait':
      return {
        retry: 'waits for its next try',
        threads: 'waits for other threads',
        somebody: 'waits for somebody',
      }[thread.waits_for];
  }
}
