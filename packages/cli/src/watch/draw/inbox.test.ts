import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { toInputLabel, toInputLine } from '../../fleet/draw-threads.ts';
import { draw, modelOf, press } from '../../../test-support/watch-models.ts';
import type { ServerApi } from '../../connection/server-api.ts';
import { exitCode } from '../../base/exit-code.ts';
import type { Io } from '../../base/io.ts';
import { limits } from '../../base/limits.ts';
import type { WatchAction } from '../state/action.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { runAction } from '../data/run-action.ts';
import { describeRule, isAllowed, toRule } from '../state/rule.ts';
import { worstState } from '../state/worst-state.ts';

/** Three that wait: one for long, one below another, and one for a result. */
function fleet(): FleetEvents {
  return new FleetEvents()
    .start('t')
    .open(0, 'lead', null, 'L')
    .open(1, 'alpha', 0, 'A')
    .text(1, 'It is stale.\nSo I remove it first.')
    .ask(1, 'git log --oneline')
    .later(10_000)
    .open(2, 'beta', 0, 'B')
    .ask(2, 'git status')
    .open(3, 'gamma', 2, 'C')
    .on(3, { type: 'tool_start', tool: 'ask_human', tool_use_id: 'sevt_3', input: { question: 'Which branch?' } })
    .later(5_000);
}

function open(events = fleet()) {
  const model = modelOf(events);
  model.facts = { name: null, budgetUsd: null, customTools: new Map([['C', new Set(['ask_human'])]]) };
  press(model, 'i', events.nowMs);
  return { model, events, screen: () => draw(model, events.nowMs).join('\n') };
}

/** Carries actions out on a server that only notes what it was sent. What was answered waits again: each is seen alone. */
function collectSent(model: ReturnType<typeof modelOf>) {
  const bodies: unknown[] = [];
  const post = async (_: string, body: unknown) => void bodies.push(body);
  // Only what is used of them.
  const io = { timers: { now: () => 0 } } as unknown as Io;
  const api = { post } as unknown as ServerApi;
  return {
    bodies,
    carry: async (action: WatchAction | undefined) => {
      if (action?.type !== 'answer') throw new Error('nothing was answered');
      await new Promise<void>((resolve) => runAction(io, api, model, action, resolve));
      for (const { toolUseId } of action.pendingCalls) model.unanswered(toolUseId);
    },
  };
}

