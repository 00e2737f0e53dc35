import { expect, it } from 'vitest';
import { chooseEngine } from './choose-engine.ts';
import type { Engine } from './engine.ts';
import { createScriptedEngine } from './scripted/engine.ts';
import { ask, asking, failureOf, finishedOf } from './suite/send-request.suite.ts';

it('[N34] the name of the model selects the engine that answers', async () => {
  const messages = createNamed('messages');
  const engine = chooseEngine({ scripted: createScriptedEngine(), messages, isProgramModel });
  expect(finishedOf(await ask(engine, choosing('scripted/echo'))).content).toEqual([{ type: 'text', text: 'Hi' }]);
  expect(failureOf(await ask(engine, choosing('claude-opus-5'))).message).toBe('messages');
  expect(failureOf(await ask(engine, choosing('qwen/scripted/echo'))).message).toBe('messages');
});

it('[N34] a model of a program engine does not answer single requests', async () => {
  const engine = chooseEngine({ scripted: createScriptedEngine(), messages: createNamed('messages'), isProgramModel });
  const failure = failureOf(await ask(engine, choosing('claude-code/sonnet')));
  expect(failure).toMatchObject({ consequence: 'turn', retryAfterMs: null });
  expect(failure.message).toContain('claude-code/sonnet');
});

it('[N34] without a key the failure names ANTHROPIC_API_KEY and a scripted model', async () => {
  const engine = chooseEngine({ scripted: createScriptedEngine(), messages: undefined, isProgramModel });
  const failure = failureOf(await ask(engine, choosing('claude-opus-5')));
  expect(failure).toMatchObject({ reason: 'authentication', consequence: 'turn' });
  expect(failure.message).toContain('ANTHROPIC_API_KEY');
  expect(failure.message).toContain('scripted/');
  await engine.close();
});

it('[N34] close() closes every engine', async () => {
  const scripted = createNamed('scripted');
  const messages = createNamed('messages');
  await chooseEngine({ scripted, messages, isProgramModel }).close();
  expect([scripted.isClosed(), messages.isClosed()]).toEqual([true, true]);
});

const isProgramModel = (model: string) => model.startsWith('claude-code/');

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
