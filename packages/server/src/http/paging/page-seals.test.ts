import { describe, expect, it } from 'vitest';
import { withServer } from '../../../../../test/server/server.suite.ts';
import { createPageSeals, type PageScope } from './page-seals.ts';

const scope: PageScope = {
  workspaceId: 'wrkspc_1',
  route: 'things.list',
  params: { session_id: 'sesn_1' },
  query: { limit: 5, order: 'asc', statuses: ['idle'] },
};

describe('the seal', () => {
  it('[H100] a cursor is valid only for its list, order and filters; the limit may change', () => {
    const seals = createPageSeals(new Uint8Array(32));
    const { next_page: page, prev_page: back } = seals.seal(scope, {
      data: [],
      next_page: 'page_a.b',
      prev_page: null,
    });
    expect([page, back]).toEqual([expect.stringMatching(/^page_a\.b\.[\w-]{22}$/), null]);
    expect(seals.open(scope, page)).toBe('page_a.b');
    expect(seals.open({ ...scope, query: { statuses: ['idle'], order: 'asc', limit: 9, page } }, page)).toBe(
      'page_a.b',
    );
    const others: PageScope[] = [
      { ...scope, workspaceId: 'wrkspc_2' },
      { ...scope, route: 'others.list' },
      { ...scope, params: { session_id: 'sesn_2' } },
      { ...scope, query: { ...scope.query, order: 'desc' } },
      { ...scope, query: { ...scope.query, statuses: ['running'] } },
      { ...scope, query: { limit: 5, order: 'asc' } },
    ];
    for (const other of others) expect(() => seals.open(other, page)).toThrow('is not a page of this list');
    expect(() => createPageSeals(new Uint8Array(32).fill(1)).open(scope, page)).toThrow('is not a page');
  });

  it('[H100] a cursor with any character changed, left out or added is refused', () => {
    const seals = createPageSeals(new Uint8Array(32));
    const page = seals.seal(scope, { next_page: 'page_W10' }).next_page;
    const damaged = page.split('').flatMap((character, index) => {
      const [before, after] = [page.slice(0, index), page.slice(index + 1)];
      return [`${before}${character === 'A' ? 'B' : 'A'}${after}`, before + after, `${before} ${character}${after}`];
    });
    for (const each of [...damaged, `${page}=`, `${page}A`, '', '.', '..', 'page_', `.${page}`, page.toUpperCase()]) {
      expect(() => seals.open(scope, each), each).toThrow('is not a page of this list');
    }
  });
});

it('[H100] every list of the server refuses damaged and foreign cursors, and keeps its own across a restart', () =>
  withServer(async (test) => {
    const { client } = test;
    const environment = await client.beta.environments.create({ name: 'e' });
    await client.beta.environments.create({ name: 'f' });
    const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
    await client.beta.agents.update(agent.id, { name: 'b', version: 1 });
    await client.beta.agents.create({ name: 'c', model: 'scripted/echo' });
    const session = await client.beta.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
    });
    const other = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    for (const name of ['1', '2']) {
      const file = await client.beta.files.upload({ file: new File(['x'], name) });
      await client.beta.sessions.resources.add(session.id, { type: 'file', file_id: file.id });
    }
    const lists = [
      '/v1/agents?',
      `/v1/agents/${agent.id}/versions?`,
      '/v1/environments?',
      '/v1/sessions?',
      '/v1/sessions?order=asc&',
      `/v1/sessions/${session.id}/events?`,
      `/v1/sessions/${session.id}/events?order=desc&`,
      `/v1/sessions/${session.id}/resources?`,
      '/v1/files?',
      '/v1/requests?',
    ];
    const get = async (at: { url: string; key: string }, path: string) => {
      const answer = await fetch(`${at.url}${path}`, { headers: { 'x-api-key': at.key } });
      return { status: answer.status, body: (await answer.json()) as { next_page: string | null } };
    };
    await expect
      .poll(async () => (await get(test, `/v1/sessions/${session.id}/events?limit=1`)).body.next_page)
      .not.toBeNull();
    const pages = new Map<string, string>();
    for (const list of lists) {
      const { body } = await get(test, `${list}limit=1`);
      if (body.next_page !== null) pages.set(list, body.next_page);
    }
    expect([...pages.keys()]).toEqual(lists);
    const later = await test.restart();
    for (const [list, page] of pages) {
      expect([list, (await get(later, `${list}page=${page}`)).status]).toEqual([list, 200]);
      const foreign = [...pages].filter(([one]) => one !== list).map(([, each]) => each);
      for (const wrong of [
        ...foreign,
        `${page}x`,
        page.slice(0, -1),
        page.replace('page_', 'page__'),
        page.split('.')[0],
      ]) {
        expect([list, wrong, (await get(later, `${list}page=${wrong}`)).status]).toEqual([list, wrong, 400]);
      }
    }
    const events = pages.get(`/v1/sessions/${session.id}/events?`)!;
    expect((await get(later, `/v1/sessions/${other.id}/events?page=${events}`)).status).toBe(400);
    expect((await get(later, `/v1/sessions/${session.id}/events?types=agent.message&page=${events}`)).status).toBe(400);
  }));
