import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { formatClock } from '../../model/format.ts';
import { limits } from '../../model/limits.ts';
import { createRandom } from '../../model/sample-log.suite.ts';
import { WorkspaceLog, type WorkspaceStep } from '../../model/workspace-log.ts';
import { parseHash, toHash } from '../../stores/ui-store.ts';
import { codeFamilyOf, highlightCode } from '../../ui/text/highlight-code.ts';
import { addChanges } from '../transcript/add-changes.ts';
import type { Block } from '../transcript/blocks.ts';
import { editorLink } from './editor-link.ts';
import { toFileRows } from './file-rows.ts';
import { parseDiff, toSides } from './parse-diff.ts';
import { changesTabLimits } from './limits.ts';
import { listMoments, START } from './list-moments.ts';
import { listTurns, selectRange } from './select-range.ts';
import { Worktrees } from './Worktrees.tsx';

describe('range of changes', () => {
  const steps = [
    createStep(5, { threadId: 'a', turn: '1.0' }),
    createStep(9, { threadId: 'b', turn: '1.1' }),
    createStep(12, { threadId: 'a', turn: '1.0' }),
    createStep(20, { threadId: 'a', turn: '2.0' }),
    createStep(30, { threadId: null, turn: null }),
  ];
  const all = { threadId: undefined, turn: undefined, at: undefined };

  it('[WS159] a live range ends now, a replayed one at the last change before its moment, and a turn begins before its first change', () => {
    expect(selectRange(steps, all)).toEqual({ type: 'range', version: 'live 30' });
    expect(selectRange(steps, { ...all, threadId: 'b' })).toEqual({ type: 'range', thread: 'b', version: 'live 30' });
    expect(selectRange(steps, { ...all, at: 11 })).toEqual({ type: 'range', to: '9', version: '9' });
    expect(selectRange(steps, { ...all, at: 4 })).toEqual({ type: 'nothing_yet' });
    const turn = '1.0 a';
    const whole = { type: 'range', from: '4', to: '12', thread: 'a', version: '4 12' };
    expect(selectRange(steps, { ...all, turn })).toEqual(whole);
    expect(selectRange(steps, { ...all, turn, at: 11 })).toEqual({ ...whole, to: '5', version: '4 5' });
    expect(selectRange(steps, { ...all, turn: '2.0 a', at: 11 })).toEqual({ type: 'nothing_yet' });
  });

  it('[WS159] turns are those that changed files, numbered within their thread', () => {
    expect(listTurns(steps).map(({ id, number, steps: count }) => [id, number, count])).toEqual([
      ['1.0 a', 1, 2],
      ['1.1 b', 1, 1],
      ['2.0 a', 2, 1],
    ]);
  });

  it('[WS166] the log of a workspace distinguishes turns of two runs and keeps the newest 2,000 changes', () => {
    const log = new WorkspaceLog();
    for (let run = 1; run <= 2; run++) {
      log.take({ type: 'request_received' } as FleetEvent);
      log.take(changed(run * 10));
    }
    log.take({ ...changed(30), turn: null } as FleetEvent);
    expect(log.steps.map(({ turn, cursor }) => [turn, cursor])).toEqual([
      ['1.0', '10'],
      ['2.0', '20'],
      [null, '30'],
    ]);
    expect(limits.workspaceStepsMax).toBe(2_000);
    for (let seq = 100; log.steps.length < limits.workspaceStepsMax; seq++) log.take(changed(seq));
    expect(log.steps[0]!.seq).toBe(10);
    log.take(changed(10_000));
    expect([log.steps.length, log.steps[0]!.seq, log.steps.at(-1)!.seq]).toEqual([2_000, 20, 10_000]);
  });

  it('[Z203] the log of a workspace counts applications and discardings, which are not changes', () => {
    const log = new WorkspaceLog();
    const base = { cursor: '9', seq: 9, ts: 9, session_id: 's', by: 'admin' } as const;
    log.take(changed(8));
    log.take({ ...base, type: 'workspace_applied', onto: 'branch', paths_count: 1, branch: 'b', commit: 'c' });
    log.take({ ...base, type: 'workspace_discarded' });
    expect([log.steps.length, log.decisions]).toEqual([1, 2]);
  });

  it('[Z204] files can be set back to the beginning, to the moment shown and to the newest 100 changes but the last one', () => {
    expect(listMoments([], START)).toEqual([{ at: 'start', label: 'the beginning, before any change' }]);
    const ats = (count: number, shown: string) =>
      listMoments(
        Array.from({ length: count }, (_, index) => createStep(index + 1, { threadId: 'a', turn: '1.0' })),
        shown,
      ).map(({ at }) => at);
    expect(ats(3, START)).toEqual(['2', '1', 'start']);
    expect(ats(3, '1')).toEqual(['2', '1', 'start']);
    expect(ats(3, '2.1')).toEqual(['2.1', '2', '1', 'start']);
    expect(changesTabLimits.momentsMax).toBe(100);
    expect([ats(101, START).length, ats(101, START).at(-2)]).toEqual([101, '1']);
    expect([ats(102, START).length, ats(102, START).at(-2)]).toEqual([101, '2']);
  });

  it('[Z201] the name of a branch has to stay the same for 300 ms', () => {
    expect(changesTabLimits.typedWaitMs).toBe(300);
  });

  it('[WS150] the address of the tab leads back to it', () => {
    const route = { view: 'session', sessionId: 's', threadId: 't', tab: 'changes' } as const;
    expect(toHash(route)).toBe('#/session/s/t?tab=changes');
    expect(parseHash('#/session/s/t?tab=changes')).toMatchObject(route);
    expect(parseHash('#/session/s/t?tab=other').tab).toBeUndefined();
  });
});

