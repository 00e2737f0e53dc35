import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ask, asking, type CreateEngine, findDisorder, useEngine } from './send-request.suite.ts';

const runs = process.env['FLEETLOOM_LONG'] === '1' ? 5_000 : 60;
const seed = Number(process.env['FLEETLOOM_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

export function randomScriptsSuite(createEngine: CreateEngine): void {
  const tested = useEngine(createEngine);

  it('[N12] for any response the deltas add up to its blocks', async () => {
    console.log(`FLEETLOOM_SEED=${seed}`);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), end, async (steps, last) => {
        const events = await ask(tested.engine, asking([...steps, ...last]));
        expect(findDisorder(events)).toBeUndefined();
        const final = events.at(-1);
        if (last.some((one) => 'cut' in one)) expect(final).toMatchObject({ type: 'failed' });
        else expect(final).toMatchObject({ type: 'finished', content: steps.map(toExpected) });
      }),
      { seed, numRuns: runs },
    );
  });
}

// A placeholder would be replaced, and an empty text does not become a block.
const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).filter((one) => !one.includes('{{'));
const chunks = fc.integer({ min: 1, max: 30 });
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('{{'));

const step = fc.oneof(
  fc.record({ say: text, chunks }),
  fc.record({ think: text, chunks }),
  fc.record({ call: fc.constantFrom('bash', 'read'), input: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), json) }),
);
const end = fc.oneof(
  fc.constant([]),
  fc.constant([{ cut: true }]),
  fc.constantFrom('max_tokens', 'refusal', 'pause_turn', 'end_turn').map((stop) => [{ stop }]),
);

function toExpected(one: object): object {
  if ('say' in one) return { type: 'text', text: one.say };
  if ('think' in one) return { type: 'thinking', thinking: one.think };
  return { type: 'tool_use', ...('input' in one ? { input: JSON.parse(JSON.stringify(one.input)) } : {}) };
}
