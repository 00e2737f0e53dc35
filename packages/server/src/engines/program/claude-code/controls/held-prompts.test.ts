import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import type { ProgramSettings } from '../../program.ts';
import { HeldPrompts } from './held-prompts.ts';

it('[J314] prompts wait for the report, in their order, and at most for 10 s', () => {
  const { prompts, written, loaded, timers } = open();
  prompts.begin();
  expect(timers).toMatchObject([{ ms: programLimits.programSettingsMs }]);
  prompts.write('one');
  prompts.write('two');
  expect(written).toHaveLength(2);
  timers[0]!.run();
  expect(written.slice(2)).toEqual(['one', 'two']);
  expect(loaded).toMatchObject([{ settings: 'project', instructions: [] }]);
  prompts.write('three');
  expect(written.at(-1)).toBe('three');
  expect(loaded).toHaveLength(1);
});

it('[J314] the report has at most 100 entries of each kind, and what is given to the program by the server is not in it', () => {
  const { prompts, written, loaded } = open();
  prompts.begin();
  const answer = (at: number, response: object) => {
    const { request_id } = JSON.parse(written[at]!) as { request_id: string };
    return prompts.takeReport({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  };
  const rules = Array.from({ length: programLimits.programSettingsMax + 1 }, (_, at) => `Bash(${at})`);
  const sources = [
    { source: 'projectSettings', settings: { permissions: { allow: rules } } },
    { source: 'flagSettings', settings: { hooks: { Stop: [{ hooks: [{ command: 'ours' }] }] } } },
  ];
  expect(answer(0, { sources })).toBe(true);
  expect(loaded).toEqual([]);
  expect(answer(1, { memoryFiles: [{ path: '/w/CLAUDE.md' }] })).toBe(true);
  expect(loaded).toMatchObject([{ instructions: ['/w/CLAUDE.md'], hooks: [] }]);
  expect(loaded[0]!.rules).toHaveLength(programLimits.programSettingsMax);
  expect(prompts.takeReport({ type: 'control_response', response: { request_id: 'other' } })).toBe(false);
});

function open() {
  const written: string[] = [];
  const loaded: ProgramSettings[] = [];
  const timers: { run: () => void; ms: number }[] = [];
  const prompts = new HeldPrompts({
    settings: 'project',
    write: (line) => written.push(line),
    schedule: (run, ms) => {
      timers.push({ run, ms });
      return () => {};
    },
    onLoaded: (event) => loaded.push(event),
  });
  return { prompts, written, loaded, timers };
}
