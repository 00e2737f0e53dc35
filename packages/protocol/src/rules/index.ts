/** What approval rules compare, for the server that decides by them and for the interfaces that propose them. Runs in browsers. */
export { canHaveRules, proposeRule, type RuleSubject, ruleSubjectOf } from './rule-subject.ts';
export { leavesDirectory, toSimpleCommand } from './simple-command.ts';
