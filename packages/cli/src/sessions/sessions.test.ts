import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetSession, toShortId } from '@fleetloom/protocol/fleet';
import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { delegate, script, startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { begin, call } from '../../test-support/live-io.ts';
import { limits } from '../base/limits.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const ask = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
  await server.post('/v1/agents', { name: 'asker', model: 'scripted/echo', tools: [ask] });
  const question = { type: 'custom', name: 'AskUserQuestion', description: 'x', input_schema: { type: 'object' } };
  await server.post('/v1/agents', { name: 'curious', model: 'scripted/echo', tools: [question] });
});
afterAll(() => server.close());

const fleet = (...args: string[]) => call(args, { env: server.env });
const SLOW = script([{ say: 'word '.repeat(400), every_ms: 50 }]);
const asking = (command: string) => script([{ call: 'bash', input: { command } }], [{ say: 'went on' }]);

/** A session in which two agents wait for an answer. */
async function beginAsking(...commands: string[]): Promise<{ requestId: string; sessionId: string; ids: string[] }> {
  const run = await server.begin(delegate('asker', commands.map(asking)));
  let ids: string[] = [];
  await expect
    .poll(async () => {
      const { stderr } = await fleet('approve', run.sessionId);
      ids = stderr.match(/^sevt_\w+/gm) ?? [];
      return ids.length;
    })
    .toBe(commands.length);
  return { ...run, ids };
}

