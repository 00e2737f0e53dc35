import type { RandomText } from '../../bench/random-text.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { bash, delegate } from './claude-server.ts';

/** A random script for the model of the program, and the expected output of each agent. */
export interface RandomAnswers {
  readonly prompt: string;
  /** The texts, thoughts and calls of each agent in order, the main agent first. */
  readonly agents: readonly (readonly string[])[];
}

type Step = Readonly<Record<string, unknown>>;

/**
 * Blocks × chunks × agents: the main agent alone, or with one, three or eight sub-agents at the same time. 2.1.197 repeats blank
 * texts in its next request, which the API refuses (`canRepeatBlank`): there only last answers have them.
 */
export function randomAnswers(random: RandomText, canRepeatBlank: boolean): RandomAnswers {
  const agents: string[][] = [];
  const main = createAgent(random, agents, 'main', random.pick([0, 1, 1, 3, 3, 8]), canRepeatBlank);
  return { prompt: `Go. ${main}`, agents };
}

/** The script of an agent. The first text names the agent, so that no two agents say the same. */
function createAgent(
  random: RandomText,
  agents: string[][],
  name: string,
  children: number,
  canRepeatBlank: boolean,
): string {
  const early = () => blocks(random, canRepeatBlank);
  const said: string[] = [];
  agents.push(said);
  const spawned = Array.from({ length: children }, (_, at) => {
    const child = `${name}-${at}`;
    return delegate('worker', child, createAgent(random, agents, child, 0, canRepeatBlank));
  });
  const turns: Step[][] = [[{ say: `This is ${name}.`, ...pace(random, 10) }, ...early()]];
  if (children > 0) turns.push([...early(), ...(spawned as Step[])]);
  for (let count = random.below(3); count > 0; count--) {
    turns.push([...early(), bash(`echo ${name} ${count}`) as Step, ...early()]);
  }
  // A turn without a call is the last one.
  const calling = turns.map((turn, at) =>
    turn.some(isCall) ? turn : [...turn, bash(`echo ${name} first ${at}`) as Step],
  );
  const all = [...calling, [...blocks(random, true), { say: `${name} is done.`, ...pace(random, 10) }]];
  said.push(...all.flat().flatMap(toSaid));
  return script(...all);
}

function blocks(random: RandomText, hasBlank: boolean): Step[] {
  return Array.from({ length: random.below(5) }, () => {
    const kind = random.pick(['say', 'say', 'think', hasBlank ? 'blank' : 'say'] as const);
    if (kind === 'blank') return { say: random.pick(['', '', ' ', '\n\n']) };
    const text = toText(random);
    return { [kind]: text, ...pace(random, text.length) };
  });
}

/** A random text: short, long, not ASCII, equal to another one, or with white space at both ends. */
function toText(random: RandomText): string {
  const share = random.next();
  if (share < 0.2) return random.pick(['One', 'One two', 'One two three', '\nOne', 'One \n']);
  const length = share < 0.9 ? 1 + random.below(300) : 2_000 + random.below(20_000);
  return `${random.prose(length, random.pick([0, 0.5]))}.`;
}

/** A random pace: from one character per piece to the whole text, 0 to 100 ms apart, at most half a second per block. */
function pace(random: RandomText, length: number): Step {
  const chunks = random.pick([1, 2, 5, Math.min(length, 200)]);
  return { chunks, every_ms: Math.min(random.pick([0, 0, 3, 20, 100]), Math.floor(500 / chunks)) };
}

function isCall(step: Step): boolean {
  return 'call' in step;
}

function toSaid(step: Step): string[] {
  if (typeof step['call'] === 'string') return [`call ${step['call']}`];
  const [kind, text] = 'say' in step ? ['text', String(step['say'])] : ['thinking', String(step['think'])];
  return text === '' ? [] : [`${kind} ${text}`];
}