describe('diffs', () => {
  const diff = [
    'diff --git a/a b/a',
    '--- a/a',
    '+++ b/a',
    '@@ -1,4 +1,3 @@ function x()',
    ' same',
    '--- removed, not a header',
    '-@@ -9 +9 @@',
    '+++ added, not a header',
    ' end',
    '\\ No newline at end of file',
    '@@ -10 +9 @@',
    '-ten',
    '+nine',
    '',
  ].join('\n');

  it('[WS160] the counts of a hunk decide what a line is: content that looks like a header stays content', () => {
    expect(parseDiff(diff)).toEqual([
      { type: 'hunk', text: '@@ -1,4 +1,3 @@ function x()' },
      { type: 'same', before: 1, after: 1, text: 'same' },
      { type: 'removed', before: 2, text: '-- removed, not a header' },
      { type: 'removed', before: 3, text: '@@ -9 +9 @@' },
      { type: 'added', after: 2, text: '++ added, not a header' },
      { type: 'same', before: 4, after: 3, text: 'end' },
      { type: 'note', text: 'No newline at the end of the file' },
      { type: 'hunk', text: '@@ -10 +9 @@' },
      { type: 'removed', before: 10, text: 'ten' },
      { type: 'added', after: 9, text: 'nine' },
    ]);
    expect(parseDiff('')).toEqual([]);
  });

  it('[WS161] side by side, removed lines are beside the added lines that follow them, and no line is lost', () => {
    const rows = parseDiff(diff);
    const sides = toSides(rows);
    expect(
      sides.map((row) => (row.type === 'whole' ? row.row.type : [row.left?.text ?? null, row.right?.text ?? null])),
    ).toEqual([
      'hunk',
      ['same', 'same'],
      ['-- removed, not a header', '++ added, not a header'],
      ['@@ -9 +9 @@', null],
      ['end', 'end'],
      'note',
      'hunk',
      ['ten', 'nine'],
    ]);
  });
});

describe('code', () => {
  it('[WS162] highlighting does not change a character, whatever the line and the language', () => {
    const random = createRandom(17);
    const pieces = [
      '"',
      "'",
      '`',
      '\\',
      '/*',
      '*/',
      '//',
      '#',
      '--',
      '<!--',
      '-->',
      '<a',
      'return',
      ' ',
      '\t',
      '42',
      'ü',
      '😀',
      '$x',
      '@y',
      '.',
      '⟦RLO⟧',
    ];
    for (const name of ['a.ts', 'a.py', 'a.sql', 'a.html', 'a.unknown', 'Makefile']) {
      for (let count = 0; count < 500; count++) {
        const line = Array.from({ length: random() * 12 }, () => pieces[Math.floor(random() * pieces.length)]).join('');
        const parts = highlightCode(line, codeFamilyOf(name));
        expect(parts.map(({ text }) => text).join(''), `${name} ${line}`).toBe(line);
      }
    }
  });

  it('[WS162] keywords, strings, numbers and comments are distinguished by the family of the language', () => {
    const kinds = (line: string, name: string) =>
      highlightCode(line, codeFamilyOf(name)).flatMap(({ kind, text }) =>
        kind === 'plain' ? [] : [`${kind} ${text}`],
      );
    expect(kinds('const a = "b\\"c" + 12; // d', 'x.ts')).toEqual([
      'keyword const',
      'string "b\\"c"',
      'number 12',
      'comment // d',
    ]);
    expect(kinds(' * a return in a comment', 'x.java')).toEqual(['comment  * a return in a comment']);
    expect(kinds('def f(): # it', 'x.py')).toEqual(['keyword def', 'comment # it']);
    expect(kinds("SELECT 'a' -- b", 'x.sql')).toEqual(['keyword SELECT', "string 'a'", 'comment -- b']);
    expect(kinds('<a href="b">return</a>', 'x.html')).toEqual(['keyword <a', 'string "b"', 'keyword </a']);
    expect(kinds('return "x" 1', 'x.txt')).toEqual([]);
  });
});