describe('fleetloom sessions and threads', () => {
  it('[Y14] sessions are listed, the newest first, as a table or as JSON lines', async () => {
    const first = await server.begin('hello');
    const second = await server.begin('again');
    await server.ended(second.requestId);
    const { code, stdout, stderr } = await fleet('sessions');
    expect([code, stderr]).toEqual([0, '2 sessions · all: 2 done\n']);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^SESSION +STATE +AGENT +ACTIVE +COST +NAME$/);
    expect(lines[1]).toMatch(new RegExp(`^${toShortId(second.sessionId)} +done +master +.+ +\\$0\\.00 +again$`));
    expect(lines[2]).toMatch(new RegExp(`^${toShortId(first.sessionId)}`));
    const json = await fleet('sessions', '--json', '--limit', '1');
    expect((JSON.parse(json.stdout) as Session).id).toBe(second.sessionId);
  });

  it('[Y432] shells complete ids: what the server has, at most 100, and nothing without a server', async () => {
    const { sessionId } = await server.begin('Complete $(touch owned) `me`\tplease');
    const short = toShortId(sessionId);
    const { code, stdout, stderr } = await fleet('__ids', 'session', short.slice(0, 8));
    expect([code, stderr]).toEqual([0, '']);
    const line = stdout.split('\n').find((each) => each.startsWith(short))!;
    expect(line.split('\t')).toEqual([
      short,
      expect.stringMatching(/^(running|done): Complete \$\(touch owned\) `me` please$/),
    ]);
    const agents = await server.get<{ data: { id: string }[] }>('/v1/agents');
    const scope = { type: 'agent', agent_id: agents.data[0]!.id };
    const match = { type: 'command', pattern: 'npm test*' };
    const rule = await server.post<{ id: string }>('/v1/fleet/approval_rules', { scope, tool: 'bash', match });
    expect((await fleet('__ids', 'rule', '')).stdout).toBe(`${rule.id}\tbash(command: npm test*)\n`);
    expect((await fleet('__ids', 'rule', 'x')).stdout).toBe('');
    await fleet('rules', 'remove', rule.id);
    expect([limits.completionsMax, limits.completionMs]).toEqual([100, 2_000]);
    const gone = { env: { FLEETLOOM_URL: 'http://127.0.0.1:9' } };
    expect(await call(['__ids', 'session', '01'], gone)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await fleet('--help')).stdout).not.toContain('__ids');
  });

  it('[Y14] --status filters, and may be repeated', async () => {
    const slow = await server.begin(SLOW);
    const idsOf = async (...args: string[]) =>
      (await fleet('sessions', '--json', ...args)).stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line || '{}') as Session).id);
    expect(await idsOf('--status', 'running')).toEqual([slow.sessionId]);
    expect(await idsOf('--status', 'running', 'done')).toContain(slow.sessionId);
    expect((await fleet('sessions', '--status', 'sleepy')).code).toBe(2);
    await fleet('cancel', slow.requestId);
    expect(await idsOf('--status', 'running')).toEqual([undefined]);
    expect((await fleet('sessions', '--status', 'idle')).stderr).toMatch(/^0 sessions · all: \d+ done\n$/);
  });

  it('[Y14] 50 sessions are listed by default, over as many pages as needed', async () => {
    await server.post('/v1/agents', { name: 'idler', model: 'scripted/echo' });
    const { data } = await server.get<{ data: { id: string; name: string }[] }>('/v1/agents');
    const { data: places } = await server.get<{ data: { id: string }[] }>('/v1/environments');
    const body = { agent: data.find(({ name }) => name === 'idler')!.id, environment_id: places[0]!.id };
    for (let index = 0; index < 120; index += 1) await server.post('/v1/sessions', body);
    const count = async (...args: string[]) =>
      (await fleet('sessions', '--json', ...args)).stdout.trimEnd().split('\n').length;
    expect([await count(), limits.sessionsListed]).toEqual([50, 50]);
    expect(await count('--limit', '115')).toBe(115);
    expect((await fleet('sessions', '--limit', '0')).code).toBe(2);
  });

  it('[Y180] sessions are found by words, agent, time and cost, and sorted, as the server finds them', async () => {
    const run = await server.begin('Find the zebra crossing');
    await server.ended(run.requestId);
    const idsOf = async (...args: string[]) => {
      const { stdout } = await fleet('sessions', '--json', '--limit', '3', ...args);
      return stdout === ''
        ? []
        : stdout
            .trimEnd()
            .split('\n')
            .map((line) => (JSON.parse(line) as FleetSession).id);
    };
    expect(await idsOf('--search', 'zebra find')).toEqual([run.sessionId]);
    expect(await idsOf('--search', 'zebra lion')).toEqual([]);
    expect(await idsOf('--search', 'zebra', '--agent', 'master', '--model', 'scripted/echo')).toEqual([run.sessionId]);
    expect(await idsOf('--search', 'zebra', '--agent', 'other')).toEqual([]);
    expect(await idsOf('--search', 'zebra', '--since', '1h')).toEqual([run.sessionId]);
    expect(await idsOf('--search', 'zebra', '--until', '1h')).toEqual([]);
    expect(await idsOf('--search', 'zebra', '--min-cost', '5')).toEqual([]);
    expect(await idsOf('--search', 'zebra', '--sort', 'cost')).toEqual([run.sessionId]);
    for (const wrong of [
      ['--since', 'soon'],
      ['--min-cost', '-1'],
      ['--sort', 'luck'],
    ])
      expect((await fleet('sessions', ...wrong)).code).toBe(2);
    await server.post(`/v1/sessions/${run.sessionId}/archive`, {});
    expect(await idsOf('--search', 'zebra')).toEqual([]);
    expect(await idsOf('--search', 'zebra', '--archived')).toEqual([run.sessionId]);
    expect(await idsOf('--search', 'zebra', '--status', 'archived')).toEqual([run.sessionId]);
  });

  it('[Y181] a command accepts the unique beginning of an id, and names the candidates of an ambiguous one', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    const short = toShortId(sessionId);
    for (const typed of [short, short.toUpperCase(), `sesn_01${short}`, sessionId]) {
      const { code, stdout } = await fleet('threads', typed, '--json');
      expect([code, (JSON.parse(stdout) as SessionThread).session_id]).toEqual([0, sessionId]);
    }
    expect((await fleet('cancel', short)).stderr).not.toContain('begins with');
    const { data } = await server.get<{ data: FleetSession[] }>('/v1/fleet/sessions?limit=200&archived=true');
    expect(data.length).toBeGreaterThan(limits.candidatesShown);
    const ambiguous = await fleet('threads', short.slice(0, 3));
    expect(ambiguous.code).toBe(2);
    expect(ambiguous.stderr).toContain(`${data.length} sessions have an id that begins with "${short.slice(0, 3)}".`);
    expect(ambiguous.stderr.match(/^ +sesn_\w+ {2}\S/gm)).toHaveLength(limits.candidatesShown);
    // What begins no id is reported by the command itself.
    expect((await fleet('threads', 'zzzzzz')).code).toBe(4);
    expect((await fleet('threads', 'no such')).code).toBe(4);
  });

  it('[Y14, Y500] threads are listed as a tree with the states of watch and the dashboard, or as JSON lines as the API returns them', async () => {
    const { sessionId, requestId, ids } = await beginAsking('true');
    const { stdout } = await fleet('threads', sessionId);
    expect(stdout.split('\n')[0]).toMatch(/^THREAD +STATE +AGENT +MODEL +ACTIVE +TOKENS +COST$/);
    expect(stdout).toMatch(/^sthr_\w+ +\w+ +master +scripted\/echo/m);
    // On the wire it is idle.
    expect(stdout).toMatch(/^sthr_\w+ +needs you {4}asker +scripted\/echo/m);
    const json = (await fleet('threads', sessionId, '--json')).stdout.trimEnd().split('\n');
    const [parent, child] = json.map((line) => JSON.parse(line) as SessionThread);
    expect(child?.parent_thread_id).toBe(parent?.id);
    await fleet('deny', sessionId, ...ids);
    await server.ended(requestId);
    expect((await fleet('threads', sessionId)).stdout).toMatch(/^sthr_\w+ +done +master/m);
  });

  it('[Y3] the title of a session cannot control the terminal, and the table fits it', async () => {
    const run = await server.begin('\u001b]0;owned\u0007 evil '.padEnd(300, 'x'));
    await server.ended(run.requestId);
    const terminal = new FakeTerminal(90, 80);
    const { ended } = begin(['sessions'], { terminal, env: server.env });
    expect(await ended).toBe(0);
    expect(terminal.text).not.toContain('\u001b]');
    for (const line of terminal.lines) expect(line.length).toBeLessThanOrEqual(90);
  });

  it('[Y3] colours come with a terminal or with FORCE_COLOR, and go with NO_COLOR', async () => {
    const plain = await call(['sessions'], { env: { ...server.env, NO_COLOR: '1' } });
    const forced = await call(['sessions'], { env: { ...server.env, FORCE_COLOR: '1' } });
    expect(plain.stdout).not.toContain('\u001b[');
    expect(forced.stdout).toContain('\u001b[');
  });
});

