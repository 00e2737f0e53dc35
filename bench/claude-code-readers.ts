import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeSse } from '@fleetloom/protocol/sse';
import { startServer } from '@fleetloom/server';

/** The output of the program. */
export interface PrintOptions {
  readonly lines: number;
  readonly chars: number;
  readonly everyMs: number;
}

/** When a line was printed, and when it was received. */
export interface Arrival {
  readonly printedAt: number;
  readonly hereAt: number;
}

const program = join(process.cwd(), 'bench', 'claude-code-program.mjs');

/** The minimal reader: it splits at line ends and parses. */
export async function readBare(options: PrintOptions): Promise<Arrival[]> {
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const arrivals: Arrival[] = [];
  let rest = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      const line = JSON.parse(bytes.toString('utf8', start, end)) as Line;
      if (line.type === 'assistant') arrivals.push(toArrival(line.message?.content[0]?.text ?? ''));
      if (line.type === 'result') child.stdin.end();
      start = end + 1;
    }
    rest = bytes.subarray(start);
  });
  child.stdin.write(
    `${JSON.stringify({ type: 'user', message: { role: 'user', content: JSON.stringify(options) } })}\n`,
  );
  await new Promise((resolve) => child.on('close', resolve));
  return arrivals;
}

interface Line {
  readonly type: string;
  readonly message?: { readonly content: readonly { readonly text: string }[] };
}

/** A real server with a session on the program, and a reader of its stream. */
export async function readSession(options: PrintOptions): Promise<Arrival[]> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-bench-'));
  const server = await startServer({
    dataDirectory,
    isOpen: true,
    claudeCode: { program, workspaces: ['wrkspc_default'], isUnsandboxed: true },
  });
  const stop = new AbortController();
  try {
    const post = (path: string, body: object) =>
      request(server.url, path, { method: 'POST', body: JSON.stringify(body) });
    const environment = await post('/v1/environments', { name: 'here' });
    const agent = await post('/v1/agents', { name: 'bench', model: 'claude-code/default' });
    const session = await post('/v1/sessions', { agent: agent.id, environment_id: environment.id });
    let last: string | undefined;
    // A reader that falls behind is disconnected, and resumes.
    const open = async () => {
      const headers = last === undefined ? {} : { 'last-event-id': last };
      const url = `${server.url}/v1/sessions/${session.id}/events/stream`;
      const { body } = await fetch(url, { signal: stop.signal, headers });
      if (body === null) throw new Error('the stream has no body');
      return decodeSse(body);
    };
    let items = await open();
    const content = [{ type: 'text', text: JSON.stringify(options) }];
    await post(`/v1/sessions/${session.id}/events`, { events: [{ type: 'user.message', content }] });
    const arrivals: Arrival[] = [];
    for (;;) {
      const before = last;
      for await (const item of items) {
        if (item.type !== 'event') continue;
        const event = JSON.parse(item.data) as { type: string; id: string; content?: { text: string }[] };
        last = event.id;
        if (event.type === 'agent.message') arrivals.push(toArrival(event.content?.[0]?.text ?? ''));
        if (event.type === 'session.status_idle') return arrivals;
      }
      if (last === before) throw new Error('the stream was cut off before its first event');
      items = await open();
    }
  } finally {
    stop.abort();
    await server.close();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

async function request(url: string, path: string, init: RequestInit): Promise<{ id: string }> {
  const response = await fetch(`${url}${path}`, { ...init, headers: { 'content-type': 'application/json' } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string };
}

function toArrival(text: string): Arrival {
  return { printedAt: Number(text.slice(0, text.indexOf(' '))), hereAt: performance.timeOrigin + performance.now() };
}
