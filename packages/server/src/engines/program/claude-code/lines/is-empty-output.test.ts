import { expect, it } from 'vitest';
import { isEmptyOutput } from './is-empty-output.ts';

it('[J503] the line of a slash command without output is left out, and the same text of a model or another text is not', () => {
  const said = (model: string, text: string, type = 'assistant') => ({
    type,
    message: { id: 'm1', model, content: [{ type: 'text', text }] },
  });
  expect(isEmptyOutput(said('<synthetic>', '(no content)'))).toBe(true);
  expect(isEmptyOutput(said('claude', '(no content)'))).toBe(false);
  expect(isEmptyOutput(said('<synthetic>', 'Prompt is too long'))).toBe(false);
  expect(isEmptyOutput(said('<synthetic>', '(no content)', 'user'))).toBe(false);
  expect(isEmptyOutput({ type: 'assistant' })).toBe(false);
});
