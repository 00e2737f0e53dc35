import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Schedule } from '../../../../base/schedule.ts';
import { programLimits } from '../../limits.ts';
import { copyConversations } from './copy-conversations.ts';

it('[MX220] the database of opencode and its log are copied whole, and replace what was there', async () => {
  const { from, to, copy } = places();
  writeFileSync(join(from, 'opencode.db'), 'pages');
  writeFileSync(join(from, 'opencode.db-wal'), 'with msg_1 in it');
  writeFileSync(join(from, 'auth.json'), 'secret');
  writeFileSync(join(to, 'opencode.db'), 'another one');
  expect(await copy('msg_1')).toBe(true);
  expect(readdirSync(to).toSorted()).toEqual(['opencode.db', 'opencode.db-wal']);
  expect(readFileSync(join(to, 'opencode.db'), 'utf8')).toBe('pages');
  rmSync(join(from, 'opencode.db-wal'));
  writeFileSync(join(from, 'opencode.db'), 'pages with msg_2');
  expect(await copy('msg_2')).toBe(true);
  expect(readdirSync(to)).toEqual(['opencode.db']);
});

it('[MX220] a database that lacks the message is read again for 5 s', async () => {
  const { from, copy } = places();
  writeFileSync(join(from, 'opencode.db'), 'pages');
  const waits: number[] = [];
  expect(await copy('msg_1', (delayMs) => waits.push(delayMs))).toBe(false);
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(programLimits.programTranscriptMs);
  expect(waits.length).toBeGreaterThan(1);
  expect(await copy('msg_1', () => writeFileSync(join(from, 'opencode.db'), 'pages with msg_1'))).toBe(true);
});

it('[MX220] without a database, behind a link, and with more than 256 MiB nothing is copied', async () => {
  const { from, to, copy } = places();
  expect(await copy('msg_1')).toBe(false);
  const elsewhere = join(from, 'elsewhere');
  writeFileSync(elsewhere, 'msg_1');
  symlinkSync(elsewhere, join(from, 'opencode.db'));
  expect(await copy('msg_1')).toBe(false);
  rmSync(join(from, 'opencode.db'));
  writeFileSync(join(from, 'opencode.db'), 'msg_1');
  symlinkSync(elsewhere, join(from, 'opencode.db-wal'));
  expect(await copy('msg_1')).toBe(false);
  rmSync(join(from, 'opencode.db-wal'));
  // A file with a hole takes no space.
  truncateSync(join(from, 'opencode.db'), programLimits.programTranscriptBytesMax + 1);
  expect(await copy('msg_1')).toBe(false);
  expect([programLimits.programTranscriptBytesMax, readdirSync(to)]).toEqual([256 * 1024 * 1024, []]);
});

function places() {
  const [from, to] = ['from', 'to'].map((name) => mkdtempSync(join(tmpdir(), `fleetloom-copy-${name}-`)));
  onTestFinished(() => [from!, to!].forEach((path) => rmSync(path, { recursive: true })));
  const copy = (message: string, onWait: (delayMs: number) => void = () => {}) => {
    const schedule: Schedule = (run, delayMs) => {
      onWait(delayMs);
      queueMicrotask(run);
      return () => {};
    };
    return copyConversations({ message, from: from!, to: to!, schedule });
  };
  return { from: from!, to: to!, copy };
}
