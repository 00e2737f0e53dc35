import { expect, it } from 'vitest';
import { chooseEngine } from './choose-engine.ts';
import type { Engine } from './engine.ts';
import { createScriptedEngine } from './scripted/engine.ts';
import { ask, asking, failureOf, finishedOf } from './suite/ask.suite.ts';

it('[N34] the name of the model says which engine answers', async () => {
  const messages = createNamed('messages');
  const engine = chooseEngine({ scripted: createScriptedEngine(), messages });
  expect(finishedOf(await ask(engine, choosing('scripted/echo'))).content).toEqual([{ type: 'text', text: 'Hi' }]);
  expect(failureOf(await ask(engine, choosing('claude-opus-5'))).message).toBe('messages');
  expect(failureOf(await ask(engine, choosing('qwen/scripted/echo'))).message).toBe('messages');
});

it('[N34] the claude program runs whole sessions, and answers no single request', async () => {
  const engine = chooseEngine({ scripted: createScriptedEngine(), messages: createNamed('messages') });
  const failure = failureOf(await ask(engine, choosing('claude-code/sonnet')));
  expect(failure).toMatchObject({ consequence: 'turn', retryAfterMs: null });
  expect(failure.message).toContain('claude-code/sonnet');
});

it('[N34] without a key the failure says what to do', async () => {
  const engine = chooseEngine({ scripted: createScriptedEngine(), messages: undefined });
  const failure = failureOf(await ask(engine, choosing('claude-opus-5')));
  expect(failure).toMatchObject({ reason: 'authentication', consequence: 'turn' });
  expect(failure.message).toContain('ANTHROPIC_API_KEY');
  expect(failure.message).toContain('scripted/');
  await engine.close();
});

it('[N34] closing closes all of them', async () => {
  const scripted = createNamed('scripted');
  const messages = createNamed('messages');
  await chooseEngine({ scripted, messages }).close();
  expect([scripted.isClosed(), messages.isClosed()]).toEqual([true, true]);
});

function choosing(id: string) {
  return asking([{ say: 'Hi' }], { model: { id, effort: null, speed: 'standard' } });
}

/** Fails with its name. */
function createNamed(message: string): Engine & { isClosed: () => boolean } {
  let isClosed = false;
  return {
    request: async function* () {
      yield {
        type: 'failed',
        failure: { reason: 'unknown', message, consequence: 'turn', retryAfterMs: null },
        usage: null,
      };
    },
    close: async () => {
      isClosed = true;
    },
    isClosed: () => isClosed,
  };
}
