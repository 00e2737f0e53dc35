import { readFileSync } from 'node:fs';
import type { AgentTree } from '@fleetloom/protocol/stream-json/tree';
import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../../test-support/fake-io.ts';
import { FIXTURES, listRecordings, readRecording, recordingPath } from '../../../test-support/fixtures.ts';
import { wire } from '../../../test-support/lines.ts';
import { limits } from '../../base/limits.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import { inspect } from './inspect.ts';

async function run(file: string | undefined, options: { json?: boolean }, input?: string) {
  const io = new FakeIo(input === undefined ? {} : { input });
  const code = await inspect(io, file, options);
  return { code, text: io.stdout.text, said: io.stderr.text };
}

const squeeze = (text: string) => cleanText(text).replace(/[\s│├╰─→›∴]+/g, '');

describe('fleetloom inspect --json', () => {
  it('[C10] there are recordings to compare with', () => {
    expect(listRecordings().length).toBeGreaterThan(250);
  });

  it.each(listRecordings())('[C10] %s comes out as its expected file, byte by byte', async (name) => {
    const { text } = await run(recordingPath(name), { json: true });
    expect(text).toBe(readFileSync(`${FIXTURES}${name}.expected.json`, 'utf8'));
  });

  it('[C10] a text longer than the limit is printed as length and hash', async () => {
    const texts = ['x'.repeat(limits.inlineCharsMax), 'x'.repeat(limits.inlineCharsMax + 1)];
    const { text } = await run(undefined, { json: true }, wire.init() + texts.map((each) => wire.text(each)).join(''));
    const { threads } = JSON.parse(text) as AgentTree;
    expect(threads[0]?.items.map((item) => ('text' in item ? item.text : ''))).toEqual([
      texts[0],
      { length: limits.inlineCharsMax + 1, sha256: 'ba07fa666a8a8206d9f000ae3da00c6572e9116bc3ce8b840b5d415ff94113a7' },
    ]);
  });

  it('[C10] results of any shape are printed with their shape', async () => {
    const results = [
      'text',
      [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: '' }],
      null,
      undefined,
    ];
    const lines = results.map((content, index) => wire.call(`t${index}`, 'X', {}) + wire.result(`t${index}`, content));
    const { text } = await run(undefined, { json: true }, wire.init() + lines.join(''));
    const { toolResults } = JSON.parse(text) as { toolResults: { shape: string; text: string }[] };
    expect(toolResults.map(({ shape, text }) => [shape, text])).toEqual([
      ['string', 'text'],
      ['array', 'a\n[image]\n'],
      ['null', ''],
      ['absent', ''],
    ]);
  });

  it('[C8] it returns 1 for a run that did not end well', async () => {
    expect((await run(recordingPath('2.1.325/api-401'), { json: true })).code).toBe(1);
    expect((await run(recordingPath('2.1.325/agents-parallel'), { json: true })).code).toBe(0);
    expect(await run(undefined, {}, wire.init())).toMatchObject({
      code: 1,
      said: expect.stringContaining('without a result'),
    });
  });
});

describe('fleetloom inspect', () => {
  it('[C11] prints every text, thought, prompt, call and result of every recording', async () => {
    for (const name of listRecordings()) {
      const { text } = await run(recordingPath(name), {});
      const { text: json } = await run(recordingPath(name), { json: true });
      const tree = JSON.parse(json) as AgentTree;
      const printed = squeeze(text);
      for (const item of tree.threads.flatMap((thread) => thread.items)) {
        if ('text' in item && typeof item.text === 'string') expect(printed).toContain(squeeze(item.text));
        if (item.kind === 'tool_use' && item.name === 'Bash') {
          expect(printed).toContain(squeeze((item.input as { command: string }).command));
        }
      }
    }
  });

  it('[C11] each agent is printed once, with its results below its calls', async () => {
    const { text } = await run(recordingPath('2.1.325/agents-tool-errors'), {});
    expect(text.match(/─. Search alpha/g)).toHaveLength(1);
    expect(text).toMatch(
      /✗ Bash {2}echo bad >&2; exit 7 +134 ms\n│ │ {3}description: Try\n│ │ → Exit code 7\n│ │ {3}bad\n/,
    );
  });

  it('[C11] the report of an agent that printed none is taken from its tool result, without the notes to the model', async () => {
    for (const name of ['2.1.197/agents-parallel', '2.1.325/agents-parallel', '2.1.325/agents-forward']) {
      const { text } = await run(recordingPath(name), {});
      expect(text.match(/Alpha report: alpha area of kestrel is fine\./g)).toHaveLength(1);
      expect(text).not.toContain('use SendMessage');
    }
  });

  it('[C5] a hostile text is printed with its codes by name', async () => {
    const { text } = await run(undefined, {}, wire.init() + wire.text('\u001b[2Jhello\u001b]0;x\u0007') + wire.end());
    expect(text).toContain('│ ⟦ESC⟧[2Jhello⟦ESC⟧]0;x⟦U+0007⟧\n');
    expect(text).not.toContain('\u001b');
  });

  it('[C11] a run of a megabyte is printed whole', async () => {
    const { text } = await run(undefined, {}, readRecording('2.1.325/long-text-1mb'));
    expect(text.length).toBeGreaterThan(1_048_593);
  });
});
