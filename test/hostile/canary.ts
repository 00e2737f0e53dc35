import { watchFleet } from '@fleetloom/client';
import type { Victim } from './victim.ts';

/** The observations of another tenant and a load balancer while the server is attacked. */
export interface Canary {
  stop(): Promise<CanaryReport>;
}

export interface CanaryReport {
  readonly healthMs: { readonly p99: number; readonly longestGap: number; readonly failures: readonly string[] };
  /** Turns of the other tenant's session that ended as they should, and what was wrong with the others. */
  readonly turns: number;
  readonly problems: readonly string[];
  /** The longest time without an event while a turn was streaming. */
  readonly longestSilenceMs: number;
}

/**
 * Watches a server from outside: `/healthz` twenty times a second, and a session of another tenant whose turns stream numbered
 * words, each of which must arrive once and in order.
 */
export async function watchCanary(victim: Victim): Promise<Canary> {
  const ending = new AbortController();
  const health = probeHealth(victim.url, ending.signal);
  const session = runSession(victim, ending.signal);
  await session.started;
  return {
    stop: async () => {
      ending.abort();
      const [healthMs, found] = await Promise.all([health, session.done]);
      return { healthMs, ...found };
    },
  };
}

async function probeHealth(url: string, signal: AbortSignal): Promise<CanaryReport['healthMs']> {
  const times: number[] = [];
  const failures: string[] = [];
  let longestGap = 0;
  let answeredAt = performance.now();
  while (!signal.aborted) {
    const begin = performance.now();
    // A connection that is closed for another client is retried at once, as load balancers do; what counts is the gap.
    const status = await probe(url).catch(() => undefined);
    const now = performance.now();
    if (status !== undefined && status !== 200) failures.push(`status ${status}`);
    longestGap = Math.max(longestGap, now - answeredAt - PROBE_MS);
    if (status === undefined) continue;
    times.push(now - begin);
    answeredAt = now;
    await sleep(PROBE_MS);
  }
  times.sort((a, b) => a - b);
  return { p99: times[Math.floor(times.length * 0.99)] ?? 0, longestGap, failures };
}

async function probe(url: string): Promise<number> {
  const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) });
  await answer.arrayBuffer();
  return answer.status;
}

function runSession(victim: Victim, signal: AbortSignal) {
  let isStarted: () => void = () => {};
  const started = new Promise<void>((resolve) => (isStarted = resolve));
  return { started, done: run() };

  async function run() {
    const problems: string[] = [];
    let turns = 0;
    let longestSilenceMs = 0;
    try {
      const { beta } = victim.canary;
      const agent = await beta.agents.create({ name: 'canary', model: 'scripted/canary', system: SCRIPT });
      const environment = await beta.environments.create({ name: 'canary' });
      const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      const send = () =>
        beta.sessions.events.send(session.id, {
          events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go on.' }] }],
        });
      await send();
      isStarted();
      let text = '';
      let heardAt = performance.now();
      const { url, keys } = victim;
      // Not one reconnection is allowed: the stream of a bystander must not notice the attack.
      for await (const event of watchFleet({
        url,
        key: keys.canary,
        session: session.id,
        gate: 'off',
        retriesMax: 0,
      })) {
        longestSilenceMs = Math.max(longestSilenceMs, performance.now() - heardAt);
        heardAt = performance.now();
        if (event.type === 'text') text += event.delta;
        if (event.type !== 'done') continue;
        turns += 1;
        if (text !== WORDS) problems.push(`turn ${turns}: ${text.slice(0, 200)}`);
        text = '';
        if (signal.aborted) break;
        await send();
      }
    } catch (error) {
      isStarted();
      problems.push(`the session failed: ${String(error)}`);
    }
    return { turns, problems, longestSilenceMs };
  }
}

const PROBE_MS = 50;
const WORDS = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
const SCRIPT = `<script>${JSON.stringify({ turns: [[{ say: WORDS, chunks: 40, every_ms: 50 }]] })}</script>`;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
