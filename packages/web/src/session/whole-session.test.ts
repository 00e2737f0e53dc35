import { createHash } from 'node:crypto';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { sessionLimits } from './transcript/limits.ts';
import { textLimits } from '../ui/text/limits.ts';
import { changesOf } from '../model/changes.ts';
import { sampleLog } from '../model/sample-log.suite.ts';
import { parseQuery } from '../model/search-query.ts';
import { SessionModel } from '../model/session-model.ts';
import { type ShownRow, toShownRows } from '../model/summary.ts';
import { LongText } from '../ui/text/LongText.tsx';
import { Markdown } from '../ui/text/Markdown.tsx';
import { collectDeltas } from './inspector/collect-deltas.ts';
import { Compare } from './compare/Compare.tsx';
import { pairRequests } from './compare/compare-requests.ts';
import { findInThreads } from './find/find-in-blocks.ts';
import { findRawLines } from './inspector/raw-lines.ts';
import { toRerun, toFork } from './fork/fork-session.ts';
import { toHtml } from './export/to-html.ts';
import { type Block, toBlocks } from './transcript/blocks.ts';

const session = new SessionModel('sesn_1');
for (const event of sampleLog()) session.fold(event);
const rows = toShownRows(session, session.slots, session.slots.lastAt!);
const [lead, worker] = rows as [ShownRow, ShownRow];

let count = 0;
function event(fields: object): SessionEvent {
  count += 1;
  // A literal of the wire; the code under test does not read the missing fields.
  return { id: `e${count}`, processed_at: new Date(count * 1_000).toISOString(), ...fields } as unknown as SessionEvent;
}
const said = (text: string) => event({ type: 'agent.message', content: [{ type: 'text', text }] });
const call = (name: string, input: object) =>
  event({ type: 'agent.tool_use', name, input, evaluated_permission: 'ask' });
const request = () => event({ type: 'span.model_request_start' });

describe('searching a session', () => {
  const failed = call('bash', { command: 'rm -rf build' });
  const blocks = toBlocks([
    request(),
    said('The needle is in the HAYSTACK.'),
    failed,
    event({
      type: 'agent.tool_result',
      tool_use_id: failed.id,
      content: [{ type: 'text', text: 'no' }],
      is_error: true,
    }),
    call('read', { file_path: 'src/needle.ts' }),
  ]);
  const find = (query: string) =>
    findInThreads(
      [
        { row: lead, blocks: [] },
        { row: worker, blocks },
      ],
      parseQuery(query),
    ).map(({ excerpt }) => excerpt);

  it.each([
    ['haystack', 1],
    ['needle', 2],
    ['needle tool:read', 1],
    ['path:needle', 1],
    ['is:error', 1],
    ['tool:bash is:denied', 0],
    [`agent:${worker.agent} needle`, 2],
    ['agent:missing needle', 0],
    ['', 0],
  ])('[Z48] %j finds %i blocks, in any thread, by words, tool, path, agent and state', (query, hits) => {
    expect(find(query)).toHaveLength(hits);
  });

  it('[Z48] hits are limited to the first ones, each with the text around the match', () => {
    const many = toBlocks(Array.from({ length: sessionLimits.hitsMax + 1 }, () => said(`${'x '.repeat(100)}needle`)));
    const hits = findInThreads([{ row: lead, blocks: many }], parseQuery('needle'));
    expect(hits).toHaveLength(sessionLimits.hitsMax);
    expect(hits[0]!.excerpt).toMatch(/^….*needle$/);
    const all = findInThreads([{ row: lead, blocks: many.slice(1) }], parseQuery('needle'));
    expect(all).toHaveLength(sessionLimits.hitsMax);
  });
});

