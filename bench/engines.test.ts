import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readEngine } from './engine-readers.ts';
import { playAcp, playBareEvents, playBareLines, playCodex, playOpencode } from './engine-players.ts';

it.each([
  ['codex', playBareLines, playCodex],
  ['opencode', playBareEvents, playOpencode],
  ['acp', playBareLines, playAcp],
] as const)(
  '[J431] the bench of engines translates what %s wrote, and its floor parses the same lines',
  (name, bare, ours) => {
    const file = { codex: 'tool-call', opencode: 'tool-call', acp: 'opencode-tool-call' }[name];
    const path = join(import.meta.dirname, '..', 'fixtures', 'engines', name, `${file}.ndjson`);
    const rows = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row) as Row);
    const lines = rows.flatMap(({ dir, via, line }) =>
      dir === 'out' && line !== null && (via === undefined || via === 'sse') ? [line] : [],
    );
    const written = lines.map((line) => (name === 'opencode' ? `data: ${line}\n\n` : `${line}\n`)).join('');
    expect(bare(Buffer.from(written))).toBe(lines.length);
    // At least a turn with a text, a call and its result.
    expect(ours(Buffer.from(written))).toBeGreaterThan(8);
  },
);

it.each(['codex', 'opencode', 'acp'] as const)(
  '[J431] the bench of engines measures each line that %s writes on its way to a client',
  async (name) => {
    const delays = await readEngine(name, { lines: 8, everyMs: 1 });
    // The first quarter is not counted.
    expect(delays).toHaveLength(6);
    expect(Math.min(...delays)).toBeGreaterThan(0);
  },
);

interface Row {
  readonly dir: string;
  readonly via?: string;
  readonly line: string | null;
}
