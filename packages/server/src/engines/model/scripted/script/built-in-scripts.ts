import { atOnce } from '../../../../base/in-slices.ts';
import { checkScript } from './check-script.ts';
import type { Script } from './script.ts';

/** The scripts that are always there, by name. They are written as a user would write them, and checked like theirs. */
export function readBuiltIn(name: string): Script | undefined {
  if (!Object.hasOwn(sources, name)) return undefined;
  const known = checked.get(name) ?? atOnce(checkScript(sources[name]));
  checked.set(name, known);
  return known;
}

/** The names of the built-in scripts. */
export function listBuiltIns(): string[] {
  return Object.keys(sources).sort();
}

/** A script is checked when it is first played: most processes play one or two. */
const checked = new Map<string, Script>();

const sources: Readonly<Record<string, unknown>> = {
  /** Answers with the last user text. What runs when nothing else is chosen. */
  echo: {
    when: [{ match: '\\S', turn: [{ say: '{{last_user}}' }] }],
    else: [{ say: '(nothing was said)' }],
  },

  /** A coordinator: asks who is there, delegates to three agents named `worker`, reports what they found. */
  research: {
    turns: [
      [
        { think: 'I should see who can help before I split this up.' },
        { say: 'Let me see who is available.', every_ms: 20 },
        { call: 'list_agents', input: {} },
      ],
      [
        { think: 'Three angles that do not depend on each other: they can be looked at at the same time.' },
        { say: 'Three workers look at this from three sides.', every_ms: 20 },
        {
          call: 'delegate',
          input: {
            tasks: [
              { agent: 'worker', message: 'Collect the facts about: {{last_user}}' },
              { agent: 'worker', message: 'Collect the open questions about: {{last_user}}' },
              { agent: 'worker', message: 'Collect the risks of: {{last_user}}' },
            ],
          },
        },
      ],
      [
        { think: 'All three have reported. Time to put it together.' },
        { say: 'All three have reported.\n\n{{results}}', every_ms: 20 },
      ],
    ],
  },

  /** An agent that gets a task, thinks about it and reports. */
  worker: {
    turns: [
      [
        { think: 'The task is clear. I go through it step by step.', every_ms: 20 },
        { say: 'Done. My report on "{{last_user}}": three points were checked, and nothing stood out.', every_ms: 20 },
      ],
    ],
  },

  /** Uses the built-in toolset: writes a file, runs a command, looks at both results. */
  tools: {
    turns: [
      [
        { say: 'I write a note and look at the directory.' },
        { call: 'write', input: { file_path: 'note.txt', content: 'Written by the scripted model.\n' } },
        { call: 'bash', input: { command: 'ls' } },
      ],
      [{ call: 'read', input: { file_path: 'note.txt' } }],
      [{ say: 'The note says: {{last_result}}' }],
    ],
  },

  /** Fails twice as an overloaded API does, then loses its connection, then answers. */
  flaky: {
    turns: [
      [
        { fail: { status: 529, message: 'Overloaded', times: 2, retry_after_s: 0.05 } },
        { say: 'This time ' },
        { cut: { times: 1 } },
        { say: 'it worked.' },
      ],
    ],
  },

  /** Speaks for about twenty seconds: long enough to watch, to interrupt and to steer. */
  slow: {
    turns: [
      [
        { think: 'There is no hurry.', every_ms: 200 },
        {
          say:
            'I take my time, so that you can see the words arrive one after the other. You can interrupt me, send me ' +
            'another message, reload the page or stop the server while I speak, and afterwards every word that you saw ' +
            'is still there, once, in its place. A fleet of agents is never quiet and never in step, and what one of ' +
            'them says must not get lost because another one was louder. That is all I wanted to say.',
          every_ms: 200,
        },
      ],
    ],
  },
};