describe('the inbox', () => {
  it('[Y33] it lists all that waits, at any depth, what holds up most for longest first', () => {
    const { screen } = open();
    expect(screen()).toMatch(/INBOX {2}3 pending, oldest 15s/);
    expect(screen()).toMatch(/› ! alpha .*blocks 2 +15s\n {2}\? gamma .*blocks 3 +5s\n {2}! beta .*blocks 2 +5s/);
  });

  it('[Y33] of the chosen one it shows who waits for it, why it is wanted and the whole input', () => {
    const { model, screen, events } = open();
    expect(screen()).toMatch(
      / ! alpha requests approval for bash +sevt_1\n {3}lead › alpha\n {3}"So I remove it first\."\n {3}git log --oneline/,
    );
    press(model, 'j', events.nowMs);
    expect(screen()).toMatch(
      /gamma waits for the result of ask_human +sevt_3\n {3}lead › beta › gamma\n {3}Which branch\?/,
    );
  });

  it('[Y503] a row names what the call is about, and the whole input is shown where it is decided', () => {
    const edit = { file_path: 'src/retry.js', old_string: 'a', new_string: 'b' };
    expect([toInputLabel(edit), toInputLabel({ count: 3 })]).toEqual(['src/retry.js', '{"count":3}']);
    expect(toInputLine(edit)).toBe(JSON.stringify(edit));
  });

  it('[Y33] an input of any length can be scrolled, and the position is shown', () => {
    const command = Array.from({ length: 90 }, (_, index) => `line ${index}`).join('\n');
    const events = new FleetEvents().start().open(0, 'lead', null, 'L').ask(0, command);
    const { model, screen } = open(events);
    expect(screen()).toMatch(/lines 1 to \d+ of 90, PgDn and PgUp scroll/);
    press(model, '\u001b[F');
    expect(screen()).toContain('line 89');
    press(model, '\u001b[H');
    expect(screen()).toContain('line 0\n');
    press(model, '\u001b[6~');
    expect(screen()).toMatch(/lines 11 to/);
  });

  it('[Y33] lines of an input beyond 10000 are counted, not shown', () => {
    const linesOf = (count: number) => {
      const events = new FleetEvents().start().open(0, 'lead', null, 'L').ask(0, Array(count).fill('x').join('\n'));
      const { model, screen } = open(events);
      screen();
      press(model, '\u001b[F');
      return screen();
    };
    expect(limits.inputPageRowsMax).toBe(10_000);
    expect(linesOf(10_000)).not.toContain('only its beginning');
    expect(linesOf(10_001)).toContain('only the beginning is shown: 20001 characters in all');
  });

  it('[Y33] a, d and x apply to the selected item, Enter opens its thread, and Esc returns', () => {
    const { model, screen, events } = open();
    screen();
    expect(press(model, 'a', events.nowMs)).toMatchObject([
      { type: 'answer', result: 'allow', pendingCalls: [{ toolUseId: 'sevt_1' }] },
    ]);
    expect(press(model, 'xy', events.nowMs).at(-1)).toEqual({ type: 'stop', threadIds: ['A'], target: 'alpha' });
    press(model, '\r', events.nowMs);
    expect([model.page, screen()]).toEqual(['thread', expect.stringMatching(/! needs you {2}alpha/)]);
    press(model, '\u001b', events.nowMs);
    expect(model.page).toBe('inbox');
    press(model, '\u001b', events.nowMs);
    expect(model.page).toBe('threads');
  });

  it('[Y33] nothing is approved that was not shown, and the chosen one stays chosen when others weigh more', () => {
    const { model, screen, events } = open();
    expect(press(model, 'a', events.nowMs)).toEqual([undefined]);
    expect(screen()).toContain('Press i to read it');
    // In a while the result that three wait for weighs more than the approval that two wait for.
    events.later(100_000);
    expect(screen()).toMatch(/ {2}\? gamma .*\n› ! alpha /);
    const [first] = press(model, 'a', events.nowMs);
    expect(first).toMatchObject({ pendingCalls: [{ toolUseId: 'sevt_1' }] });
    model.answered('sevt_1');
    press(model, 'j', events.nowMs);
    expect(press(model, 'a', events.nowMs)).toEqual([undefined]);
    screen();
    expect(press(model, 'a', events.nowMs)).toHaveLength(1);
    // Where there is no room for what is asked for, it cannot be approved either.
    press(model, '\u001bn', events.nowMs);
    draw(model, events.nowMs, 80, 8);
    expect(press(model, 'a', events.nowMs)).toEqual([undefined]);
  });

  it('[Y33] an empty inbox names the running threads', () => {
    const { screen } = open(new FleetEvents().start().open(0, 'lead', null, 'L'));
    expect(screen()).toContain('Nothing is pending. 1 thread running.');
  });

  it('[Y35] a custom tool needs the user, and r returns its result', () => {
    const { model, events } = open();
    press(model, 'j', events.nowMs);
    expect(press(model, 'a', events.nowMs)).toEqual([undefined]);
    expect(draw(model, events.nowMs).at(-1)).toContain('ask_human waits for its result: r returns it.');
    expect(press(model, 'rthe main one\r', events.nowMs).at(-1)).toMatchObject({
      type: 'result',
      pendingCall: { toolUseId: 'sevt_3' },
      text: 'the main one',
    });
    press(model, '\u001b', events.nowMs);
    expect(draw(model, events.nowMs, 120).join('\n')).toMatch(/! {2}╰─gamma|! {4}╰─gamma +needs you/);
    press(model, 'kkr', events.nowMs);
    expect(model.prompt).toBe(undefined);
  });
});

