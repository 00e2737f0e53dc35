import { expect, it } from 'vitest';
import { liveBytes } from '../../../../test/support/heap.ts';
import { logLimits } from './limits.ts';
import { createLog } from './log.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { owned, sampleFrame } from '../store/suite/samples.suite.ts';

const FRAMES = 40_000;
const TEXT = 'x'.repeat(500);

it('[O6] readers that stopped cost bounded memory, delay no other reader, and find everything when they resume', async () => {
  const store = await openSqliteStore({ path: ':memory:' });
  const fence = await owned(store, 'sesn_1');
  const log = createLog({ store });
  const stopped = Array.from({ length: 50 }, () => log.tail({ sessionId: 'sesn_1', after: 0 }));
  await log.append(toWrite(fence, 1));
  for (const tail of stopped) await tail.next();
  let seen = 0;
  const live = (async () => {
    for await (const entries of log.tail({ sessionId: 'sesn_1', after: 0 })) {
      seen += entries.length;
      if (seen === FRAMES) return;
    }
  })();
  // The database itself is in memory here: what it takes is measured without any reader.
  const alone = await openSqliteStore({ path: ':memory:' });
  const before = liveBytes();
  await write(createLog({ store: alone }), await owned(alone, 'sesn_1'), FRAMES - 1);
  const withoutReaders = liveBytes() - before;
  const middle = liveBytes();
  await write(log, fence, FRAMES - 1);
  await live;
  const withReaders = liveBytes() - middle;
  // 20 MB went through. Each of the fifty would have them all, if anything waited for it.
  expect(withReaders - withoutReaders).toBeLessThan(4 * logLimits.feedBytesMax + 1_000_000);
  let found = 1;
  for (const tail = stopped[0]!; found < FRAMES; ) found += ((await tail.next()).value as unknown[]).length;
  expect(found).toBe(FRAMES);
  await log.close();
  await Promise.all([store.close(), alone.close()]);
});

async function write(log: ReturnType<typeof createLog>, fence: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += 200) await log.append(toWrite(fence, Math.min(200, count - done)));
}

function toWrite(fence: number, count: number) {
  const frames = Array.from({ length: count }, () => sampleFrame(TEXT));
  return { type: 'append' as const, sessionId: 'sesn_1', fence, frames, changes: [] };
}
