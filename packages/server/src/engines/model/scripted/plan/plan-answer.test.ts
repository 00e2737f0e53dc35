import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { createScriptedModel, type ScriptedModel } from '../model.ts';
import type { Plan } from './plan.ts';
import type { Message } from '../wire.ts';

describe('which turn', () => {
  it('[K5] the number of assistant messages chooses the turn, and past the end the last plays again', async () => {
    const script = { turns: [[{ say: 'one' }], [{ say: 'two' }], [{ say: 'three' }]] };
    const said = [];
    for (const answers of [0, 1, 2, 3, 7]) said.push(textOf(await ask(script, history(answers))));
    expect(said).toEqual(['one', 'two', 'three', 'three', 'three']);
  });

  it('[K5] user and system messages do not count, and two answers in a row are two', async () => {
    const script = { turns: [[{ say: 'one' }], [{ say: 'two' }], [{ say: 'three' }]] };
    const [first] = history(0);
    const more = [first, { role: 'user', content: 'b' }, { role: 'system', content: 'c' }];
    expect(textOf(await ask(script, more))).toBe('one');
    const paused = [first, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }];
    expect(textOf(await ask(script, paused))).toBe('three');
  });

  it('[K6] the first case that matches the newest user content plays, else the else', async () => {
    const script = {
      when: [
        { match: '^fix', turn: [{ say: 'fixing' }] },
        { match: 'b.g', turn: [{ say: 'a bug' }] },
        { match: 'exit code \\d', turn: [{ say: 'it failed' }] },
      ],
      else: [{ say: 'something else' }],
    };
    const system = `<script>${JSON.stringify(script)}</script>`;
    const says = async (content: unknown) => textOf(await ask(undefined, [{ role: 'user', content }], { system }));
    expect(await says('fix the bug')).toBe('fixing');
    expect(await says('a bug to fix')).toBe('a bug');
    expect(await says('hello')).toBe('something else');
    const messages = [
      { role: 'user', content: 'fix it' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'bash', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'exit code 1' }] },
    ];
    expect(textOf(await ask(undefined, messages, { system }))).toBe('it failed');
  });

  it('[K6] the text of the script is not matched', async () => {
    const script = { when: [{ match: 'secret', turn: [{ say: 'found' }] }], else: [{ say: 'clean' }] };
    expect(textOf(await ask(script, [{ role: 'user', content: 'Hello' }]))).toBe('clean');
  });

  it('[K6] nothing that matches and no else is a 400', async () => {
    const script = { when: [{ match: 'x', turn: [] }] };
    expect(await refused(script)).toMatchObject({
      status: 400,
      message: 'the script: when: nothing matches the newest user content, and there is no `else`',
    });
  });

  it('[K30] an expression that would take V8 years is answered at once', async () => {
    const script = { when: [{ match: '(a+)+$', turn: [] }], else: [{ say: 'no' }] };
    const start = process.cpuUsage();
    expect(textOf(await ask(script, [user(`${'a'.repeat(20_000)}b`)]))).toBe('no');
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(1);
    expect(textOf(await ask({ when: [{ match: 'b$', turn: [{ say: 'ok' }] }] }, [user('ab')]))).toBe('ok');
  });

  it('[K31] a request has a budget for all of its expressions: beyond it the answer is a 400 with the remaining budget', async () => {
    const cases = Array.from({ length: 40 }, () => ({ match: '[ab]+c', turn: [] }));
    const text = (length: number) => [user('x'.repeat(length))];
    expect(textOf(await ask({ when: cases, else: [{ say: 'none' }] }, text(1_700)))).toBe('none');
    expect(await refused({ when: cases, else: [] }, text(2_000))).toMatchObject({
      status: 400,
      message: expect.stringMatching(
        /when\[\d+\]\.match: cannot be searched for: the pattern "\[ab\]\+c" takes \d+ steps/,
      ),
    });
    const finds = { turns: [[{ say: '{{find:[ab]+c}}'.repeat(40) }]] };
    expect(textOf(await ask(finds, text(1_700)))).toBe('');
    expect(await refused(finds, text(2_000))).toMatchObject({
      message: expect.stringContaining('{{find:[ab]+c}}: cannot'),
    });
    const expects = { turns: [[{ expect: { contains: Array.from({ length: 100 }, () => 'x') } }, { say: 'ok' }]] };
    expect(textOf(await ask(expects, text(50_000)))).toBe('ok');
    expect(await refused(expects, text(80_000))).toMatchObject({
      message: expect.stringContaining('expect.contains: cannot'),
    });
  });

  it('[K32] the echo answers texts of any length that an answer can have', async () => {
    const long = ' '.repeat(900_000) + 'x';
    const echo = { when: [{ match: '\\S', turn: [{ say: '{{last_user}}' }] }], else: [{ say: 'nothing' }] };
    expect(textOf(await ask(echo, [user(long)])).length).toBe(long.length);
  });
});