describe('a session as an HTML page', () => {
  const hostile = '<script>alert(1)</script>"\'&\u202e';
  const escape = (text: string) => text.replace(/[<>&"']/g, '_');
  const write = (blocks: readonly Block[]) =>
    toHtml({
      title: hostile,
      sessionId: 'sesn_1',
      threads: [{ row: { ...lead, agent: hostile }, blocks }],
      render: escape,
    });

  it('[Z49] the page contains the complete transcript of every thread, and nothing in it can run, load or hide', () => {
    const tool = call('bash', { command: hostile });
    const page = write(
      toBlocks([
        event({ type: 'user.message', content: [{ type: 'text', text: hostile }] }),
        request(),
        said('It is **done**.'),
        tool,
        event({ type: 'user.tool_confirmation', tool_use_id: tool.id, result: 'deny', deny_message: hostile }),
        event({ type: 'agent.tool_result', tool_use_id: tool.id, content: [{ type: 'text', text: hostile }] }),
        event({
          type: 'agent.thread_message_sent',
          to_session_thread_id: 't',
          to_agent_name: hostile,
          content: [{ type: 'text', text: hostile }],
        }),
        event({ type: 'session.error', error: { type: 'x', message: hostile, retry_status: { type: 'retrying' } } }),
      ]),
    );
    expect(page).not.toMatch(/<script|onerror|\u202e/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page.match(/⟦RLO⟧/g)!.length).toBeGreaterThan(8);
    for (const part of ['It is **done**.', 'denied', 'request 1']) expect(page).toContain(part);
  });

  it('[Z49] a page beyond the limit has a mark that it is cut, and one at the limit is complete', () => {
    const long = (length: number) => toBlocks([said('a'.repeat(length)), said('the last words')]);
    const overhead = '<div><pre></pre></div>'.length;
    const cut = write(long(sessionLimits.exportCharsMax - overhead));
    expect(cut).toContain('The page is cut here');
    expect(cut).not.toContain('the last words');
    const whole = write(long(sessionLimits.exportCharsMax - overhead - '<div>the last words</div>'.length - 1));
    expect(whole).not.toContain('The page is cut here');
    expect(whole).toContain('the last words');
  });
});

describe('the inspector', () => {
  it('[Z50] the raw lines of a block are those of its events, with byte offsets and hashes, up to the limit', async () => {
    const line = (id: string, seq: number) =>
      `{"seq":${seq},"type":"agent.message","payload":{"id":"${id}","text":"ü"}}`;
    const lines = ['{"type":"export.begin"}', line('a', 1), line('b', 2), line('a', 3)];
    const bytes = new TextEncoder().encode(`${lines.join('\n')}\n`);
    // Chunks end anywhere, even inside a character.
    const body = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
          controller.close();
        },
      });
    const found = await findRawLines(body(), new Set(['a']));
    expect(found.map(({ text }) => text)).toEqual([lines[1], lines[3]]);
    for (const { text, offset, hash } of found) {
      expect(new TextDecoder().decode(bytes.subarray(offset)).startsWith(text)).toBe(true);
      expect(hash).toBe(createHash('sha256').update(text).digest('hex'));
    }
    const many = new Blob([`${line('a', 1)}\n`.repeat(sessionLimits.rawLinesMax + 1)]).stream();
    expect(await findRawLines(many, new Set(['a']))).toHaveLength(sessionLimits.rawLinesMax);
  });

  it('[Z50] a change is one edit, several edits of a file, or a whole file; other inputs have none', () => {
    const edit = { old_string: 'a', new_string: 'b' };
    expect(changesOf({ file_path: 'x', ...edit })).toEqual([{ path: 'x', before: 'a', after: 'b' }]);
    expect(changesOf({ file_path: 'x', edits: [edit, edit] })).toHaveLength(2);
    expect(changesOf({ file_path: 'x', content: 'new' })).toEqual([{ path: 'x', before: '', after: 'new' }]);
    for (const input of [null, 'text', { command: 'ls' }, { content: 'no path' }, { edits: [null, 7] }])
      expect(changesOf(input)).toEqual([]);
  });

  it('[Z40] the deltas of a request are read up to the limit, and the log no further', async () => {
    const base = { cursor: '', seq: 1, ts: 1, stream_id: 0, depth: 0, agent: 'a', thread_id: 't' };
    const start = { ...base, type: 'agent_start' as const, model: 'm', iteration: 1 };
    const text = { ...base, type: 'text' as const, delta: 'x' };
    let pieces = 0;
    async function* log() {
      for (; ; pieces++) yield pieces === 0 ? [start] : [text, { ...text, thread_id: 'other' }];
    }
    expect(await collectDeltas(log(), 't', 0)).toHaveLength(sessionLimits.deltasMax);
    expect(pieces).toBe(sessionLimits.deltasMax);
    async function* two() {
      yield [start, text, start, text, text, start];
    }
    expect((await collectDeltas(two(), 't', 1)).map(({ type }) => type)).toEqual(['agent_start', 'text', 'text']);
  });
});

