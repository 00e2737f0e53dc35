import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findTestTitles } from './support/find-test-titles.mjs';
import { repositoryRoot } from './support/root.mjs';
import { isSource, listFiles } from './support/source-files.mjs';

// Every rule of SPEC.md and packages/*/SPEC.md has a test and every test a rule. Usage: check-spec.mjs [root]

const problems = checkSpec(resolve(process.argv[2] ?? repositoryRoot));
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkSpec(root) {
  if (!existsSync(join(root, 'SPEC.md'))) return ['SPEC.md does not exist: write down the rules that the tests prove'];
  const rules = specFiles(root).flatMap((file) => readRules(file, readFileSync(join(root, file), 'utf8')));
  const tests = testFiles(root).flatMap((file) => readTests(root, file));
  const known = new Set(rules.map(({ id }) => id));
  return [...findRepeated(rules), ...tests.flatMap((test) => checkTest(test, known)), ...findUnproven(rules, tests)];
}

/** The rules of the repository, then those of each package. */
function specFiles(root) {
  const packages = existsSync(join(root, 'packages')) ? readdirSync(join(root, 'packages')) : [];
  const own = packages.map((name) => `packages/${name}/SPEC.md`).filter((file) => existsSync(join(root, file)));
  return ['SPEC.md', ...own];
}

function findRepeated(rules) {
  const repeated = rules.filter(({ id }, index) => rules.findIndex((rule) => rule.id === id) < index);
  return repeated.map(({ id, place }) => `${place} defines ${id} a second time: give it a number of its own`);
}

function checkTest({ place, title, ids }, known) {
  if (title === undefined) return [`${place} has a title that is not a literal: begin it with one such as '[S41] …'`];
  if (ids.length === 0) return [`${place} cites no rule: begin "${title}" with the rule it proves, as in [S41]`];
  const unknown = ids.filter((id) => !known.has(id));
  return unknown.map((id) => `${place} cites ${id}, which no SPEC.md defines: add the rule or cite the right one`);
}

function findUnproven(rules, tests) {
  const proven = new Set(tests.filter(({ runs }) => runs).flatMap(({ ids }) => ids));
  const cited = new Set(tests.flatMap(({ ids }) => ids));
  const unproven = rules.filter(({ id }) => !proven.has(id));
  return unproven.map(({ id, place }) => {
    const reason = cited.has(id) ? 'is cited only by tests that are skipped' : 'is cited by no test';
    return `${place} ${id} ${reason}: write one whose title begins with [${id}], or remove the rule`;
  });
}

/** A rule is a line that begins with its bold id: `- **S41** …` or `**S41** …`. Fenced examples are not rules. */
function readRules(file, markdown) {
  const rules = [];
  let isFenced = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(text)) isFenced = !isFenced;
    const id = isFenced ? undefined : /^\s*(?:[-*+]\s+|\d+\.\s+)?\*\*([A-Z]+\d+)[.:]?\*\*/.exec(text)?.[1];
    if (id !== undefined) rules.push({ id, place: `${file}:${index + 1}` });
  }
  return rules;
}

/** Files with tests, and suites that several implementations run, which are found by their import of vitest. */
function testFiles(root) {
  const files = ['packages', 'test', 'bench'].flatMap((folder) => listFiles(root, folder)).filter(isSource);
  return files.filter((file) => {
    if (/\.test\.[cm]?tsx?$/.test(file)) return true;
    return !file.includes('.test-d.') && readFileSync(join(root, file), 'utf8').includes("from 'vitest'");
  });
}

function readTests(root, file) {
  return findTestTitles(readFileSync(join(root, file), 'utf8')).map(({ title, line, runs }) => {
    const cited = /^\[([A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)\](?:\s|$)/.exec(title ?? '')?.[1];
    return { place: `${file}:${line}`, title, runs, ids: cited === undefined ? [] : cited.split(/\s*,\s*/) };
  });
}