describe('placeholders', () => {
  it('[K7] they are filled in any string, inputs of calls included, and stay where they mean nothing', async () => {
    const turn = [
      { think: 'n={{n}}' },
      { say: '{{agent}}: {{last_user}} {{unknown}} {{ n }}' },
      { call: 'do_{{agent}}', input: { deep: [{ text: '{{last_user}}!', '{{n}}': 1 }] } },
    ];
    const message = await ask({ turns: [turn] }, [user('Hello')], {}, 'reviewer');
    expect(message.content).toMatchObject([
      { thinking: 'n=1' },
      { text: 'reviewer: Hello {{unknown}} {{ n }}' },
      { name: 'do_reviewer', input: { deep: [{ text: 'Hello!', '{{n}}': 1 }] } },
    ]);
  });

  it('[K7] last_user is the newest text of a user, last_result the newest result, results those of the last message', async () => {
    const turn = [{ say: '{{last_user}}|{{last_result}}|{{results}}|{{n}}|{{agent}}' }];
    const script = { turns: [turn] };
    const called = [
      user('first'),
      { role: 'assistant', content: [use('t1'), use('t2')] },
      {
        role: 'user',
        content: [result('t1', 'one'), result('t2', [{ type: 'text', text: 'two' }, { type: 'image' }])],
      },
    ];
    expect(textOf(await ask(script, called))).toBe('first|two|one\ntwo|2|');
    const further = [...called, { role: 'assistant', content: 'ok' }, user('second')];
    expect(textOf(await ask(script, further))).toBe('second|two||3|');
    expect(textOf(await ask(script, [user('only')]))).toBe('only|||1|');
  });

  it('[K7] find is the first group of what an expression finds last in what users and tools said', async () => {
    const script = { turns: [[{ say: '{{find:\\(thread (\\w+)\\)}}|{{find:see \\S+}}|{{find:nothing}}|' }]] };
    const messages = [
      user('Go, and see README.md'),
      { role: 'assistant', content: [{ type: 'text', text: '(thread wrong)' }, use('t1')] },
      { role: 'user', content: [result('t1', 'a (thread one) b (thread two)')] },
    ];
    expect(textOf(await ask(script, messages))).toBe('two|see README.md||');
    expect(await refused({ turns: [[{ say: '{{find:(}}' }]] }, messages)).toMatchObject({
      status: 400,
      message: expect.stringContaining('{{find:(}}: cannot be searched for'),
    });
  });

  it('[K34] find looks at one line at a time, from the last one up, and at the last match of it', async () => {
    const find = (pattern: string, text: string) => ask({ turns: [[{ say: `{{find:${pattern}}}|` }]] }, [user(text)]);
    expect(textOf(await find('^(.)', 'a\nb\n'))).toBe('b|');
    expect(textOf(await find('(.)$', 'ab\ncd\n\n'))).toBe('d|');
    expect(textOf(await find(String.raw`\d`, '1 2\n3 4\nx'))).toBe('4|');
    expect(textOf(await find('(a)|b', 'a b'))).toBe('b|');
    expect(textOf(await find(String.raw`b\nc`, 'b\nc'))).toBe('|');
    expect(textOf(await find('^$', 'x'))).toBe('|');
  });

  it('[K35] a turn has at most 10,000 placeholders, and 100 that look for something', async () => {
    expect([limits.placeholdersMax, limits.findsMax]).toEqual([10_000, 100]);
    const say = (text: string) => ({ turns: [[{ say: text }]] });
    expect(textOf(await ask(say('{{n}}'.repeat(limits.placeholdersMax))))).toHaveLength(limits.placeholdersMax);
    expect(await refused(say('{{n}}'.repeat(limits.placeholdersMax + 1)))).toMatchObject({
      message: expect.stringContaining('more than 10000 placeholders'),
    });
    expect(textOf(await ask(say(`${'{{find:zz}}'.repeat(limits.findsMax)}x`)))).toBe('x');
    expect(await refused(say('{{find:zz}}'.repeat(limits.findsMax + 1)))).toMatchObject({
      message: expect.stringContaining('more than 100 {{find:…}}'),
    });
    const start = process.cpuUsage();
    await refused(say('{{find:a}}'.repeat(60_000)), [user('b'.repeat(1_000_000))]);
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(1);
  });

  it('[K7] replaced placeholders are not expanded again', async () => {
    const script = { turns: [[{ say: '{{last_user}}' }]] };
    expect(textOf(await ask(script, [user('{{n}} {{last_user}}')]))).toBe('{{n}} {{last_user}}');
  });

  it('[K7] last_user leaves out the script itself and the reminders that the claude program adds', async () => {
    const content = [
      { type: 'text', text: '<system-reminder>\nToday is Monday.\n</system-reminder>\n' },
      { type: 'text', text: `Hello <script>{"turns":[[{"say":"{{last_user}}"}]]}</script>` },
      { type: 'text', text: 'there' },
    ];
    expect(textOf(await ask(undefined, [{ role: 'user', content }]))).toBe('Hello\nthere');
  });

  it('[K73] last_user leaves out the texts that Codex adds', async () => {
    const added = [
      '# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>',
      '<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>',
      '<turn_aborted>\nThe user stopped it.\n</turn_aborted>',
      '<subagent_notification>\n{}\n</subagent_notification>',
    ];
    const said = ['Hello', '# AGENTS.md instructions for you', '<environment_context> is a tag'];
    const content = [...added, ...said].map((text) => ({ type: 'text', text }));
    const script = { turns: [[{ say: '{{last_user}}' }]] };
    expect(textOf(await ask(script, [{ role: 'user', content }]))).toBe(said.join('\n'));
  });

  it('[K22] an answer has its length, and is not even built when it is longer', async () => {
    const half = limits.answerCharsMax / 2;
    const turn = [{ say: '{{last_user}}{{last_user}}', chunks: 1 }];
    expect(textOf(await ask({ turns: [turn] }, [user('x'.repeat(half))]))).toHaveLength(limits.answerCharsMax);
    const message = 'the script: the answer has more than 1000000 characters';
    expect(await refused({ turns: [[...turn, { say: '.' }]] }, [user('x'.repeat(half))])).toMatchObject({ message });
    const bomb = [{ say: '{{last_user}}'.repeat(10_000) }];
    expect(await refused({ turns: [bomb] }, [user('x'.repeat(half))])).toMatchObject({ status: 400, message });
  });

  it('[K22] an answer has no more events than allowed', async () => {
    const long = { say: 'x'.repeat(limits.chunksMax), chunks: limits.chunksMax };
    const nine = Array.from({ length: 9 }, () => long);
    const rest = limits.eventsMax - 9 * (limits.chunksMax + 2) - 4 - 2;
    const plan = await planOf({ turns: [[...nine, { ...long, chunks: rest }]] });
    expect(plan.items).toHaveLength(limits.eventsMax);
    expect(await refused({ turns: [[...nine, { ...long, chunks: rest + 1 }]] })).toMatchObject({
      message: 'the script: the answer has more than 100000 events',
    });
  });
});

