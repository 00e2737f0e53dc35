import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { workspaceLimits } from '../limits.ts';
import { readPush } from './read-push.ts';
import { toPushReport } from './to-push-report.ts';

const [OLD, NEW, NONE] = ['1'.repeat(40), '2'.repeat(40), '0'.repeat(40)];

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}

/** As much of a request as is used. */
function send(...chunks: readonly string[]): IncomingMessage {
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as IncomingMessage;
}

describe('the commands of a push', () => {
  const commands = `${packet(`${OLD} ${NEW} refs/heads/a\0report-status side-band-64k agent=x\n`)}${packet(`${OLD} ${NONE} refs/heads/b`)}0000`;

  it('[WS192] are read however the body is cut, and the rest of the body is still there', async () => {
    for (const at of [1, 3, 4, 60, commands.length - 1, commands.length]) {
      const request = send(commands.slice(0, at), `${commands.slice(at)}PA`, 'CK');
      const { head, ...push } = await readPush(request);
      expect(push).toEqual({ refs: ['refs/heads/a', 'refs/heads/b'], deleted: ['refs/heads/b'], hasSideBand: true });
      expect(Buffer.concat([head, await buffer(request)]).toString()).toBe(`${commands}PACK`);
    }
  });

  it('[WS192] of 64 digits, behind a shallow line, and of a push that changes nothing are read too', async () => {
    const long = packet(`${'1'.repeat(64)} ${'0'.repeat(64)} refs/tags/v`);
    expect((await readPush(send(`${packet(`shallow ${OLD}`)}${long}0000`))).deleted).toEqual(['refs/tags/v']);
    expect(await readPush(send('0000'))).toMatchObject({ refs: [], deleted: [], hasSideBand: false });
  });

  it.each([
    ['a signed push', `${packet('push-cert\0report-status\n')}0000`, 'not known here'],
    ['text', 'hello world', 'does not begin with a list'],
    ['a length that is too small', '0003', 'does not begin with a list'],
    ['an end in the middle', commands.slice(0, 20), 'ends before its list'],
    ['nothing', '', 'ends before its list'],
  ])('[WS192] %s cannot be checked', async (_, body, problem) => {
    await expect(readPush(send(body))).rejects.toThrow(problem);
  });

  it('[WS192] fit into 1 MiB', async () => {
    const command = packet(`${OLD} ${NEW} refs/heads/a`);
    const full = `${command.repeat(10)}0000`;
    await readPush(send(full), full.length);
    await expect(readPush(send(full.slice(0, -4), command), full.length - 5)).rejects.toThrow(
      'more refs than fit into',
    );
    expect(workspaceLimits.pushCommandsBytesMax).toBe(1_048_576);
  });
});

it('[WS192] a refused push is answered with a reason for each ref, in the side band where git asked for it', () => {
  const refs = ['refs/heads/a', 'refs/heads/b'];
  const plain = toPushReport({ refs, hasSideBand: false }, 'no').toString();
  expect(plain).toBe('000eunpack ok\n0017ng refs/heads/a no\n0017ng refs/heads/b no\n0000');
  const banded = toPushReport({ refs, hasSideBand: true }, 'no').toString();
  expect(banded).toBe(`${(plain.length + 5).toString(16).padStart(4, '0')}\u0001${plain}0000`);
  const many = toPushReport({ refs: Array(10_000).fill('refs/heads/a'), hasSideBand: true }, 'no');
  expect(Number.parseInt(many.toString('latin1', 0, 4), 16)).toBeLessThanOrEqual(65_520);
});
