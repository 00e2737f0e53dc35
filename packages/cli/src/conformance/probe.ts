import type { Check, Need } from './harness/check.ts';
import { Context, type Sdk, type Target } from './harness/context.ts';
import { limits } from '../base/limits.ts';
import { saidIn } from './harness/talk.ts';

/** Features of a server outside the wire contract that checks need. */
export interface Abilities {
  readonly scripts: boolean;
  readonly keys: boolean;
  readonly restart: boolean;
  /** Whether the server is a Fleetloom server. */
  readonly isFleetloom: boolean;
}

/** Why a check does not apply to this server; undefined if the check applies. */
export function missingFor({ needs }: Check, abilities: Abilities): string | undefined {
  for (const need of needs) if (need !== 'alone' && !abilities[need]) return reasons[need];
  return undefined;
}

const reasons: Readonly<Record<Exclude<Need, 'alone'>, string>> = {
  scripts: 'the server has no scripted/… models',
  keys: 'the server requires no key',
  restart: 'the server cannot be restarted from here',
};

/** Reads the features of a server. Throws if the server does not respond or rejects the key. */
export async function probe(target: Target, sdk: Sdk): Promise<Abilities> {
  const signal = AbortSignal.timeout(limits.checkMs);
  const context = new Context(target, sdk, { signal, isThorough: false });
  try {
    await context.client.beta.agents.list({ limit: 1 });
    const [scripts, keys, isFleetloom] = await Promise.all([hasScripts(context), hasKeys(context), isOurs(target)]);
    return { scripts, keys, restart: target.restart !== undefined, isFleetloom };
  } finally {
    context.close();
  }
}

async function hasScripts(context: Context): Promise<boolean> {
  try {
    const talk = await context.session({ turns: [[{ say: 'The script plays.' }]] });
    return saidIn(await talk.turn('Begin.')) === 'The script plays.';
  } catch {
    // The checks that need no scripts report the cause.
    return false;
  }
}

async function hasKeys(context: Context): Promise<boolean> {
  return (await context.raw({ path: '/v1/agents?limit=1', key: 'none' })).status === 401;
}

async function isOurs({ url }: Target): Promise<boolean> {
  try {
    const response = await fetch(`${url}/openapi.json`);
    const { info } = (await response.json()) as { info?: { title?: string } };
    return info?.title === 'Fleetloom';
  } catch {
    return false;
  }
}