describe('the events', () => {
  it('[K8] a message starts, its blocks come one after the other, and it stops', async () => {
    const script = { turns: [[{ think: 'Hm so' }, { say: 'Yes, I do.' }, { call: 'bash', input: { command: 'ls' } }]] };
    const plan = await planOf(script, [user('Hello')]);
    const events = plan.items.map((item) => (item.type === 'event' ? item.event : item));
    const [start] = events;
    expect(start).toMatchObject({ type: 'message_start', message: { content: [], usage: { output_tokens: 1 } } });
    expect(events.slice(1)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'so' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: expect.any(String) } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '', citations: null } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Yes, ' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'I ' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'do.' } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: {
          type: 'tool_use',
          id: expect.stringMatching(/^toolu_01[1-9A-HJ-NP-Za-km-z]{22}$/),
          name: 'bash',
          input: {},
          caller: { type: 'direct' },
        },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"command":"ls"}' } },
      { type: 'content_block_stop', index: 2 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
        usage: expect.objectContaining({ output_tokens: 9 }),
      },
      { type: 'message_stop' },
    ]);
  });

  it('[K8] a turn without words is a message without blocks', async () => {
    const plan = await planOf({ turns: [[]] });
    const types = plan.items.map((item) => (item.type === 'event' ? item.event.type : item.type));
    expect(types).toEqual(['message_start', 'ping', 'message_delta', 'message_stop']);
  });

  it('[K9] pauses and silences are waits before the event that follows them', async () => {
    const turn = [
      { sleep_ms: 5 },
      { say: 'a b c', every_ms: 20 },
      { sleep_ms: 100 },
      { sleep_ms: 50 },
      { think: 'xy', chunks: 2, every_ms: 7 },
      { sleep_ms: 1000 },
    ];
    const plan = await planOf({ turns: [turn] });
    const waits = plan.items.map((item) => [item.type === 'event' ? item.event.type : item.type, item.afterMs]);
    expect(waits.filter(([, ms]) => ms !== 0)).toEqual([
      ['content_block_start', 5],
      ['content_block_delta', 20],
      ['content_block_delta', 20],
      ['content_block_start', 150],
      ['content_block_delta', 7],
      ['message_delta', 1000],
    ]);
  });
});

