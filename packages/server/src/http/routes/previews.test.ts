import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { type FleetServer, ofType, openFleetServer } from './fleet.suite.ts';

/** The character that is cut is a pair of surrogates, one on each side of the limit. */
const before = 'x'.repeat(limits.excerptCharsMax - 1);
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

it('[R285] so does that of a request to an agent that does not exist', async () => {
  const events = await (await fleet.orchestrate({ agent: 'nobody', message: text })).all();
  expect(ofType(events, 'request_received')).toMatchObject([{ message: shown }]);
});

it('[R285] so does the error of a tool', async () => {
  const call = {
    call: 'delegate',
    input: { tasks: [{ agent: `${'y'.repeat(180)}${'🙂'.repeat(20)}`, message: 'x' }] },
  };
  await fleet.agent('lead', { turns: [[call], [{ say: 'Done.' }]] });
  const events = await (await fleet.orchestrate({ agent: 'lead', message: 'Go' })).all();
  const error = ofType(events, 'tool_call')[0]!.error!;
  expect(error.length).toBeGreaterThanOrEqual(limits.excerptCharsMax - 1);
  expect(error).not.toMatch(/\p{Surrogate}/u);
});
