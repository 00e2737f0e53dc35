import { Agent, request } from 'node:http';

/** The answer to one request, and how long it took. */
export interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly retryAfter: number;
  readonly body: { readonly id?: string; readonly data?: readonly { readonly id: string; readonly type?: string }[] };
}

/** Sends requests to a server on kept connections, without retries. */
export class Load {
  readonly #url: string;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2_000 });

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  send(method: string, path: string, body?: object): Promise<Answer> {
    const since = performance.now();
    return new Promise((resolve, reject) => {
      const headers = { 'x-api-key': this.#key, 'content-type': 'application/json' };
      const sent = request(`${this.#url}${path}`, { method, agent: this.#agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('error', reject).on('end', () => {
          const retryAfter = Number(response.headers['retry-after'] ?? 0);
          const ms = performance.now() - since;
          resolve({ status: response.statusCode!, ms, retryAfter, body: JSON.parse(text) as Answer['body'] });
        });
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Repeats a request with so many clients at once. The answers, and how many there are a second. */
  async measure(clients: number, ms: number, send: () => Promise<Answer>) {
    const until = performance.now() + ms;
    const answers: Answer[] = [];
    const repeat = async () => {
      while (performance.now() < until) answers.push(await send());
    };
    await Promise.all(Array.from({ length: clients }, repeat));
    return { answers, perSecond: answers.filter(({ status }) => status === 200).length / (ms / 1_000) };
  }

  /** Sends at a rate, whether earlier requests are answered or not. Resolves with all answers. */
  async sendAtRate(perSecond: number, ms: number, send: () => Promise<Answer>): Promise<readonly Answer[]> {
    const since = performance.now();
    const answers: Promise<Answer>[] = [];
    while (performance.now() - since < ms) {
      const due = ((performance.now() - since) / 1_000) * perSecond;
      while (answers.length < due) answers.push(send());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return await Promise.all(answers);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The value that a share of the answers does not exceed, in milliseconds. */
export function percentile(answers: readonly Answer[], share: number): number {
  const sorted = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