describe('how it ends', () => {
  it('[K12] a call stops for the tool, anything else ends the turn', async () => {
    expect((await ask({ turns: [[{ say: 'a' }]] })).stop_reason).toBe('end_turn');
    expect((await ask({ turns: [[{ call: 'a' }, { say: 'b' }]] })).stop_reason).toBe('tool_use');
  });

  it('[K12] stop sets another stop reason, with its details', async () => {
    const stop = async (reason: string) => {
      const params = { stop_sequences: ['END'] };
      return await ask({ turns: [[{ stop: reason }, { say: 'a' }, { call: 'b' }]] }, undefined, params);
    };
    for (const reason of ['max_tokens', 'pause_turn', 'model_context_window_exceeded', 'end_turn']) {
      expect(await stop(reason)).toMatchObject({ stop_reason: reason, stop_sequence: null, stop_details: null });
    }
    expect(await stop('refusal')).toMatchObject({ stop_reason: 'refusal', stop_details: { type: 'refusal' } });
    expect(await stop('stop_sequence')).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  it('[K12] a request for no tokens gets none', async () => {
    const message = await ask({ turns: [[{ say: 'a' }]] }, undefined, { max_tokens: 0 });
    expect(message).toMatchObject({ content: [], stop_reason: 'max_tokens' });
  });

  it('[K11] a cut ends the events at its position', async () => {
    const plan = await planOf({ turns: [[{ say: 'a' }, { sleep_ms: 30 }, { cut: true }, { say: 'b' }]] });
    const types = plan.items.map((item) => (item.type === 'event' ? item.event.type : item.type));
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'failure',
    ]);
    expect(plan.items.at(-1)).toEqual({ type: 'failure', afterMs: 30, failure: { type: 'cut' } });
  });

  it('[K11] a cut with times spoils that many attempts, and the next one is whole', async () => {
    const model = createScriptedModel();
    const script = { turns: [[{ say: 'a' }, { cut: { times: 2 } }, { say: 'b' }]] };
    const outcomes = [];
    for (let at = 0; at < 4; at++) outcomes.push(outcomeOf(await planOf(script, undefined, {}, model)));
    expect(outcomes).toEqual(['cut', 'cut', 'whole', 'whole']);
  });

  it('[K10] fail refuses the first attempts of each request separately', async () => {
    const model = createScriptedModel();
    const script = { turns: [[{ fail: { status: 429, times: 2, retry_after_s: 3 } }, { say: 'ok' }]] };
    const outcomes = async (text: string, metadata?: object) =>
      outcomeOf(await planOf(script, [user(text)], { metadata }, model));
    expect([await outcomes('a'), await outcomes('a'), await outcomes('a')]).toEqual([429, 429, 'whole']);
    expect([await outcomes('b'), await outcomes('a')]).toEqual([429, 'whole']);
    // The same words in another session are another request.
    expect([await outcomes('a', { user_id: 'x' }), await outcomes('a', { user_id: 'y' })]).toEqual([429, 429]);
  });

  it('[K10] several failures follow one another, at any position, and waits before them elapse', async () => {
    const model = createScriptedModel();
    const turn = [
      { fail: { status: 529, times: 2 } },
      { say: 'never sent by a failing attempt' },
      { cut: { times: 1 } },
      { sleep_ms: 40 },
      { fail: { status: 500, type: 'own_error', message: 'Broken by {{agent}}' } },
    ];
    const plans = [];
    for (let at = 0; at < 5; at++) plans.push(await planOf({ turns: [turn] }, undefined, {}, model, 'me'));
    expect(plans.map(outcomeOf)).toEqual([529, 529, 'cut', 500, 'whole']);
    expect(plans[3]?.items).toEqual([
      {
        type: 'failure',
        afterMs: 40,
        failure: {
          type: 'refused',
          status: 500,
          errorType: 'own_error',
          message: 'Broken by me',
          requestId: plans[3]?.requestId,
          retryAfterS: undefined,
        },
      },
    ]);
    expect(new Set(plans.map(({ requestId }) => requestId)).size).toBe(5);
  });
});