describe('fleetloom send', () => {
  it('[Y15] a text is sent to the session, and the id of the event is printed', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    const { code, stdout, stderr } = await fleet('send', sessionId, 'and again');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^sevt_\w+\n$/);
    await expect.poll(async () => (await fleet('export', sessionId)).stdout).toContain('"text":"and again"');
  });

  it('[Y15] --interrupt stops all threads, and a text is sent afterwards', async () => {
    const { sessionId, requestId } = await server.begin(script([{ say: 'word '.repeat(40), every_ms: 50 }]));
    const { stdout } = await fleet('send', sessionId, '--interrupt', 'something else');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    await server.ended(requestId);
    await expect
      .poll(async () => {
        const lines = (await fleet('export', sessionId)).stdout.split('\n');
        const place = (type: string, text: string) =>
          lines.findIndex((line) => line.includes(`"type":"${type}"`) && line.includes(text));
        return place('user.interrupt', '') > 0 && place('user.message', 'something else') > place('user.interrupt', '');
      })
      .toBe(true);
  });

  it('[Y15] --interrupt --thread stops that thread alone', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW, script([{ say: 'short' }])]));
    let child = '';
    await expect
      .poll(async () => {
        const threads = (await fleet('threads', sessionId, '--json')).stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as SessionThread);
        child =
          threads.find(({ parent_thread_id: parent, status }) => parent !== null && status === 'running')?.id ?? '';
        return child !== '' && threads.length === 3;
      })
      .toBe(true);
    expect((await fleet('send', sessionId, '--interrupt', '--thread', child)).code).toBe(0);
    expect(await server.ended(requestId)).toBe('completed');
  });

  it('[Y15] nothing to send, or a text for one thread, is wrong usage', async () => {
    for (const args of [[], [' '], ['x', '--thread', 't'], ['x', '--interrupt', '--thread', 't'], ['--thread', 't']]) {
      expect(await fleet('send', 'sesn_any', ...args)).toMatchObject({ code: 2, stdout: '' });
    }
  });
});

