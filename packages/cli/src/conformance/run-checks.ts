import type { Check } from './harness/check.ts';
import { Context, type Sdk, type Target } from './harness/context.ts';
import { Mismatch, NotApplicable } from './harness/expect.ts';
import { limits } from '../base/limits.ts';
import { type Abilities, missingFor } from './probe.ts';

/** How a check ended. */
export type Outcome =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly expected: string; readonly seen: string }
  | { readonly type: 'not_applicable'; readonly reason: string };

/** A check with its outcome and duration. */
export interface Result {
  readonly check: Check;
  readonly outcome: Outcome;
  readonly ms: number;
}

/** The checks to run, and the server under test. */
export interface RunChecks {
  readonly checks: readonly Check[];
  readonly target: Target;
  readonly sdk: Sdk;
  readonly abilities: Abilities;
  readonly isThorough?: boolean;
  /** How long one check may take, if not the default. */
  readonly checkMs?: number;
  /** Whether created records are deleted afterwards. Not needed for a temporary server. */
  readonly isCleared?: boolean;
  readonly onResult?: (result: Result) => void;
}

/** Runs checks against a server, several at once; checks that need the server alone run last. Results have the order of the list. */
export async function runChecks(request: RunChecks): Promise<readonly Result[]> {
  const { checks, onResult = () => {} } = request;
  const results = new Map<Check, Result>();
  const run = async (check: Check) => {
    const result = await runCheck(request, check);
    results.set(check, result);
    onResult(result);
  };
  const isAlone = ({ needs }: Check) => needs.includes('alone') || needs.includes('restart');
  // The longest checks start first.
  const shared = checks.filter((each) => !isAlone(each)).toSorted((a, b) => patience(b) - patience(a));
  await inParallel(shared, limits.checksAtOnceMax, run);
  for (const each of checks.filter(isAlone)) await run(each);
  return checks.map((each) => results.get(each)!);
}

async function runCheck(request: RunChecks, check: Check): Promise<Result> {
  const { target, sdk, abilities, isThorough = false } = request;
  const { checkMs = isThorough ? limits.thoroughCheckMs : limits.checkMs } = request;
  const began = performance.now();
  const toResult = (outcome: Outcome): Result => ({ check, outcome, ms: Math.round(performance.now() - began) });
  const reason = missingFor(check, abilities);
  if (reason !== undefined) return toResult({ type: 'not_applicable', reason });

  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), checkMs);
  const context = new Context(target, sdk, { signal: time.signal, isThorough });
  try {
    await Promise.race([check.run(context), untilAborted(time.signal)]);
    const { problems } = context;
    if (problems.length === 0) return toResult({ type: 'passed' });
    const expected = 'every answer to have the form of the contract';
    return toResult({ type: 'failed', expected, seen: toList(problems) });
  } catch (error) {
    return toResult(toOutcome(error, context.problems));
  } finally {
    clearTimeout(timer);
    context.close();
    if (request.isCleared !== false) await clearAway(request, context);
  }
}

/** The last timeout: waits that can name the missing event end earlier. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      setTimeout(() => reject(new Mismatch('an end in time', 'it still runs')), 100).unref();
    });
  });
}

function toOutcome(error: unknown, problems: readonly string[]): Outcome {
  if (error instanceof NotApplicable) return { type: 'not_applicable', reason: error.message };
  const more = problems.length === 0 ? '' : `; besides: ${toList(problems)}`;
  if (error instanceof Mismatch) return { type: 'failed', expected: error.expected, seen: `${error.seen}${more}` };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { type: 'failed', expected: 'no error', seen: `${text}${more}` };
}

function toList(problems: readonly string[]): string {
  const unique = [...new Set(problems)];
  return unique.length <= 5 ? unique.join('; ') : `${unique.slice(0, 5).join('; ')}; and ${unique.length - 5} more`;
}

/** Deletes all created records, best effort: a running session is interrupted first. */
async function clearAway({ target, sdk }: RunChecks, created: Context): Promise<void> {
  const { sessionIds, agentIds, environmentIds, vaultIds } = created;
  const client = new sdk.Anthropic({ baseURL: target.url, apiKey: target.key, authToken: null, maxRetries: 0 });
  const { sessions, agents, environments, vaults } = client.beta;
  const attempt = async (work: () => PromiseLike<unknown>) => {
    try {
      await work();
      return true;
    } catch {
      // The check deleted the record itself, or the record cannot be deleted.
      return false;
    }
  };
  await inParallel(sessionIds, 4, async (id) => {
    if (await attempt(() => sessions.delete(id))) return;
    await attempt(() => sessions.events.send(id, { events: [{ type: 'user.interrupt' }] }));
    await attempt(() => sessions.delete(id));
  });
  await inParallel(agentIds, 4, async (id) => void (await attempt(() => agents.archive(id))));
  await inParallel(environmentIds, 4, async (id) => void (await attempt(() => environments.delete(id))));
  await inParallel(vaultIds, 4, async (id) => void (await attempt(() => vaults.delete(id))));
}

/** Runs work for each item, at most `atOnce` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** A number that grows with the duration of a check, 0 for most checks. Keep-alives, retries and many rounds take long. */
function patience({ number }: Check): number {
  return longest.toReversed().indexOf(number) + 1;
}

const longest = [112, 111, 113, 102, 157, 147, 43];