describe('expectations', () => {
  const messages = [
    user('the task'),
    { role: 'assistant', content: [use('t1'), use('t2')] },
    { role: 'user', content: [{ ...result('t1', 'no such file'), is_error: true }, result('t2', 'all good')] },
  ];
  const params = { system: 'You are kind.', tools: [{ name: 'bash' }, { name: 'read' }] };
  const check = async (expected: object) => {
    const plan = await planOf({ turns: [[{ say: 'a' }, { expect: expected }]] }, messages, params);
    const [item] = plan.items;
    return item?.type === 'failure' && item.failure.type === 'refused' ? item.failure.message : 'met';
  };

  it('[K13] a met expectation is not visible', async () => {
    for (const expected of [
      { contains: 'the task' },
      { contains: ['kind', 'task', 'no such file'] },
      { tool_result: 'all good' },
      { tool_result: 'no such file', is_error: true },
      { tool_result: 'all good', is_error: false },
      { tool_result: ['no such', 'all'] },
      { is_error: true },
      { tools: ['read', 'bash'] },
    ]) {
      expect(await check(expected)).toBe('met');
    }
  });

  it('[K13] an expectation that is not met is a 400 that names the difference', async () => {
    expect(await check({ contains: ['task', 'tusk'] })).toBe(
      'the script: turns[0][1].expect.contains: no text holds "tusk"',
    );
    expect(await check({ tool_result: 'green' })).toBe(
      'the script: turns[0][1].expect.tool_result: no result holds "green": "no such file", "all good"',
    );
    expect(await check({ tool_result: 'all good', is_error: true })).toBe(
      'the script: turns[0][1].expect.is_error: the result that holds "all good" has is_error false',
    );
    expect(await check({ is_error: false })).toBe('the script: turns[0][1].expect.is_error: a result is an error');
    expect(await check({ tools: 'write' })).toBe(
      'the script: turns[0][1].expect.tools: "write" is not among the tools: bash, read',
    );
    expect(await refused({ turns: [[{ expect: { tools: 'write' } }]] })).toMatchObject({
      status: 400,
      errorType: 'invalid_request_error',
      message: 'the script: turns[0][0].expect.tools: "write" is not among the tools: there are none',
    });
    expect(await refused({ turns: [[{ expect: { is_error: true } }]] })).toMatchObject({
      message: 'the script: turns[0][0].expect.is_error: no result is an error',
    });
  });

  it('[K13] a script does not meet its own expectation by its own text', async () => {
    expect(await refused({ turns: [[{ expect: { contains: 'pineapple' } }]] }, [user('Hello')])).toMatchObject({
      message: expect.stringContaining('no text holds "pineapple"'),
    });
  });
});