describe('fleetloom continue', () => {
  it('[Y125] a session whose last turn failed is continued with one message, and its id is printed', async () => {
    const failed = await server.begin(script([{ fail: { status: 400 } }], [{ say: 'went on' }]));
    expect(await server.ended(failed.requestId)).toBe('failed');
    const { code, stdout, stderr } = await fleet('continue', failed.sessionId);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^sevt_\w+\n$/);
    await expect
      .poll(async () => (await fleet('export', failed.sessionId)).stdout)
      .toContain('Continue where you left off');
  });

  it('[Y128] a session whose sub-agent failed is continued although the turn of its coordinator did not', async () => {
    const run = await server.begin(delegate('asker', [script([{ fail: { status: 400 } }])]));
    expect(await server.ended(run.requestId)).toBe('completed');
    expect(await fleet('continue', run.sessionId)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sevt_/) });
    await expect
      .poll(async () => (await fleet('export', run.sessionId)).stdout)
      .toContain('Work that you started was cut off');
  });

  it('[Y125] a session whose last turn did not fail is left alone', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    expect(await fleet('continue', sessionId)).toMatchObject({ code: 4, stdout: '' });
    expect((await fleet('export', sessionId)).stdout).not.toContain('Continue where you left off');
  });
});

describe('fleetloom approve and deny', () => {
  it('[Y16] without ids nothing is decided: pending tool calls are listed with their input', async () => {
    const { sessionId, requestId, ids } = await beginAsking('rm -rf build', 'echo two');
    const { code, stdout, stderr } = await fleet('approve', sessionId);
    expect([code, stdout]).toEqual([2, '']);
    // Two agents work at the same time, so either may be listed first.
    const [, id] = /^(sevt_\w+) {2}asker bash: rm -rf build$/m.exec(stderr) ?? [];
    expect(ids).toContain(id);
    expect(stderr).toContain('2 tool calls are pending.');
    await fleet('deny', sessionId, '--all');
    await server.ended(requestId);
    expect(await fleet('approve', sessionId)).toMatchObject({
      code: 0,
      stderr: `Nothing is pending in ${sessionId}.\n`,
    });
  });

  it('[Y16] one is approved and the other denied with a message; the ids are printed', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one', 'echo two');
    const [one = '', two = ''] = ids;
    expect(await fleet('approve', sessionId, one)).toEqual({
      code: 0,
      stdout: `${one}\n`,
      stderr: 'approved  asker bash: echo one\n',
    });
    expect(await fleet('deny', sessionId, two, '--message', 'not today')).toMatchObject({
      code: 0,
      stdout: `${two}\n`,
    });
    expect(await server.ended(requestId)).toBe('completed');
    const { stdout } = await fleet('export', sessionId);
    expect(stdout).toMatch(new RegExp(`"tool_use_id":"${one}","result":"allow"`));
    expect(stdout).toMatch(new RegExp(`"tool_use_id":"${two}","result":"deny","deny_message":"not today"`));
  });

  it('[Y16] --all answers all that waits, and nothing when nothing does', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one', 'echo two', 'echo three');
    const { stdout } = await fleet('approve', sessionId, '--all');
    expect(stdout.trimEnd().split('\n').sort()).toEqual([...ids].sort());
    expect(await server.ended(requestId)).toBe('completed');
    expect(await fleet('approve', sessionId, '--all')).toMatchObject({ code: 0, stdout: '' });
  });

  it('[Y16] an id that does not wait is 4, and then none of the others is answered', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one');
    expect(await fleet('approve', sessionId, ids[0] ?? '', 'sevt_none')).toMatchObject({ code: 4, stdout: '' });
    expect((await fleet('approve', sessionId)).stderr).toContain('1 tool call is pending');
    expect((await fleet('approve', sessionId, '--all', 'x')).code).toBe(2);
    expect((await fleet('approve', sessionId, '--message', 'x')).code).toBe(2);
    await fleet('deny', sessionId, '--all');
    await server.ended(requestId);
  });
});

