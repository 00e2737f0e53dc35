import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readDraft, writeDraft } from './drafts.ts';
import { storeLimits } from './limits.ts';
import { savedViews } from './saved-views.ts';

beforeEach(() => {
  const stored = new Map<string, string>();
  const getItem = (key: string) => stored.get(key) ?? null;
  vi.stubGlobal('localStorage', { getItem, setItem: (key: string, value: string) => void stored.set(key, value) });
});
afterEach(() => vi.unstubAllGlobals());

it('[Z241] the newest 50 drafts are kept, each up to 20,000 characters; an empty one is removed', () => {
  for (let number = 0; number <= storeLimits.draftsMax; number++) writeDraft(`draft ${number}`, `text ${number}`);
  expect([readDraft('draft 0'), readDraft('draft 1')]).toEqual(['', 'text 1']);
  writeDraft('long', 'x'.repeat(storeLimits.draftCharsMax + 1));
  expect(readDraft('long')).toHaveLength(storeLimits.draftCharsMax);
  writeDraft('long', '');
  expect(readDraft('long')).toBe('');
  localStorage.setItem('fleetloom.drafts', '[1, ["a"], {}]');
  expect(readDraft('a')).toBe('');
});

it('[Z228] 20 views are saved, each with a name of up to 40 characters; one with the same name is replaced', () => {
  for (let number = 0; number < storeLimits.viewsMax; number++) savedViews.save({ name: `view ${number}`, search: '' });
  expect(() => savedViews.save({ name: 'one more', search: '' })).toThrow('20 views are saved. Remove one');
  savedViews.save({ name: 'view 3', search: 'q=a' });
  expect(savedViews.all()).toHaveLength(storeLimits.viewsMax);
  expect(savedViews.all().find(({ name }) => name === 'view 3')?.search).toBe('q=a');
  savedViews.remove('view 3');
  savedViews.save({ name: 'x'.repeat(storeLimits.viewNameCharsMax + 1), search: '' });
  expect(savedViews.all().at(-1)?.name).toHaveLength(storeLimits.viewNameCharsMax);
  localStorage.setItem('fleetloom.views', '{"a":1}');
  expect(savedViews.all()).toEqual([]);
});
