import { atOnce } from '../../../../base/in-slices.ts';
import { checkScript } from './check-script.ts';
import type { Script } from './script.ts';

/** Reads a built-in script by its name. Built-in scripts have the format of user scripts, and the same checks. */
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
  /** Repeats the last user text. The default script. */
  echo: {
    when: [{ match: '\\S', turn: [{ say: '{{last_user}}' }] }],
    else: [{ say: '(nothing was said)' }],
  },

  /** A coordinator: lists the agents, delegates to three agents named `worker`, and reports their results. */
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

  /** Uses the built-in toolset: writes a file, runs a command, and reports both results. */
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

  /** Fails twice like an overloaded API, then loses its connection, then succeeds. */
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

  /** Streams text for about twenty seconds: long enough to watch, to interrupt and to steer. */
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
