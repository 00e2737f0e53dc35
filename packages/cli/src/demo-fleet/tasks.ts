/** A task of the demo's lead for one of its agents. */
export interface DemoTask {
  readonly agent: string;
  readonly message: string;
}

/** Edits need an approval, so the lead does not wait for this task: it is delegated first and reported when it is done. */
export const fix: DemoTask = {
  agent: 'fixer',
  message: 'Fix src/retry.js: its first wait is two seconds, the documentation says one.',
};

/** All tasks, the most interesting first, because a small demo uses only the first few. */
const all: readonly DemoTask[] = [
  scout('Find every `TODO|FIXME` in the project, and say which of them a user would notice.'),
  { agent: 'archivist', message: 'Compare docs/retries.md with what the code does.' },
  review('src/queue.js', 'does it lose jobs?'),
  { agent: 'writer', message: 'Write docs/notes.md: what a user should know before the release.' },
  review('src/worker.js', 'what happens when a tick takes long?'),
  scout('Find out which files in src have tests: look for `from .*src/`.'),
  review('src/parse-cron.js', 'which expressions does it misread?'),
  { agent: 'tester', message: 'Run the tests, and report what they print.' },
  review('src/store.js', 'is its order stable?'),
  review('src/clock.js', 'does any code bypass it?'),
  { agent: 'writer', message: 'Write docs/giving-up.md: what happens to a job that is given up.' },
  review('src/log.js', 'can it print secrets?'),
  scout('Find everything that prints: `console\\.`.'),
  review('src/index.js', 'is anything exported by accident?'),
  review('test/queue.test.js', 'would it notice a lost job?'),
  review('test/retry.test.js', 'would it notice a wrong first wait?'),
  review('test/parse-cron.test.js', 'which cases are missing?'),
  scout('Find everything that waits: `setInterval|setTimeout|await`.'),
  review('docs/getting-started.md', 'does its example run?'),
  review('docs/design.md', 'is it still true?'),
  review('README.md', 'does it promise more than there is?'),
  { agent: 'writer', message: 'Write docs/faq.md: the three questions that a new user asks.' },
  review('CHANGELOG.md', 'is anything missing for 0.4.0?'),
];

/** Possible numbers of agents: the lead, the fixer, and one per task. */
export const demoAgents = { min: 3, normally: 8, max: all.length + 2 } as const;

/** The tasks that the lead delegates and waits for, in a demo with this many agents. */
export function tasksFor(agents: number): readonly DemoTask[] {
  return all.slice(0, agents - 2);
}

function review(file: string, question: string): DemoTask {
  return { agent: 'reviewer', message: `Review ${file}: ${question}` };
}

function scout(message: string): DemoTask {
  return { agent: 'scout', message };
}