describe('files', () => {
  it('[WS163] the tree has directories before files, joins a chain of directories, and hides the content of closed ones', () => {
    const files = ['a/b/c/one.ts', 'a/b/c/two.ts', 'd/e.ts', 'd/f/g.ts', 'z.ts'].map((path) => ({ path }));
    const show = (closed: readonly string[]) =>
      toFileRows(files, new Set(closed)).map(({ name, level }) => `${' '.repeat(level)}${name}`);
    expect(show([])).toEqual(['a/b/c', ' one.ts', ' two.ts', 'd', ' f', '  g.ts', ' e.ts', 'z.ts']);
    expect(show(['a/b/c', 'd'])).toEqual(['a/b/c', 'd', 'z.ts']);
  });

  it('[WS164] a file is opened in the local editor only if the page comes from this machine and the workspace exists', () => {
    const at = (hostname: string, workspace: string | null = '/data/w s') =>
      editorLink({ workspace }, 'src/a#b.ts', hostname);
    expect(at('127.0.0.1')).toBe('vscode://file/data/w%20s/src/a%23b.ts');
    expect([at('localhost'), at('[::1]')]).toEqual([at('127.0.0.1'), at('127.0.0.1')]);
    expect([at('fleet.example.com'), at('127.0.0.1', null)]).toEqual([undefined, undefined]);
  });
});

it('[WS165] the transcript has a line for each change: after the tool call that made it, otherwise by time', () => {
  const blocks = [10, 20, 30].map((at) => ({ id: `e${at}`, at, events: [], type: 'text', text: '' }) satisfies Block);
  const steps = [
    createStep(1, { at: 15 }),
    createStep(2, { at: 29, toolUseId: 'e10' }),
    createStep(3, { at: 40, toolUseId: 'gone' }),
  ];
  expect(addChanges(blocks, steps).map(({ id }) => id)).toEqual([
    'e10',
    'changed 2',
    'changed 1',
    'e20',
    'e30',
    'changed 3',
  ]);
  expect(addChanges(blocks, [])).toBe(blocks);
});

it('[WS461] threads with worktrees of their own are listed with what was not merged, and when they were merged', () => {
  const at = '2026-11-18T10:00:00.000Z';
  const create = (agent_name: string, files_count: number, merged_at: string | null) => ({
    session_thread_id: `sthr_${agent_name}`,
    agent_name,
    branch: `fleetloom/${agent_name}`,
    merged_at,
    files_count,
    lines_added: files_count,
    lines_removed: 0,
  });
  const show = (...worktrees: readonly ReturnType<typeof create>[]) =>
    renderToStaticMarkup(createElement(Worktrees, { worktrees }))
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  const clock = formatClock(Date.parse(at));
  expect(show()).toBe('');
  expect(show(create('a', 0, at), create('b', 0, null))).toBe(
    `2 threads with a worktree, nothing to merge a fleetloom/a merged at ${clock} b fleetloom/b no changes`,
  );
  expect(show(create('c', 2, null), create('d', 1, at))).toBe(
    `2 threads with a worktree, 2 not merged c fleetloom/c 2 files changed and not merged, +2 −0 d fleetloom/d merged at ${clock}, then 1 file changed and not merged, +1 −0`,
  );
});

function createStep(seq: number, fields: Partial<WorkspaceStep>): WorkspaceStep {
  const counts = { files_count: 1, lines_added: 1, lines_removed: 0 };
  return { cursor: String(seq), seq, at: seq, threadId: 't', turn: '1.0', toolUseId: null, ...counts, ...fields };
}

function changed(seq: number): FleetEvent {
  return {
    type: 'workspace_changed',
    cursor: String(seq),
    seq,
    ts: seq,
    session_id: 's',
    thread_id: 't',
    turn: 0,
    tool_use_id: null,
    files: [],
    files_count: 0,
    lines_added: 0,
    lines_removed: 0,
    tree: 'x',
  };
}
