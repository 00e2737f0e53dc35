import { describe } from 'vitest';
import { answersSuite, turnsSuite } from './program-suite/answers.suite.ts';
import { asksSuite } from './program-suite/asks.suite.ts';
import { failuresSuite } from './program-suite/failures.suite.ts';
import { interruptsSuite } from './program-suite/interrupts.suite.ts';
import { lifeSuite } from './program-suite/life.suite.ts';
import { outsideSuite } from './program-suite/outside.suite.ts';
import { type ProgramUnderTest, usePrograms } from './program-suite/program-under-test.suite.ts';

/**
 * What every program engine does, in front of the scripted model. engine.suite.ts says the same of engines that answer one
 * request, as far as there is the same to say.
 */
export function programSuite(name: string, options: Omit<ProgramUnderTest, 'tested'>): void {
  describe(name, () => {
    const program = usePrograms(options);
    describe('answers', () => answersSuite(program));
    describe('asks', () => asksSuite(program));
    describe('failures', () => failuresSuite(program));
    describe('interrupts', () => interruptsSuite(program));
    describe('what comes from outside', () => outsideSuite(program));
    describe('life', () => lifeSuite(program));
  });
}

/** The part of it that is different where nobody listens to sub-agents. */
export function programTurnsSuite(name: string, options: Omit<ProgramUnderTest, 'tested'>): void {
  describe(name, () => turnsSuite(usePrograms(options)));
}
