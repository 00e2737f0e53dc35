import { expect, it } from 'vitest';
import { translate } from '../packages/cli/src/stream-json/translate.ts';
import { toQuietIo, writeRecording } from './translate.ts';

it('[X6] the recording is translated as a whole, one line of JSON per event', async () => {
  const { file, bytes, remove } = await writeRecording(1);
  let text = '';
  const code = await translate(
    toQuietIo((piece) => (text += Buffer.from(piece as Uint8Array).toString())),
    file,
    { json: true },
  );
  remove();
  expect([code, bytes >= 1e6]).toEqual([0, true]);
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(events[0]).toMatchObject({ type: 'session_meta' });
  expect(events.at(-1)).toMatchObject({ type: 'turn_complete' });
  expect(events.length).toBeGreaterThan(500);
});