describe('comparing threads', () => {
  it('[Z51] requests are paired by number; the rest of the longer thread has no partner', () => {
    const left = toBlocks([request(), said('one'), call('bash', { command: 'ls' }), request(), said('two')]);
    const pairs = pairRequests(left, toBlocks([request(), said('uno')]));
    expect(pairs.map((pair) => pair.map((side) => side?.text))).toEqual([
      ['one', 'uno'],
      ['two', undefined],
    ]);
    expect(pairs[0]![0]!.calls).toEqual([{ name: 'bash', label: 'ls', isError: false }]);
  });

  it('[Z51] totals, their difference and the requests up to the limit are shown', () => {
    const blocks = toBlocks(Array.from({ length: sessionLimits.comparedRequestsMax + 1 }, request));
    const draw = (shown: readonly Block[]) =>
      renderToStaticMarkup(createElement(Compare, { sides: [lead, worker], blocks: [shown, []] }));
    expect(draw(blocks)).toContain('1 more requests');
    expect(draw(blocks.slice(1))).not.toContain('more requests');
    expect(draw([])).toMatch(/tokens.*[+−]/);
  });
});

it('[Z27] a text is shown whole up to one limit, and as Markdown up to another', () => {
  const draw = (length: number) => renderToStaticMarkup(createElement(LongText, { text: 'x'.repeat(length) }));
  expect(draw(textLimits.shownCharsMax)).not.toContain('show all');
  expect(draw(textLimits.shownCharsMax + 1)).toContain('show all');
  const mark = (length: number) => renderToStaticMarkup(createElement(Markdown, { text: 'x'.repeat(length) }));
  expect(mark(textLimits.markdownCharsMax)).toBe('<div class="markdown"></div>');
  expect(mark(textLimits.markdownCharsMax + 1)).toContain('show all');
});

it('[Z52] a session is run again with the same agent version, environment, files, directory and repositories; only the changes are replaced', () => {
  const record = {
    agent: { id: 'agent_1', version: 3, name: 'lead', model: { id: 'one' }, system: 'Lead.' },
    environment_id: 'env_1',
    title: 'Release',
    resources: [
      { type: 'file', id: 'sesrsc_1', file_id: 'file_1', mount_path: '/workspace/a.md' },
      {
        type: 'directory',
        id: 'sesrsc_2',
        path: '/srv/ferry',
        mode: 'worktree',
        mount_path: '/workspace',
        base: null,
        commit: 'c0ffee',
        branch: 'fleetloom/1',
        include_uncommitted: false,
        copy: ['.env'],
        setup: null,
        created_at: '',
        updated_at: '',
      },
      {
        type: 'git_repository',
        id: 'sesrsc_3',
        url: 'https://git.example/a.git',
        mount_path: '/workspace/a',
        checkout: null,
        credential_id: 'cred_1',
        created_at: '',
        updated_at: '',
      },
    ],
  } as unknown as Parameters<typeof toRerun>[0];
  expect(toRerun(record, { message: 'Go', model: 'one', system: 'Lead.' })).toEqual({
    agent: { type: 'agent_with_overrides', id: 'agent_1', version: 3 },
    environment_id: 'env_1',
    title: 'Release (again)',
    resources: [
      { type: 'file', file_id: 'file_1', mount_path: '/workspace/a.md' },
      {
        type: 'directory',
        path: '/srv/ferry',
        mode: 'worktree',
        setup: null,
        base: 'c0ffee',
        include_uncommitted: false,
        copy: ['.env'],
      },
      {
        type: 'git_repository',
        url: 'https://git.example/a.git',
        mount_path: '/workspace/a',
        checkout: null,
        credential_id: 'cred_1',
      },
    ],
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go' }] }],
  });
  expect(toRerun(record, { message: 'Go', model: 'two', system: '' }).agent).toMatchObject({
    model: 'two',
    system: '',
  });
  expect(toFork(record, { model: 'one', system: 'Lead.' }, '12.1')).toEqual({ title: 'Release (fork)', at: '12.1' });
  expect(toFork(record, { model: 'two', system: 'Lead.' }, undefined)).toEqual({
    title: 'Release (fork)',
    agent: { type: 'agent_with_overrides', id: 'agent_1', version: 3, model: 'two' },
  });
});
