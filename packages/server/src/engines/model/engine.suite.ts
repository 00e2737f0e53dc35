import { describe } from 'vitest';
import { answersSuite } from './suite/answers.suite.ts';
import { failuresSuite } from './suite/failures.suite.ts';
import { interruptsSuite } from './suite/interrupts.suite.ts';
import { randomScriptsSuite } from './suite/random-scripts.suite.ts';
import type { CreateEngine } from './suite/send-request.suite.ts';

/** The contract of model engines. Each implementation runs all of it, with the scripted model as its endpoint. */
export function engineSuite(name: string, createEngine: CreateEngine): void {
  describe(name, () => {
    describe('answers', () => answersSuite(createEngine));
    describe('failures', () => failuresSuite(createEngine));
    describe('interrupts', () => interruptsSuite(createEngine));
    describe('random scripts', () => randomScriptsSuite(createEngine));
  });
}
