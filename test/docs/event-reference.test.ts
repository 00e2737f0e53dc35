import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { eventFields } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = (name: string) => readFileSync(new URL(`docs/reference/${name}-events.md`, root), 'utf8');

it('[F90] the pages of docs/reference are what the types say', () => {
  const output = execFileSync(process.execPath, ['scripts/event-reference.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(output).toBe('');
});

it('[F90] every fleet event and each of its fields is in the reference', () => {
  const text = page('fleet');
  for (const [type, fields] of Object.entries(eventFields)) {
    const [, section = ''] = text.split(`### \`${type}\`\n`);
    const rows = section.split('\n#')[0] ?? '';
    const shared = /StreamEventBase/.test(rows) ? ['stream_id', 'depth', 'agent', 'thread_id'] : [];
    for (const field of Object.keys(fields).filter((name) => !shared.includes(name))) {
      expect(rows, `${type}.${field}`).toContain(`| \`${field}\``);
    }
  }
});
