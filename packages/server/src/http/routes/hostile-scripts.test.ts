import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { ofType, openFleetServer } from './fleet.suite.ts';

const text = `${'a'.repeat(30_000)}b`;

/** Scripts that try to block a server for its other users. */
const scripts: Readonly<Record<string, object>> = {
  'nested repetition': { when: [{ match: '(a+)+$', turn: [] }], else: [{ say: 'no' }] },
  'alternatives that overlap': { when: [{ match: '^(?:a|b|ab)*c', turn: [] }], else: [{ say: 'no' }] },
  'a large program': { when: [{ match: '(?:.?){150}[01]', turn: [] }], else: [{ say: 'no' }] },
  'many cases': { when: many(1_000, { match: '(a|b|ab)*c', turn: [] }), else: [{ say: 'no' }] },
  'repetition of repetition': { when: [{ match: '(?:(?:a{9}){9}){9}'.repeat(40), turn: [] }], else: [] },
  'many finds': { turns: [[{ say: '{{find:(a+)+c}}'.repeat(60_000) }]] },
  'finds without an end': { turns: [[{ say: '{{find:'.repeat(60_000) }]] },
  'a find with as many matches as characters': { turns: [[{ say: '{{find:a*c|a}}' }]] },
  'many expectations': { turns: [[{ expect: { contains: many(1_000, `${'a'.repeat(40)}b`) } }, { say: 'ok' }]] },
};

it('[K37] scripts designed to run long do not block the event loop, also after a restart', {
  timeout: 120_000,
}, async () => {
  const first = await openFleetServer();
  const { directory } = first;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const sessions: string[] = [];
  delay.enable();
  for (const [name, script] of Object.entries(scripts)) {
    const message = `<script>${JSON.stringify(script).replaceAll('<', String.raw`\u003c`)}</script>${text}`;
    const agent_def = { name: 'hostile', model: 'scripted/echo' };
    const events = await (await first.orchestrate({ message, agent_def })).all();
    expect([name, ofType(events, 'done').length]).toEqual([name, 1]);
    sessions.push(ofType(events, 'done')[0]!.session_id);
  }
  delay.disable();
  // About 30 ms on an idle machine; without the linear matcher 8 s for one of them.
  expect(delay.max / 1e6).toBeLessThan(1_000);
  await first.server.close();
  const second = await openFleetServer({ dataDirectory: directory });
  const content = [{ type: 'text', text: 'Again' }];
  for (const id of sessions) {
    await second.call('POST', `/v1/sessions/${id}/events`, { events: [{ type: 'user.message', content }] });
  }
  expect((await second.call('GET', '/v1/requests')).status).toBe(200);
  await second.close();
  await first.close();
  expect(second.problems).toEqual([]);
});

function many<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}
