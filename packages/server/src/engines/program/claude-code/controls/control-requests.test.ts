import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import { ControlRequests } from './control-requests.ts';

it('[J385] the answer of a program to a request is waited for 10 s, and a later one changes nothing', async () => {
  const { requests, written, timers, answer } = open();
  const asked = requests.ask('get_usage', {});
  expect(timers).toMatchObject([{ ms: programLimits.programControlMs }]);
  timers[0]!.run();
  expect(await asked).toEqual({ type: 'failed', message: 'it did not answer within 10 s' });
  expect(answer(0, { subtype: 'success', response: {} })).toBe(true);
  expect(written).toHaveLength(1);
});

it('[J385] at most 8 requests wait for one program, and its end answers them all', async () => {
  const { requests, written, answer } = open();
  const asked = Array.from({ length: programLimits.programControlsMax }, () => requests.ask('get_usage', {}));
  expect(await requests.ask('get_usage', {})).toEqual({
    type: 'failed',
    message: '8 requests already wait for its answer',
  });
  expect(written).toHaveLength(programLimits.programControlsMax);
  answer(0, { subtype: 'success', response: { a: 1 } });
  expect(await asked[0]).toEqual({ type: 'success', response: { a: 1 } });
  answer(1, { subtype: 'error', error: 'Unsupported control request subtype: get_usage' });
  expect(await asked[1]).toEqual({ type: 'unsupported' });
  answer(2, { subtype: 'error', error: 'Not now.' });
  expect(await asked[2]).toEqual({ type: 'failed', message: 'Not now.' });
  requests.close();
  expect(await asked[3]).toEqual({ type: 'exited' });
  expect(await requests.ask('get_usage', {})).toEqual({ type: 'exited' });
  expect(requests.take({ type: 'control_response', response: { request_id: 'other' } })).toBe(false);
});

function open() {
  const written: string[] = [];
  const timers: { run: () => void; ms: number }[] = [];
  const requests = new ControlRequests({
    write: (line) => written.push(line),
    schedule: (run, ms) => {
      timers.push({ run, ms });
      return () => {};
    },
  });
  const answer = (at: number, response: object) => {
    const { request_id } = JSON.parse(written[at]!) as { request_id: string };
    return requests.take({ type: 'control_response', response: { ...response, request_id } });
  };
  return { requests, written, timers, answer };
}