describe('a question of a program', () => {
  const input = {
    questions: [
      {
        question: 'Which colour?',
        header: 'Colour',
        options: [{ label: 'Red', description: 'Like fire' }, { label: 'Blue' }],
        multiSelect: false,
      },
    ],
  };
  const asking = () =>
    new FleetEvents().start().open(0, 'lead', null, 'L').on(0, {
      type: 'tool_start',
      tool: 'AskUserQuestion',
      tool_use_id: 'sevt_q',
      input,
      awaits_result: true,
    });

  it('[Y126] it is in the inbox with its text and its options although no definition names its tool, and r answers it', () => {
    const events = asking();
    const model = modelOf(events);
    press(model, 'i', events.nowMs);
    const screen = draw(model, events.nowMs).join('\n');
    expect(screen).toMatch(/INBOX {2}1 pending/);
    expect(screen).toMatch(/lead has a question: AskUserQuestion +sevt_q\n {3}Which colour\?\n/);
    expect(screen).toMatch(/- Red: Like fire\n +- Blue/);
    expect(worstState(model, events.nowMs)).toBe(exitCode.needsYou);
    expect(press(model, 'rBlue\r', events.nowMs).at(-1)).toMatchObject({
      type: 'result',
      pendingCall: { toolUseId: 'sevt_q' },
      text: 'Blue',
    });
  });

  it('[Y126] it is shown beside an approval of the same thread, and not after its answer', () => {
    const events = asking().ask(0, 'ls');
    expect(
      modelOf(events)
        .pendingCalls(events.nowMs)
        .map(({ type }) => type),
    ).toEqual(['approval', 'result']);
    events.on(0, { type: 'tool_call', tool: 'AskUserQuestion', tool_use_id: 'sevt_q', ok: true, duration_ms: 1 });
    expect(
      modelOf(events)
        .pendingCalls(events.nowMs)
        .map(({ type }) => type),
    ).toEqual(['approval']);
  });
});

