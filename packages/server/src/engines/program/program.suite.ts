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
 * The contract of program engines, with the scripted model as their endpoint. engine.suite.ts has the contract of engines that answer one
 * request.
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

/** The part of the suite that differs if the gateway does not read the text of sub-agents. */
export function programTurnsSuite(name: string, options: Omit<ProgramUnderTest, 'tested'>): void {
  describe(name, () => turnsSuite(usePrograms(options)));
}
