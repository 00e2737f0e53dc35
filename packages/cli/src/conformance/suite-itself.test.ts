import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { startTestServer } from '../../test-support/fleet-server.ts';
import { rememberServer } from '../connection/local-server.ts';
import { limits } from '../base/limits.ts';
import { runProgram } from '../program.ts';
import { allChecks } from './all-checks.ts';
import { type Check, check, defineChecks } from './harness/check.ts';
import { createCheckedFetch } from './harness/checked-fetch.ts';
import { chooseChecks } from './choose-checks.ts';
import { expectEqual, NotApplicable } from './harness/expect.ts';
import { agentForm } from './forms/record-forms.ts';
import { eventForm, streamEventForm } from './forms/event-forms.ts';
import { officialSdk } from './harness/official-sdk.ts';
import type { Abilities } from './probe.ts';
import { drawReport, toReport } from './report.ts';
import { type Result, runChecks } from './run-checks.ts';
import { detectLook } from '../terminal/look.ts';

const everything: Abilities = { scripts: true, keys: true, restart: true, isFleetloom: true };
const nowhere = { url: 'http://127.0.0.1:9', key: 'none' };

function run(checks: readonly Check[], abilities = everything): Promise<readonly Result[]> {
  return runChecks({ checks, target: nowhere, sdk: officialSdk, abilities });
}

describe('the checklist', () => {
  it('[Q4] every statement of the checklist that can be checked from outside is one check', () => {
    const numbers = allChecks.map(({ number }) => number);
    const first = Array.from({ length: 166 }, (_, at) => at + 1);
    const vaults = [201, ...Array.from({ length: 17 }, (_, at) => at + 209), 237];
    expect(numbers.toSorted((a, b) => a - b)).toEqual([...first, ...vaults]);
    expect(numbers.slice(0, 166)).toEqual(first);
    for (const { statement, grade } of allChecks) {
      expect(statement).toMatch(/^\S.{10,}[^.]$/);
      expect(['C', 'E']).toContain(grade);
    }
  });

  it('[Q5] some checks can be chosen by number and range, and a choice of none is wrong usage', () => {
    const chosen = (only: string) => chooseChecks(allChecks, only).map(({ number }) => number);
    expect(chosen('85,87-90')).toEqual([85, 87, 88, 89, 90]);
    expect(chosen(' 1 , 2 - 3 ')).toEqual([1, 2, 3]);
    expect(chooseChecks(allChecks, undefined)).toBe(allChecks);
    for (const wrong of ['x', '', '1-', '999', '5;6']) expect(() => chosen(wrong)).toThrow(/check/);
  });
});

describe('results', () => {
  const given = (...outcomes: ('passes' | 'fails' | 'throws' | 'cannot')[]): readonly Check[] =>
    defineChecks(
      'Samples',
      outcomes.map((outcome, at) =>
        check(at + 1, 'C', `This one ${outcome}`, [], async () => {
          if (outcome === 'fails') expectEqual(1, 2, 'the number');
          if (outcome === 'throws') throw new TypeError('broken \u001b[31m');
          if (outcome === 'cannot') throw new NotApplicable('there is no moon');
        }),
      ),
    );

  it('[Q6] a check passes, fails with expected and seen values, or is not applicable with the reason', async () => {
    const results = await run(given('passes', 'fails', 'throws', 'cannot'));
    expect(results.map(({ outcome }) => outcome)).toEqual([
      { type: 'passed' },
      { type: 'failed', expected: 'the number: 2', seen: '1' },
      { type: 'failed', expected: 'no error', seen: 'TypeError: broken \u001b[31m' },
      { type: 'not_applicable', reason: 'there is no moon' },
    ]);
  });

  it('[Q6] checks that need a missing ability of the server are not applicable', async () => {
    const checks = allChecks.filter(({ needs }) => needs.includes('scripts'));
    const results = await run(checks, { ...everything, scripts: false });
    expect(results.length).toBeGreaterThan(50);
    for (const { outcome } of results) {
      expect(outcome).toEqual({ type: 'not_applicable', reason: 'the server has no scripted/… models' });
    }
  });

  it('[Q7] a known gap that fails is not a failure; a known gap that passes is, because the list is stale', async () => {
    const results = await run(given('passes', 'fails', 'fails'));
    const gaps = new Map([
      [1, 'later'],
      [2, 'later'],
    ]);
    const report = toReport({ url: 'http://x', sdk: 'sdk' }, results, gaps);
    expect(report.checks.map(({ type }) => type)).toEqual(['stale_gap', 'known_gap', 'failed']);
    expect(report.ok).toBe(false);
    expect(toReport({ url: 'http://x', sdk: 'sdk' }, results.slice(1, 2), gaps).ok).toBe(true);
    expect(toReport({ url: 'http://x', sdk: 'sdk' }, results.slice(0, 1), gaps).ok).toBe(false);
  });

  it('[Q8] the report names checks that did not pass, and text of a server is cleaned for the terminal', async () => {
    const report = toReport(
      { url: 'http://x', sdk: 'sdk 1' },
      await run(given('passes', 'fails', 'throws', 'cannot')),
      new Map(),
    );
    const text = drawReport(report, detectLook(new FakeIo()));
    expect(text).toBe(
      [
        'Samples  1 of 4 passed',
        '  ✗ 2 This one fails',
        '      expected  the number: 2',
        '      seen      1',
        '  ✗ 3 This one throws',
        '      expected  no error',
        '      seen      TypeError: broken ⟦ESC⟧[31m',
        '  - 4 This one cannot: not applicable, there is no moon',
        '',
        'http://x with sdk 1: 1 of 4 passed, 2 failed, 1 not applicable',
        '',
      ].join('\n'),
    );
  });
});

