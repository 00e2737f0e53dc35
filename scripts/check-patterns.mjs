import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repositoryRoot } from './support/root.mjs';
import { lineAt, scanSource } from './support/scan-source.mjs';
import { isSource, listFiles } from './support/source-files.mjs';

// A pattern from outside never reaches V8's RegExp, which takes exponential time for some of them: it runs on RE2, behind
// packages/server/src/base/linear-regex.ts. Usage: check-patterns.mjs [root]

/** Forbidden uses; `place` is the only file that may have one. */
const forbidden = [
  {
    pattern: /\bRegExp\s*\(/g,
    advice:
      'builds a RegExp while the program runs. Write a literal or a constant of the module; compile what comes from outside with linear-regex.ts',
    isAllowed: isConstant,
  },
  {
    pattern: /\.(?:match|matchAll|search)\(\s*(?:[a-z]|['"`])/g,
    advice: 'makes a RegExp of any text. Pass a literal or a constant in capitals',
    isAllowed: isOfOthers,
  },
  {
    pattern:
      /\b(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|Worker)\b[^;]*from 'node:(?:child_process|worker_threads)'/g,
    advice: 'may throw or emit an error without a listener. Use start-process.ts, or run-program.ts for short programs',
    isInSource: true,
    place: 'start-process.ts',
  },
  { pattern: /'node:vm'|"node:vm"/g, advice: 'runs text as a program', isInSource: true },
  { pattern: /'re2js'|"re2js"/g, advice: 'is for linear-regex.ts alone', isInSource: true, place: 'linear-regex.ts' },
];

/** The exceptions, each with its reason. */
const exceptions = {
  'packages/server/src/base/process/start-of-process.ts':
    'asks for the start time of one process where there is no /proc, at a moment that must not wait',
  'packages/cli/src/base/run-git.ts':
    'a short command of a person, whose callback also receives that it cannot be started',
  'packages/cli/src/import/opencode/run-opencode.ts':
    'one short command; its callback receives that it cannot be started',
  'packages/cli/src/base/process-io.ts': 'the pager of a person, with a listener in the next statement',
  'packages/cli/src/base/open-in-browser.ts': 'a command of a person, with a listener in the next statement',
  'packages/server/src/tools/host/server/host-program.ts':
    'names the package to bind it into the sandbox, and does not load it',
};

const problems = checkPatterns(resolve(process.argv[2] ?? repositoryRoot));
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkPatterns(root) {
  const files = listFiles(root, 'packages').filter((file) => /^packages\/[^/]+\/src\//.test(file) && isSource(file));
  const written = files.filter((file) => !/\.(?:test|suite|test-d)\.tsx?$/.test(file));
  return written.flatMap((file) => {
    const found = checkFile(file, readFileSync(join(root, file), 'utf8'));
    if (!Object.hasOwn(exceptions, file)) return found;
    return found.length > 0 ? [] : [`${file} needs no exception any more: remove it from check-patterns.mjs.`];
  });
}

function checkFile(file, source) {
  const { code } = scanSource(source);
  return forbidden.flatMap(({ pattern, advice, isAllowed = () => false, isInSource = false, place }) => {
    if (place !== undefined && file.endsWith(`/${place}`)) return [];
    const found = [...(isInSource ? source : code).matchAll(pattern)];
    return found
      .filter(({ index }) => !isAllowed(code, index))
      .map(({ 0: text, index }) => `${file}:${lineAt(source, index)} "${text}" ${advice}.`);
  });
}

/** Whether the use is in a top-level statement, which untrusted input cannot reach: it begins a line and is not a function. */
function isConstant(code, index) {
  const lines = code.slice(0, index).split('\n');
  const statement = lines.slice(lines.findLastIndex((line) => /^[^\s)\]}]/.test(line))).join('\n');
  return /^(?:export )?const /.test(statement) && !/=>|\bfunction\b/.test(statement);
}

/** Whether the use is a method of this repository with the same name. */
function isOfOthers(code, index) {
  return /\b(?:files|matcher)$/.test(code.slice(Math.max(0, index - 20), index));
}
