import { WorkBudget } from '../../../../base/bounded-pattern.ts';
import { checkExpectation, Expectable } from '../request/check-expectation.ts';
import { chooseTurn } from '../request/choose-turn.ts';
import type { Conversation } from '../request/conversation.ts';
import { deriveId, digest } from '../digest.ts';
import { catchInvalidInput, InvalidInput } from '../script/invalid-input.ts';
import { fillPlaceholders } from './placeholders.ts';
import type { Plan } from './plan.ts';
import { planMessage } from './plan-message.ts';
import { planRefusal } from './plan-refusal.ts';
import type { FailStep, Script, Turn } from '../script/script.ts';

/** The input of a plan. */
export interface AnswerInput {
  script: Script;
  /** The request as it arrived. */
  asked: Conversation;
  /** The conversation without the text of the script. */
  conversation: Conversation;
  /** The name of the agent that asks, empty if unknown. */
  agent: string;
  /** Returns how often this request was made, this time included. Called only if the script needs it. */
  countAttempt: (request: string) => number;
}

/** Plans the response of the script to a request. The same input gives the same plan. */
export function* planAnswer(input: AnswerInput): Generator<void, Plan> {
  const { script, asked, conversation, agent, countAttempt } = input;
  const seed = digest('answer', script.digest, agent, asked.digest);
  let requestId = deriveId('req', seed);
  const planned = yield* catchInvalidInput(plan());
  if (!(planned instanceof InvalidInput)) return planned;
  return planRefusal({ status: 400, message: `the script: ${planned.message}`, requestId });

  function* plan(): Generator<void, Plan> {
    const budget = new WorkBudget();
    const { turn, path } = chooseTurn(script, conversation, budget);
    const filled = yield* fillPlaceholders(turn, { conversation, agent, budget });
    const attempt = isCounting(turn) ? countAttempt(digest('attempt', seed, asked.userId)) : 1;
    requestId = deriveId('req', seed, String(attempt));
    const { steps, waitedMs, failing } = yield* walk({ turn: filled, path, attempt, conversation, budget });
    if (failing !== undefined) return planRefusal({ ...failing, requestId }, waitedMs);
    // A client that requests 0 tokens only fills the cache: the response has no content.
    const said = asked.maxTokens === 0 ? [{ type: 'stop' as const, reason: 'max_tokens' as const }] : steps;
    const items = yield* planMessage({ steps: said, seed, asked, usage: script.usage, requestId });
    return { requestId, stream: asked.stream, freeformTools: asked.freeformTools, items };
  }
}

function isCounting(turn: Turn): boolean {
  return turn.some((step) => step.type === 'fail' || (step.type === 'cut' && step.times !== undefined));
}

interface Walk {
  turn: Turn;
  path: string;
  attempt: number;
  conversation: Conversation;
  budget: WorkBudget;
}

interface Walked {
  steps: Turn;
  waitedMs: number;
  failing?: FailStep;
}

/** Walks through the turn up to the first cut or failure that applies to this attempt. */
function* walk({ turn, path, attempt, conversation, budget }: Walk): Generator<void, Walked> {
  const expectable = new Expectable(conversation);
  let waitedMs = 0;
  /** Attempts that earlier steps fail: each `fail` and `cut` applies to the attempts after these. */
  let spoiled = 0;
  for (const [at, step] of turn.entries()) {
    if (step.type === 'sleep') waitedMs += step.ms;
    if (step.type === 'expect') {
      yield;
      checkExpectation(step, expectable, `${path}[${at}].expect`, budget);
    }
    if (step.type !== 'fail' && step.type !== 'cut') continue;
    spoiled += step.times ?? Number.POSITIVE_INFINITY;
    if (attempt > spoiled) continue;
    const isRefused = step.type === 'fail' && !step.inStream;
    return isRefused ? { steps: [], waitedMs, failing: step } : { steps: endAt(turn, at), waitedMs };
  }
  return { steps: withoutEnds(turn), waitedMs };
}

function endAt(turn: Turn, at: number): Turn {
  return [...withoutEnds(turn.slice(0, at)), ...turn.slice(at, at + 1)];
}

function withoutEnds(turn: Turn): Turn {
  return turn.filter(({ type }) => type !== 'cut' && type !== 'fail');
}