describe('usage', () => {
  it('[K14] tokens are derived from the lengths of the texts, and nothing comes from a cache', async () => {
    const message = await ask(undefined, [user('x'.repeat(101))], { model: 'scripted/echo' });
    expect(message.usage).toMatchObject({
      input_tokens: 26,
      output_tokens: 26,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
    const params = { model: 'scripted/echo', messages: [user('x'.repeat(101))] };
    expect(await createScriptedModel().countTokens(params)).toEqual({ input_tokens: 26 });
  });

  it('[K14] a script may claim other numbers, all or some of them', async () => {
    const usage = { input_tokens: 1000, output_tokens: 50 };
    expect((await ask({ turns: [[{ say: 'a' }]], usage })).usage).toMatchObject(usage);
    const some = { output_tokens: 7, cache_read_input_tokens: 9 };
    const claimed = (await ask({ turns: [[{ say: 'a' }]], usage: some })).usage;
    expect(claimed).toMatchObject({ ...some, cache_creation_input_tokens: 0 });
    expect(claimed.input_tokens).toBeGreaterThan(10);
  });
});

describe('the same again', () => {
  const script = { turns: [[{ think: 'Hm' }, { say: 'a' }, { call: 'b' }, { call: 'b' }]] };

  it('[K15] the same script and conversation give the same plan, ids and signatures included, in any process', async () => {
    const plan = await planOf(script, [user('Hello')]);
    expect(await planOf(script, [user('Hello')])).toEqual(plan);
    const message = await ask(script, [user('Hello')]);
    // Pinned: recordings and examples hold these.
    expect(message.id).toBe('msg_01eDnLUhxYLtpv7J5sNyhsD5');
    expect(message.content.map((block) => ('id' in block ? block.id : ''))).toEqual([
      '',
      '',
      'toolu_01j16wWtsFsSsmS79PZmfjmW',
      'toolu_01Aoj3G8hVkbCH3HrRm3pa2p',
    ]);
    expect(message.content[0]).toMatchObject({ signature: 'DDvPmnZsF+VS45KqR+vwBPhR9JbzDCsCPCqlfAVfpB0=' });
    expect(plan.requestId).toBe('req_01CmLC2Amh7D6x5zHD7aLnT4');
  });

  it('[K15] neither the order of keys, nor cache markers, nor the spelling of one text, nor the model change an id', async () => {
    const system = `<script>${JSON.stringify(script)}</script>`;
    const reversed = `<script>{"turns":${JSON.stringify(script.turns)} }</script>`;
    const id = async (message: object, params: object) => (await ask(undefined, [message], params)).id;
    const plain = await id({ role: 'user', content: 'Hello' }, { system });
    const block = { text: 'Hello', cache_control: { type: 'ephemeral' }, type: 'text' };
    expect(await id({ content: [block], role: 'user' }, { system: reversed, model: 'claude-x', tools: [] })).toBe(
      plain,
    );
    expect(await id({ role: 'user', content: 'Hello.' }, { system })).not.toBe(plain);
  });

  it('[K15] another script, another conversation and another agent give other ids', async () => {
    const ids = [
      await ask(script, [user('Hello')]),
      await ask(script, [user('Hello')], {}, 'a'),
      await ask(script, [user('Hello')], {}, 'b'),
      await ask({ ...script, usage: {} }, [user('Hello')]),
      await ask(script, [user('Hello'), { role: 'assistant', content: 'a' }]),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('[K15] no two calls of a conversation share an id', async () => {
    const calls = new Set<string>();
    const messages: object[] = [user('Hello')];
    for (let turn = 0; turn < 20; turn++) {
      const { content } = await ask(script, messages);
      const uses = content.filter((block) => block.type === 'tool_use');
      for (const { id } of uses) calls.add(id);
      messages.push({ role: 'assistant', content });
      messages.push({ role: 'user', content: uses.map(({ id }) => result(id, 'same')) });
    }
    expect(calls.size).toBe(40);
  });
});

async function planOf(
  script: object | undefined,
  messages: readonly (object | undefined)[] = [user('Hello')],
  params: object = {},
  model: ScriptedModel = createScriptedModel(),
  agent?: string,
): Promise<Plan> {
  const sent = script === undefined ? messages : withScript(messages, script);
  return await model.plan({ model: 'claude-sonnet-5', max_tokens: 100, messages: sent, ...params }, { agent });
}

async function ask(
  script: object | undefined,
  messages: readonly (object | undefined)[] = [user('Hello')],
  params: object = {},
  agent?: string,
): Promise<Message> {
  const sent = script === undefined ? messages : withScript(messages, script);
  const model = createScriptedModel({ sleep: async () => {} });
  return await model.create({ model: 'claude-sonnet-5', max_tokens: 100, messages: sent, ...params }, { agent });
}

async function refused(script: object, messages?: object[]) {
  const [item] = (await planOf(script, messages)).items;
  return item?.type === 'failure' ? item.failure : undefined;
}

function outcomeOf({ items }: Plan): number | string {
  const last = items.at(-1);
  if (last?.type !== 'failure') return 'whole';
  return last.failure.type === 'cut' ? 'cut' : last.failure.status;
}

/** The script as one more block of the first message. */
function withScript(messages: readonly (object | undefined)[], script: object): (object | undefined)[] {
  const [first, ...rest] = messages;
  const content = first !== undefined && 'content' in first ? first.content : [];
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
  return [
    { ...first, content: [...blocks, { type: 'text', text: `<script>${JSON.stringify(script)}</script>` }] },
    ...rest,
  ];
}

function history(answers: number): object[] {
  const turns = Array.from({ length: answers }, () => [{ role: 'assistant', content: 'a' }, user('go on')]);
  return [user('Hello'), ...turns.flat()];
}

function user(text: string) {
  return { role: 'user', content: text };
}

function use(id: string) {
  return { type: 'tool_use', id, name: 'bash', input: {} };
}

function result(id: string, content: unknown) {
  return { type: 'tool_result', tool_use_id: id, content };
}

function textOf({ content }: Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
