import { describe } from 'vitest';
import { answersSuite, turnsSuite } from './suite/answers.suite.ts';
import { asksSuite } from './suite/asks.suite.ts';
import { controlsSuite } from './suite/controls.suite.ts';
import { failuresSuite } from './suite/failures.suite.ts';
import { interruptsSuite } from './suite/interrupts.suite.ts';
import { lifeSuite } from './suite/life.suite.ts';
import { outsideSuite } from './suite/outside.suite.ts';
import { type ProgramUnderTest, usePrograms } from './suite/program-under-test.suite.ts';

/**
 * What every program engine does, in front of the scripted model. engine.suite.ts says the same of engines that answer one
 * request, as far as there is the same to say.
 */
export function programSuite(name: string, options: Omit<ProgramUnderTest, 'tested'>): void {
  describe(name, () => {
    const program = usePrograms(options);
    describe('answers', () => answersSuite(program));
    describe('asks', () => asksSuite(program));
    describe('controls', () => controlsSuite(program));
    describe('failures', () => failuresSuite(program));
    describe('interrupts', () => interruptsSuite(program));
    describe('what comes from outside', () => outsideSuite(program));
    describe('life', () => lifeSuite(program));
  });
}

/** The part of the suite that differs where the text of sub-agents is not read on its way. */
export function programTurnsSuite(name: string, options: Omit<ProgramUnderTest, 'tested'>): void {
  describe(name, () => turnsSuite(usePrograms(options)));
}