describe('fleetloom approve of a call that does not wait', () => {
  it('[Y129] an answered and a withdrawn call are refused with the reason of the server and 5, and no other call is answered', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one', 'echo two');
    const [one = '', two = ''] = ids;
    await fleet('approve', sessionId, one);
    const again = await fleet('approve', sessionId, two, one);
    expect([again.code, again.stdout]).toEqual([5, '']);
    expect(again.stderr).toContain(`${one} was already answered`);
    expect(again.stderr).toContain(`Pending tool calls: ${two}`);
    await fleet('cancel', requestId);
    const late = await fleet('approve', sessionId, two);
    expect([late.code, late.stdout]).toEqual([5, '']);
    expect(late.stderr).toContain(`${two} was withdrawn because the call was interrupted`);
    expect((await fleet('approve', sessionId, 'sevt_none')).code).toBe(4);
  });

  it('[Y129] `approve --input` prints the input that runs', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one');
    const input = JSON.stringify({ command: 'echo changed' });
    const { stderr } = await fleet('approve', sessionId, ...ids, '--input', input);
    expect(stderr).toBe('approved  asker bash: echo changed\n');
    await server.ended(requestId);
  });
});

describe('fleetloom answer', () => {
  const question = (text: string) => ({
    question: text,
    header: 'H',
    options: [{ label: 'Red', description: 'Like fire' }, { label: 'Blue' }],
    multiSelect: false,
  });
  const beginQuestion = async (...texts: string[]) => {
    const input = { questions: texts.map(question) };
    const task = script([{ call: 'AskUserQuestion', input }], [{ say: 'Thanks.' }]);
    const run = await server.begin(delegate('curious', [task]));
    await expect.poll(async () => (await fleet('answer', run.sessionId)).stderr).toContain('1 question is pending');
    const { stderr } = await fleet('answer', run.sessionId);
    return { ...run, stderr, id: stderr.slice(0, stderr.indexOf(' ')) };
  };

  it('[Y126] a question is listed with its options by `answer`, `approve`, `deny --all` and `watch --once`, which exits with 7', async () => {
    const { sessionId, requestId, id, stderr } = await beginQuestion('Which colour?');
    const shown = `${id}  curious AskUserQuestion\n    Which colour?\n      - Red: Like fire\n      - Blue\n`;
    expect(stderr).toContain(shown);
    const listed = await fleet('approve', sessionId);
    expect([listed.code, listed.stdout]).toEqual([2, '']);
    expect(listed.stderr).toContain(shown);
    expect(listed.stderr).toContain(`Answer with: fleetloom answer ${sessionId} ${id} "<text>"`);
    const all = await fleet('deny', sessionId, '--all');
    expect([all.code, all.stdout]).toEqual([0, '']);
    expect(all.stderr).toContain(shown);
    expect(await fleet('approve', sessionId, id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${id} is a question, not an approval.`),
    });
    const once = await fleet('watch', sessionId, '--once');
    expect(once.code).toBe(7);
    expect(once.stdout).toMatch(/needs you[^]*has a question:\n +Which colour\?\n +- Red: Like fire\n +- Blue\n/);
    expect(once.stdout).toContain(`fleetloom answer ${sessionId} ${id}`);
    expect(await fleet('answer', sessionId, 'Blue')).toEqual({ code: 0, stdout: `${id}\n`, stderr: '' });
    expect(await server.ended(requestId)).toBe('completed');
    expect((await fleet('export', sessionId)).stdout).toMatch(/"user.custom_tool_result".*"text":"Blue"/);
    expect((await fleet('answer', sessionId)).code).toBe(0);
    expect((await fleet('answer', sessionId, 'Red')).code).toBe(4);
    const late = await fleet('answer', sessionId, id, 'Red');
    expect([late.code, late.stderr]).toEqual([5, expect.stringContaining('already')]);
  });

  it('[Y127] several questions of a call have one answer each, sent as an object by question', async () => {
    const { sessionId, requestId, id } = await beginQuestion('Colour?', 'Shape?');
    const wrong = await fleet('answer', sessionId, id, 'Red');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('2 answers expected')]);
    expect((await fleet('answer', sessionId, id, 'Red', 'Round')).code).toBe(0);
    expect(await server.ended(requestId)).toBe('completed');
    const { stdout } = await fleet('export', sessionId);
    expect(stdout).toContain(JSON.stringify(JSON.stringify({ 'Colour?': 'Red', 'Shape?': 'Round' })));
  });
});

describe('what a decision can say beside yes and no', () => {
  it('[Y120] `approve --input` runs one call with that input, from the command line or from a file', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one', 'echo two');
    const input = JSON.stringify({ command: 'echo changed' });
    const refused: readonly (readonly [readonly string[], string])[] = [
      [['--all', '--input', input], '--input applies to one tool call; 2 are selected.'],
      [['--input', input], '2 tool calls are pending.'],
      [[ids[0] ?? '', '--input', '[1]'], '--input is not a JSON object.'],
      [[ids[0] ?? '', '--input', '{'], '--input is not a JSON object.'],
      [[ids[0] ?? '', '--input', '@/nowhere.json'], 'no such file'],
    ];
    for (const [args, problem] of refused) {
      const { code, stderr } = await fleet('approve', sessionId, ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
    }
    expect((await fleet('approve', sessionId, ids[0] ?? '', '--input', input)).code).toBe(0);
    const directory = mkdtempSync(join(tmpdir(), 'fleetloom-input-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'input.json');
    writeFileSync(file, JSON.stringify({ command: 'echo from a file' }));
    // One call waits now, so that it need not be named.
    await expect.poll(async () => (await fleet('approve', sessionId)).stderr).toContain('1 tool call is pending');
    expect((await fleet('approve', sessionId, '--input', `@${file}`)).code).toBe(0);
    expect(await server.ended(requestId)).toBe('completed');
    const { stdout } = await fleet('export', sessionId);
    expect(stdout.match(/"updated_input":\{[^}]*\}/g)).toEqual([
      '"updated_input":{"command":"echo changed"}',
      '"updated_input":{"command":"echo from a file"}',
    ]);
    expect((await fleet('deny', sessionId, '--input', '{}')).code).toBe(2);
  });

  it('[Y121] `deny --interrupt` ends the turn that made the call', async () => {
    const { sessionId, requestId, ids } = await beginAsking('echo one');
    expect((await fleet('deny', sessionId, ...ids, '--interrupt', '--message', 'Stop.')).code).toBe(0);
    expect(await server.ended(requestId)).toBe('completed');
    const { stdout } = await fleet('export', sessionId);
    expect(stdout).toMatch(/"type":"user.tool_confirmation".*"deny_message":"Stop\.".*"interrupt":true/);
    expect(stdout).toMatch(/"type":"turn.ended".*"stop_reason":"cancelled"/);
    expect((await fleet('approve', sessionId, '--interrupt')).code).toBe(2);
  });
});

describe('fleetloom cancel', () => {
  it('[Y19] a run is cancelled with all its threads, and its state is printed', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW, SLOW, SLOW]));
    await expect
      .poll(async () => (await fleet('threads', sessionId, '--json')).stdout.trimEnd().split('\n').length)
      .toBe(4);
    expect(await fleet('cancel', requestId)).toEqual({ code: 0, stdout: 'cancelled\n', stderr: '' });
    const { stdout } = await fleet('threads', sessionId, '--json');
    expect(stdout).not.toContain('"status":"running"');
  });

  it('[Y19] a session id is enough: its active run is found, and its absence is reported', async () => {
    const { sessionId } = await server.begin(SLOW);
    expect(await fleet('cancel', sessionId)).toMatchObject({ code: 0, stdout: 'cancelled\n' });
    expect(await fleet('cancel', sessionId)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`No run is active in ${sessionId}.`),
    });
    const unknown = await fleet('cancel', 'sesn_none');
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringMatching(/^fleetloom: sesn_none does not exist/)]);
  });

  it('[Y19] --no-wait does not wait; an ended or unknown run is 4', async () => {
    const { requestId } = await server.begin(SLOW);
    expect(await fleet('cancel', requestId, '--no-wait')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^(running|cancelled)\n$/),
    });
    await server.ended(requestId);
    expect((await fleet('cancel', requestId)).code).toBe(4);
  });
});

describe('fleetloom export', () => {
  it('[Y17] every event of every thread is there, with its thread, in the order of the log', async () => {
    const { sessionId, requestId } = await server.begin(
      delegate('asker', [script([{ say: 'one' }]), script([{ say: 'two' }])]),
    );
    await server.ended(requestId);
    const { code, stdout, stderr } = await fleet('export', sessionId);
    expect([code, stderr]).toEqual([0, '']);
    const [head, ...rest] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const end = rest.pop();
    expect(head).toEqual({ type: 'export.begin', version: 1, session_id: sessionId, last_seq: rest.length });
    expect(end).toEqual({ type: 'export.end', frames: rest.length, last_seq: rest.length });
    expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, index) => index + 1));
    const { data: threads } = await server.get<{ data: SessionThread[] }>(`/v1/sessions/${sessionId}/threads`);
    const said = rest.filter(({ type }) => type === 'agent.message');
    expect(new Set(said.map(({ thread_id: thread }) => thread))).toEqual(new Set(threads.map(({ id }) => id)));
    // Whatever the API lists of any thread is in it.
    for (const { id } of threads) {
      const { data } = await server.get<{ data: { id: string }[] }>(`/v1/sessions/${sessionId}/threads/${id}/events`);
      for (const event of data) expect(stdout).toContain(event.id);
    }
  });

  it('[Y17] the same log gives the same bytes', async () => {
    const { sessionId, requestId } = await server.begin('ünïcödé 👩‍👩‍👧 \u2028');
    await server.ended(requestId);
    await expect.poll(async () => (await server.get<Session>(`/v1/sessions/${sessionId}`)).status).toBe('idle');
    const first = await fleet('export', sessionId);
    expect(first.stdout).toContain('ünïcödé 👩‍👩‍👧 \u2028');
    expect((await fleet('export', sessionId)).stdout).toBe(first.stdout);
  });

  it('[Y17] a session that still works is exported up to now', async () => {
    const { sessionId, requestId } = await server.begin(SLOW);
    const { code, stdout } = await fleet('export', sessionId);
    expect(code).toBe(0);
    expect(stdout).toContain('"type":"export.end"');
    await fleet('cancel', requestId);
  });

  it('[Y17] on a terminal nothing of it is obeyed', async () => {
    const { sessionId, requestId } = await server.begin('\u009b2Jx');
    await server.ended(requestId);
    const terminal = new FakeTerminal(200, 200);
    const { ended } = begin(['export', sessionId], { terminal, env: server.env });
    expect(await ended).toBe(0);
    expect(terminal.text).not.toContain('\u009b');
    expect(terminal.text).toContain('\\u009b2Jx');
  });
});