describe('a pattern that is approved', () => {
  const pendingCall = (tool: string, input: unknown): PendingCall => {
    const who = { agent: 'a', key: 'k', path: ['a'], askedAt: 0 };
    return { type: 'approval', toolUseId: 't', tool, input, plan: null, questions: [], ...who };
  };
  const bash = (command: string) => pendingCall('bash', { command });

  it('[Y34] A shows the exact rule and how many pending calls match, and approves these at once', () => {
    const { model, events, screen } = open();
    press(model, 'A', events.nowMs);
    expect(screen()).toMatch(
      /Approve automatically until you quit:\n {4}bash\(command: git log --oneline\)\n {3}matches 1 of 3/,
    );
    press(model, '\u0015git *', events.nowMs);
    expect(screen()).toMatch(/bash\(command: git \*\)\n {3}matches 2 of 3/);
    expect(press(model, '\r', events.nowMs)).toMatchObject([
      { type: 'answer', result: 'allow', pendingCalls: [{ toolUseId: 'sevt_1' }, { toolUseId: 'sevt_2' }] },
    ]);
    model.answered('sevt_1');
    model.answered('sevt_2');
    expect(model.ruled(events.nowMs)).toEqual([]);
    events.open(4, 'delta', 0, 'D').ask(4, 'git diff', 'sevt_4').ask(4, 'git diff; rm -rf .', 'sevt_5');
    for (const event of events.list.slice(-3)) model.take(event);
    expect(model.ruled(events.nowMs).map(({ toolUseId }) => toolUseId)).toEqual(['sevt_4']);
    press(model, ':rules\r', events.nowMs);
    expect(screen()).toContain('Approved automatically: bash(command: git *)');
    press(model, ':rules forget\r', events.nowMs);
    expect(model.ruled(events.nowMs)).toEqual([]);
  });

  it('[Y100] approvals by A are sent with the rule that was shown, at once and later; a and d send none', async () => {
    const { model, events, screen } = open();
    screen();
    const sent = collectSent(model);
    const [once] = press(model, 'a', events.nowMs);
    const both = press(model, 'A\u0015git *\r', events.nowMs).at(-1);
    const denied = press(model, 'dno\r', events.nowMs).at(-1);
    for (const action of [once, both, denied]) await sent.carry(action);
    for (const id of ['sevt_1', 'sevt_2']) model.answered(id);
    events.open(4, 'delta', 0, 'D').ask(4, 'git diff', 'sevt_4');
    for (const event of events.list.slice(-2)) model.take(event);
    await sent.carry({ type: 'answer', pendingCalls: model.ruled(events.nowMs), result: 'allow' });
    const rule = 'bash(command: git *)';
    const answer = (id: string, fields: object) => ({ type: 'user.tool_confirmation', tool_use_id: id, ...fields });
    expect(sent.bodies).toEqual([
      { events: [answer('sevt_1', { result: 'allow' })] },
      { events: ['sevt_1', 'sevt_2'].map((id) => answer(id, { result: 'allow', rule })) },
      { events: [answer('sevt_1', { result: 'deny', deny_message: 'no' })] },
      { events: [answer('sevt_4', { result: 'allow', rule })] },
    ]);
  });

  it('[Y122] a plan is shown as its text, line by line, with everything else that the program sent', () => {
    const input = {
      plan: '# Plan\n\n1. Read it\n2. Fix\u202e it',
      allowedPrompts: [{ tool: 'Bash', prompt: 'run tests' }],
    };
    const plan = { type: 'approval_required', tool: 'ExitPlanMode', tool_use_id: 'sevt_1', kind: 'plan', input };
    const { screen } = open(new FleetEvents().start().open(0, 'lead', null, 'L').on(0, plan));
    expect(screen()).toMatch(/lead requests approval of a plan: ExitPlanMode/);
    expect(screen()).toMatch(/ # Plan *\n *\n *1\. Read it *\n *2\. Fix⟦RLO⟧ it/);
    expect(screen()).toContain('"prompt": "run tests"');
  });

  it('[Y34] line breaks in a rule are shown, and ignored fields are mentioned', () => {
    const events = new FleetEvents().start().open(0, 'lead', null, 'L').ask(0, 'cd a\nls', 'sevt_1');
    const { model, screen } = open(events);
    press(model, 'A');
    expect(screen()).toContain('bash(command: cd a\\nls)');
    expect(screen()).toMatch(/Pattern: cd a\\nls_/);
    expect(screen()).not.toContain('other fields');
    press(model, '\u001b');
    const input = { path: 'a.ts', content: 'x' };
    events.on(0, { type: 'approval_required', tool: 'write', tool_use_id: 'sevt_2', input });
    model.take(events.list.at(-1)!);
    press(model, 'jA');
    expect(screen()).toMatch(/write\(path: a\.ts\)\n.*other fields: any/);
  });

  it('[Y34] a pattern that does not allow the pending call is refused', () => {
    const { model, events, screen } = open();
    expect(press(model, 'A\u0015rm *\r', events.nowMs).at(-1)).toBe(undefined);
    expect(screen()).toContain('bash(command: rm *) does not match the pending request.');
    expect(model.rules).toEqual([]);
    press(model, 'A\u001b', events.nowMs);
    expect(model.rules).toEqual([]);
  });

  it('[Y34] a star in a command does not match anything that begins another command', () => {
    const rule = { tool: 'bash', field: 'command', pattern: 'git *' };
    for (const command of ['git log', 'git ', 'git log -p "a b"']) expect(isAllowed(rule, bash(command))).toBe(true);
    for (const command of [
      'git log; rm x',
      'git log && rm x',
      'git $(rm x)',
      'git `rm x`',
      'git log\nrm x',
      'git > x',
      'gitk',
      '',
      'a git log',
    ])
      expect([command, isAllowed(rule, bash(command))]).toEqual([command, false]);
    expect(isAllowed({ ...rule, pattern: 'cd * && npm test' }, bash('cd packages/a && npm test'))).toBe(true);
    expect(isAllowed({ ...rule, pattern: 'cd * && npm test' }, bash('cd a && rm x && npm test'))).toBe(false);
    expect(isAllowed({ ...rule, pattern: '*a*b*c*' }, bash('xxaybzzc'))).toBe(true);
    expect(isAllowed({ ...rule, pattern: '*ab*ab' }, bash('xab'))).toBe(false);
    expect(isAllowed({ ...rule, pattern: 'ls' }, bash('ls -l'))).toBe(false);
    const long = `git ${'a'.repeat(100_000)}`;
    expect(isAllowed({ ...rule, pattern: `git ${'*a'.repeat(1_000)}b` }, bash(long))).toBe(false);
  });

  it.each([
    ['src/*', 'src/a.ts', true],
    ['src/*', 'src/a/b.ts', true],
    ['src/*', 'src/..a/b..c/...', true],
    ['src/*', 'src/../../etc/passwd', false],
    ['src/*', 'src/..', false],
    ['src/*', 'src/a/../../../b', false],
    ['src/*', 'src/./a', false],
    ['src/*', 'src//a', false],
    ['src/*', 'src/a/', false],
    ['src/*', String.raw`src/..\..\a`, false],
    ['src/*', String.raw`src\a`, false],
    ['src/*', 'src/%2e%2e/%2e%2e/a', false],
    ['src/*', 'src/%2E%2E%2Fa', false],
    ['src/*', 'src/a%00.ts', false],
    ['src/*', 'src/a\u0000', false],
    ['src/*', '/src/a', false],
    ['src/*', './src/a', false],
    ['src/../lib/*', 'src/../lib/a', false],
    ['src/../lib/a', 'src/../lib/a', true],
    ['*.ts', 'a/b.ts', true],
    ['*.ts', '/etc/b.ts', false],
    ['*.ts', '~/b.ts', false],
    ['*', 'C:/b.ts', false],
    ['*', 'a', true],
    ['*', '../a', false],
    ['/ws/*', '/ws/src/a', true],
    ['/ws/*', '/ws/../etc/passwd', false],
    ['/*', '/etc/passwd', true],
  ])('[R287] leave to write %j covers %j: %s', (pattern, file, isCovered) => {
    for (const field of ['file_path', 'path', 'notebook_path', 'pattern']) {
      expect(isAllowed({ tool: 'write', field, pattern }, pendingCall('write', { [field]: file }))).toBe(isCovered);
    }
  });

  it.each([
    ['https://a.com/*', 'https://a.com/b/c?d=e', true],
    ['https://a.com/*', 'https://a.com.evil.org/', false],
    ['https://a.com/*', 'https://a.com@evil.org/', false],
    ['https://a.com/docs/*', 'https://a.com/docs/../admin', false],
    ['https://a.com/docs/*', 'https://a.com/docs/%2e%2e/admin', false],
    ['https://*.a.com/*', 'https://x.y.a.com/b', true],
    ['https://*.a.com/*', 'https://evil.org/.a.com/b', false],
    ['https://*.a.com/*', 'https://evil.org?.a.com/b', false],
    ['https://*.a.com/*', 'https://evil.org#.a.com/b', false],
    ['https://*', 'https://a.com', true],
    ['*', 'https://a.com', false],
    ['https://a.com', 'https://a.com', true],
  ])('[R287] leave to fetch %j covers %j: %s', (pattern, url, isCovered) => {
    expect(isAllowed({ tool: 'web_fetch', field: 'url', pattern }, pendingCall('web_fetch', { url }))).toBe(isCovered);
  });

  it('[R287] a star in a rule about the whole input stays within one text', () => {
    const rule = { tool: 'x', field: null, pattern: '{"a":"x*","b":1}' };
    expect(isAllowed(rule, pendingCall('x', { a: 'xyz', b: 1 }))).toBe(true);
    expect(isAllowed({ ...rule, pattern: '{"a":"x*1}' }, pendingCall('x', { a: 'xyz', b: 1 }))).toBe(false);
  });

  it('[Y34] a rule is about one tool and its most informative field, otherwise about the whole input', () => {
    const write = pendingCall('write', { content: 'x', path: 'src/a.ts' });
    expect(describeRule(toRule(write))).toBe('write(path: src/a.ts)');
    expect(isAllowed({ ...toRule(write), pattern: 'src/*' }, write)).toBe(true);
    expect(isAllowed({ ...toRule(write), pattern: 'src/*' }, pendingCall('edit', { path: 'src/a.ts' }))).toBe(false);
    expect(isAllowed({ ...toRule(write), pattern: '*' }, pendingCall('write', {}))).toBe(false);
    expect(describeRule(toRule(pendingCall('x', { a: 1, b: [2] })))).toBe('x(input: {"a":1,"b":[2]})');
    expect(isAllowed(toRule(pendingCall('x', { a: 1 })), pendingCall('x', { a: 1 }))).toBe(true);
    expect(isAllowed(toRule(pendingCall('x', { a: 1 })), pendingCall('x', { a: 2 }))).toBe(false);
    expect(isAllowed(toRule(bash('ls')), { ...bash('ls'), type: 'result' })).toBe(false);
  });
});
