import { afterAll, beforeAll, expect, it } from 'vitest';
import { baseLimits } from '../../base/limits.ts';
import { type FleetServer, ofType, openFleetServer } from './fleet.suite.ts';

/** The limit splits a surrogate pair. */
const before = 'x'.repeat(baseLimits.excerptCharsMax - 1);
const text = `${before}🙂 and more`;
const shown = `${before}…`;

let fleet: FleetServer;
beforeAll(async () => {
  fleet = await openFleetServer();
  await fleet.agent('echo');
});
afterAll(() => fleet.close());

it('[R285] the preview of a message, a task and a title ends between characters', async () => {
  const events = await (await fleet.orchestrate({ agent: 'echo', message: text })).all();
  const id = ofType(events, 'request_received')[0]!.session_id;
  expect(ofType(events, 'request_received')).toMatchObject([{ message: shown }]);
  expect(ofType(events, 'stream_start')).toMatchObject([{ task: shown }]);
  expect((await fleet.call('GET', `/v1/sessions/${id}`)).json).toMatchObject({ title: shown });
});

it('[R285] the preview of a request to an unknown agent ends between characters', async () => {
  const events = await (await fleet.orchestrate({ agent: 'missing', message: text })).all();
  expect(ofType(events, 'request_received')).toMatchObject([{ message: shown }]);
});

it('[R285] the error of a tool ends between characters', async () => {
  const call = {
    call: 'delegate',
    input: { tasks: [{ agent: `${'y'.repeat(180)}${'🙂'.repeat(20)}`, message: 'x' }] },
  };
  await fleet.agent('lead', { turns: [[call], [{ say: 'Done.' }]] });
  const events = await (await fleet.orchestrate({ agent: 'lead', message: 'Go' })).all();
  const error = ofType(events, 'tool_call')[0]!.error!;
  expect(error.length).toBeGreaterThanOrEqual(baseLimits.excerptCharsMax - 1);
  expect(error).not.toMatch(/\p{Surrogate}/u);
});
