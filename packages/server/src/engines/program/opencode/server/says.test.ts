import { expect, it } from 'vitest';
import { createManualClock } from '../../../../base/clock.ts';
import { createManualSchedule } from '../../../../base/manual-schedule.suite.ts';
import { programLimits } from '../../limits.ts';
import type { ProgramEvent } from '../../program.ts';
import { agent } from '../../suite/conversation.suite.ts';
import { OpencodeTranslator } from '../translate/opencode-translator.ts';
import { Says } from './says.ts';

const said = [{ type: 'text' as const, text: 'Hello.' }];

it('[OC13] a message that is stored and not answered is sent 3 times, and then its turn fails', async () => {
  const { says, sent, store, advance, events } = create();
  says.say(said);
  for (let times = 1; times <= programLimits.opencodeSaysMax; times++) {
    await settle();
    expect(sent.filter(({ path }) => path.endsWith('prompt_async'))).toHaveLength(times);
    store();
    says.pump();
    advance(programLimits.opencodeLostMs - 1);
    await settle();
    expect(sent.filter(({ path }) => path.endsWith('prompt_async'))).toHaveLength(times);
    advance(1);
    await settle();
  }
  expect(sent.filter(({ method }) => method === 'DELETE')).toHaveLength(programLimits.opencodeSaysMax - 1);
  expect(events.at(-1)).toMatchObject({
    type: 'turn_ended',
    outcome: { type: 'failed', message: expect.stringMatching(/did not answer/) },
  });
});

it('[OC13] a message is not sent again while opencode works on it, and not sent at all between two reports of an end', async () => {
  const { says, sent, store, advance, translator, setBusy } = create();
  says.say(said);
  await settle();
  store();
  setBusy();
  says.pump();
  advance(programLimits.opencodeLostMs);
  await settle();
  expect(sent.filter(({ path }) => path.endsWith('prompt_async'))).toHaveLength(1);

  const error = { name: 'APIError', message: 'x', statusCode: 400 };
  translator.take({ type: 'status', sessionId: 'ses_1', status: { type: 'busy' } });
  translator.take({ type: 'error', sessionId: 'ses_1', error });
  translator.take({ type: 'idle', sessionId: 'ses_1' });
  says.say(said);
  await settle();
  expect(sent.filter(({ path }) => path.endsWith('prompt_async'))).toHaveLength(1);
  translator.take({ type: 'idle', sessionId: 'ses_1' });
  says.pump();
  await settle();
  expect(sent.filter(({ path }) => path.endsWith('prompt_async'))).toHaveLength(2);
});

it('[OC13] a message that opencode refuses is a turn that fails', async () => {
  const { says, events } = create({ status: 400 });
  says.say(said);
  await settle();
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'failed', message: expect.stringMatching(/status 400/) } });
});

function create({ status = 204 } = {}) {
  const { schedule, advance } = createManualSchedule(createManualClock());
  const sent: { method: string; path: string; id: string | undefined }[] = [];
  const events: ProgramEvent[] = [];
  let isBusy = false;
  let count = 0;
  const translator = new OpencodeTranslator({
    conversation: 'ses_1',
    agent: agent(),
    members: [],
    known: [],
    now: () => 0,
    retriesMax: 1,
    statusOf: () => null,
    onGiveUp: () => {},
    onAsk: () => false,
    onCallEnd: () => false,
  });
  const send = async (method: string, path: string, body?: unknown) => {
    sent.push({ method, path, id: (body as { messageID?: string } | undefined)?.messageID });
    return { status, body: path === '/session/status' && isBusy ? { ses_1: { type: 'busy' } } : {} };
  };
  const says = new Says({
    schedule,
    nextId: () => `msg_${++count}`,
    server: () => ({ send, isReady: true }),
    translator: () => translator,
    toPrompt: async () => ({ model: { providerID: 'p', modelID: 'm' } }),
    onEvents: (made) => events.push(...made),
  });
  /** Opencode has stored the message that was sent last. */
  const store = () => {
    const id = sent.findLast(({ path }) => path.endsWith('prompt_async'))?.id ?? '';
    translator.take({ type: 'message', message: { role: 'user', id, sessionId: 'ses_1' } });
  };
  return { says, sent, store, advance, events, translator, setBusy: () => (isBusy = true) };
}

/** Lets every promise that can be settled be settled. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
