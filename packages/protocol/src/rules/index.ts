/** The comparison of approval rules, for the server that applies them and for the interfaces that propose them. Runs in browsers. */
export { canHaveRules, proposeRule, type RuleSubject, ruleSubjectOf } from './rule-subject.ts';
export { leavesDirectory, toSimpleCommand } from './simple-command.ts';
