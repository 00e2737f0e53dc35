import type { Check, Need } from './check.ts';
import { Context, type Sdk, type Target } from './context.ts';
import { limits } from '../limits.ts';
import { saidIn } from './talk.ts';

/** What a server has beside the wire contract, as far as checks need it. */
export interface Abilities {
  readonly scripts: boolean;
  readonly keys: boolean;
  readonly restart: boolean;
  /** Our own server says who it is; others need not. */
  readonly isFleetloom: boolean;
}

/** Why a check cannot be made of this server; undefined if it can. */
export function missingFor({ needs }: Check, abilities: Abilities): string | undefined {
  for (const need of needs) if (need !== 'alone' && !abilities[need]) return reasons[need];
  return undefined;
}

const reasons: Readonly<Record<Exclude<Need, 'alone'>, string>> = {
  scripts: 'the server has no scripted/… models',
  keys: 'the server lets everybody in',
  restart: 'nobody can restart this server from here',
};

/** Looks at what a server has. Throws if there is no such server, or the key is none of its. */
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
    // Whatever is wrong with it, the checks that need no scripts find out.
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