describe('limits', () => {
  it('[Q31] no more checks run at the same time than allowed, and exclusive ones run alone', async () => {
    let running = 0;
    const seen: number[] = [];
    const count = async () => {
      seen.push((running += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    };
    const many = Array.from({ length: limits.checksAtOnceMax + 1 }, (_, at) => check(at, 'C', 'Counts', [], count));
    await run(defineChecks('Samples', many));
    expect(Math.max(...seen)).toBe(limits.checksAtOnceMax);
    seen.length = 0;
    await run(
      defineChecks(
        'Samples',
        many.map((each) => ({ ...each, needs: ['alone'] as const })),
      ),
    );
    expect(Math.max(...seen)).toBe(1);
  });

  it('[Q31] a check that does not end fails at its time limit, which is longer in a thorough run or as configured', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const stuck = defineChecks('Samples', [check(1, 'C', 'Never ends', [], () => new Promise(() => {}))]);
      for (const [given, ms] of [
        [{ isThorough: false }, limits.checkMs],
        [{ isThorough: true }, limits.thoroughCheckMs],
        [{ checkMs: 5 }, 5],
      ] as const) {
        let result: Result | undefined;
        const target = nowhere;
        const work = runChecks({
          checks: stuck,
          target,
          sdk: officialSdk,
          abilities: everything,
          isCleared: false,
          ...given,
        });
        void work.then(([first]) => (result = first));
        await vi.advanceTimersByTimeAsync(ms - 1);
        expect(result).toBeUndefined();
        await vi.advanceTimersByTimeAsync(101);
        expect(result?.outcome).toEqual({ type: 'failed', expected: 'an end in time', seen: 'it still runs' });
      }
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the forms of answers', () => {
  const agent = {
    type: 'agent',
    id: 'agent_01A',
    version: 1,
    name: 'x',
    description: null,
    system: null,
    model: { id: 'm', effort: { type: 'high' }, speed: 'standard' },
    tools: [],
    mcp_servers: [],
    skills: [],
    multiagent: null,
    metadata: {},
    execution_identity: { type: 'service_account' },
    created_at: '2026-11-16T04:00:00.000Z',
    updated_at: '2026-11-16T04:00:00Z',
    archived_at: null,
  };

  it('[Q9] a field that is missing, unknown or of another form is a problem with its place', () => {
    expect(agentForm(agent, 'body')).toEqual([]);
    const { system: _, ...without } = agent;
    expect(agentForm(without, 'body')).toEqual(['body.system: is missing']);
    expect(agentForm({ ...agent, colour: 'red' }, 'body')).toEqual(['body.colour: is not part of the wire contract']);
    expect(agentForm({ ...agent, created_at: 'yesterday' }, 'body')).toEqual([
      'body.created_at: must be a moment in UTC, and is "yesterday"',
    ]);
    expect(agentForm({ ...agent, tools: [{ type: 'hammer' }] }, 'body')).toEqual([
      'body.tools[0].type: must be one of agent_toolset_20260401, mcp_toolset, custom, and is "hammer"',
    ]);
    expect(agentForm({ ...agent, id: 'sesn_01A' }, 'body')).toEqual([
      'body.id: must be an id that begins with agent_, and is "sesn_01A"',
    ]);
    expect(agentForm(null, 'body')).toEqual(['body: must be an object, and is null']);
  });

  it('[Q9] an event is checked by its type, and previews are only on streams', () => {
    const idle = { type: 'session.status_idle', id: 'sevt_01A', processed_at: '2026-11-16T04:00:00.000Z' };
    expect(eventForm({ ...idle, stop_reason: { type: 'end_turn' }, stop_details: null }, 'event')).toEqual([]);
    expect(eventForm({ ...idle, stop_reason: { type: 'end_turn' } }, 'event')).toEqual([
      'event.stop_details: is missing',
    ]);
    const start = { type: 'event_start', event: { type: 'agent.message', id: 'sevt_01B' } };
    expect(streamEventForm(start, 'event')).toEqual([]);
    expect(eventForm(start, 'event')).toHaveLength(1);
    expect(streamEventForm({ type: 'fleetloom.private' }, 'event')).toHaveLength(1);
  });

  it('[Q9] whatever a check does, the form of every answer is checked with it', async () => {
    const lying = await answerWith({ ...agent, colour: 'red' });
    const plain = check(
      1,
      'C',
      'An agent can be read',
      [],
      async (t) => void (await t.client.beta.agents.retrieve('agent_01A')),
    );
    const target = { url: lying.url, key: 'none' };
    const [result] = await runChecks({
      checks: defineChecks('Samples', [plain]),
      target,
      sdk: officialSdk,
      abilities: everything,
    });
    await lying.close();
    expect(result?.outcome).toMatchObject({
      type: 'failed',
      expected: 'every answer to have the form of the contract',
      seen: 'GET /v1/agents/agent_01A → 200: the header request-id is missing; GET /v1/agents/agent_01A → 200: body.colour: is not part of the wire contract',
    });
  });
});

describe('streams of checks', () => {
  it('[Q45] a stream that a check closes is closed, whatever was garbage-collected before', async () => {
    let left = 0;
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' }).write(': open\n\n');
      response.on('close', () => (left += 1));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/sessions/sesn_1/events/stream`;
    const checked = createCheckedFetch(new AbortController().signal);
    const readers = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const closing = new AbortController();
        const { body } = await checked.fetch(url, { signal: closing.signal });
        const reader = body!.getReader();
        await reader.read();
        reader.read().catch(() => {}); // it ends with the stream
        return closing;
      }),
    );
    await collectGarbage();
    for (const closing of readers) closing.abort();
    await expect.poll(() => left, { timeout: 20_000 }).toBe(5);
    await new Promise((resolve) => server.close(resolve));
  });
});

/** What is only remembered weakly is gone afterwards. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let round = 0; round < 5; round += 1) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('the command', () => {
  it('[Q10] a server that cannot be reached, or an invalid URL, is a usage error', async () => {
    const io = new FakeIo();
    expect(await runProgram(io, ['conformance', 'ftp://x'])).toBe(2);
    expect(await runProgram(io, ['conformance', 'http://127.0.0.1:9', '--only', '1'])).toBe(2);
    expect(io.stderr.text).toContain('is not a server URL');
    expect(io.stderr.text).toContain('http://127.0.0.1:9 cannot be asked');
  });

  it('[Y74] a local server needs no key, and a problem with a key is explained', async () => {
    const server = await startTestServer();
    const data = await mkdtemp(join(tmpdir(), 'fleetloom-conformance-key-'));
    await rememberServer(data, { url: server.url, firstKey: server.key });
    const ask = async (env: Record<string, string>, ...more: string[]) => {
      const io = new FakeIo({ env });
      const code = await runProgram(io, ['conformance', server.url, '--only', '1,2', ...more]);
      return [code, io.stderr.text];
    };
    expect(await ask({ FLEETLOOM_DATA: data })).toEqual([0, '']);
    expect(await ask({ FLEETLOOM_DATA: '/nowhere' })).toEqual([
      2,
      expect.stringMatching(/ asks for a key\.\n {2}Give one/),
    ]);
    expect(await ask({ FLEETLOOM_DATA: data }, '--key', 'wrong')).toEqual([
      2,
      expect.stringMatching(/ does not know this key\.\n {2}Give one/),
    ]);
    await server.close();
    await rm(data, { recursive: true });
  });

  it('[Q10] it returns 1 if something failed, and prints the report as JSON if asked', async () => {
    const broken = await answerWith({ data: [], next_page: null });
    const io = new FakeIo();
    expect(await runProgram(io, ['conformance', broken.url, '--only', '1,22', '--json'])).toBe(1);
    await broken.close();
    const report = JSON.parse((io.stdout as { text: string }).text) as {
      ok: boolean;
      checks: { number: number; type: string }[];
    };
    expect(report.ok).toBe(false);
    expect(report.checks.map(({ number, type }) => `${number} ${type}`)).toEqual(['1 failed', '22 failed']);
  });
});

/** A server that answers everything with the same JSON, and without a request-id. */
async function answerWith(body: object): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}
