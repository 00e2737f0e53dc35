import { expect, it } from 'vitest';
import { call } from '../../test-support/live-io.ts';
import { limits } from '../base/limits.ts';

it.each(['0', '1.5', String(limits.snapshotFileMbMax + 1), 'many'])(
  '[WS609] --snapshot-file-mb %s is wrong usage',
  async (value) => {
    const wrong = await call(['serve', '--port', '0', '--open', '--snapshot-file-mb', value]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass a whole number from 1 to 100.') });
  },
);
