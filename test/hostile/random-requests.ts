import type { RandomText } from '../../bench/random-text.ts';
import {
  createNastyRequests,
  type KnownIds,
  learnIds,
} from '../../packages/server/src/http/hostile/nasty-requests.suite.ts';
import { type RawAnswer, type RawRequest, sendRaw } from '../../packages/server/src/http/hostile/raw-http.suite.ts';
import type { Victim } from './victim.ts';

export interface RequestsReport {
  readonly sent: number;
  /** Answers that blame the server, are cut or not in the envelope, and requests that got none. */
  readonly failures: readonly string[];
  readonly statuses: Readonly<Record<number, number>>;
}

/** Sends random requests of the attacker to every route, real ids and invented ones, several at the same time. */
export async function sendRandomRequests(
  victim: Victim,
  random: RandomText,
  count: number,
  { atOnce = 8 } = {},
): Promise<RequestsReport> {
  const known = await createKnown(victim);
  const document = (await (await fetch(`${victim.url}/openapi.json`)).json()) as never;
  const next = createNastyRequests({ document, random, key: victim.keys.attacker, known });
  const failures: string[] = [];
  const statuses: Record<number, number> = {};
  let sent = 0;
  const work = async () => {
    while (sent < count) {
      sent += 1;
      const request = next();
      const answer = await sendRaw(victim.port, request).catch((error: unknown) => String(error));
      const failure = typeof answer === 'string' ? answer : findFailure(request, answer);
      if (failure !== undefined) failures.push(`${show(request)} → ${failure}`);
      if (typeof answer === 'string') continue;
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      learnIds(known, request, answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { sent, failures, statuses };
}

/** Real things of the attacker, so that requests get behind the first check. */
async function createKnown({ attacker: { beta } }: Victim): Promise<KnownIds> {
  const agent = await beta.agents.create({ name: 'known', model: 'scripted/echo' });
  const environment = await beta.environments.create({ name: 'known' });
  const hosted = await beta.environments.create({ name: 'hosted', config: { type: 'self_hosted' } });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const file = await beta.files.upload({ file: new File(['text'], 'a.txt', { type: 'text/plain' }) });
  return {
    agent_id: [agent.id],
    environment_id: [environment.id, hosted.id],
    session_id: [session.id],
    file_id: [file.id],
    scope_id: [session.id],
    model: ['scripted/echo', 'scripted/echo', 'other'],
  };
}

function findFailure(
  { method, target }: RawRequest,
  { status, headers, text, isWhole }: RawAnswer,
): string | undefined {
  // Another owner has the session at this moment, and the answer has the time of the next attempt.
  if (status === 503 && text.includes('"session_elsewhere"') && headers['retry-after'] !== undefined) return undefined;
  if (status < 200 || status >= 500) return `${status} ${text.slice(0, 300)}`;
  if (method === 'HEAD') return undefined;
  if (!isWhole) return `${status} is cut`;
  if (status < 400 || headers['content-type']?.startsWith('text/') === true) return undefined;
  // Behind the check of the key, the Responses API has OpenAI's errors.
  const isOpenAiError = target.startsWith('/scripted/v1/responses') && text.startsWith('{"error":{"message":');
  return isOpenAiError || text.includes('"type":"error"') ? undefined : `${status} ${text.slice(0, 300)}`;
}

function show({ method, target, headers, body }: RawRequest): string {
  return JSON.stringify([method, target.slice(0, 300), headers, body?.toString().slice(0, 500)]);
}
