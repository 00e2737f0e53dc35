import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { onTestFinished, vi } from 'vitest';

type BetaWebhookEvent = ReturnType<Anthropic['beta']['webhooks']['unwrap']>;

/** A webhook receiver that verifies every event with the official client. */
export interface Receiver {
  readonly url: string;
  /** All received requests, in order, with repetitions. */
  readonly attempts: { readonly event: BetaWebhookEvent; readonly path: string; readonly seconds: number }[];
  /** The response to an event; undefined: no response until the test ends. */
  answer: (event: BetaWebhookEvent) => { status: number; headers?: Record<string, string> } | undefined;
  /** The types of the accepted events. */
  types(): string[];
  /** Resolves when this number of requests was received. */
  came(count: number): Promise<void>;
}

/** Starts a receiver. `now`: the clock of the test, if it has one. */
export async function startReceiver(key: () => string, now?: () => number): Promise<Receiver> {
  const client = new Anthropic({ apiKey: 'any' });
  const delivered: BetaWebhookEvent[] = [];
  const problems: unknown[] = [];
  const server = createServer(
    (request, response) => void take(request, response).catch((error) => problems.push(error)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    if (problems.length > 0) throw new AggregateError(problems, 'something was sent that the official client refuses');
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=secret`,
    attempts: [],
    answer: () => ({ status: 204 }),
    types: () => delivered.map(({ data }) => data.type),
    came: (count) =>
      vi.waitFor(
        () => {
          if (problems.length > 0) throw problems[0];
          if (receiver.attempts.length < count) throw new Error(`${receiver.attempts.length} of ${count} came`);
        },
        { timeout: 20_000, interval: 2 },
      ),
  };
  return receiver;

  /** Verifies an event. The official client compares with the clock of the machine. */
  function unwrap(body: string, headers: Record<string, string>): BetaWebhookEvent {
    const real = Date.now;
    if (now !== undefined) Date.now = now;
    try {
      return client.beta.webhooks.unwrap(body, { headers, key: key() });
    } finally {
      Date.now = real;
    }
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const event = unwrap(Buffer.concat(parts).toString(), headers);
    if (event.id !== headers['webhook-id']) problems.push(new Error(`${event.id} has the id ${headers['webhook-id']}`));
    const answer = receiver.answer(event);
    receiver.attempts.push({ event, path: request.url ?? '', seconds: Number(headers['webhook-timestamp']) });
    if (answer === undefined) return;
    if (answer.status < 300) delivered.push(event);
    response.writeHead(answer.status, answer.headers).end();
  }
}
