import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repositoryRoot } from './support/root.mjs';
import { lineAt } from './support/scan-source.mjs';
import { listFiles } from './support/source-files.mjs';

// Finds paths and hosts of one machine, which do not belong in the repository. Usage: check-paths.mjs [root]

const patterns = [
  {
    // Not after a word character: /home/… may be part of a URL.
    pattern: /(?<![\w.})-])\/(?:home|Users|root|work)\/[\w.-]+/g,
    // The recorded streams use this invented user, and Codex names its agents by such a path.
    allowed: ['/home/user', ...['child', 'mid', 'alpha', 'beta', 'slow', 'quick'].map((name) => `/root/${name}`)],
    advice: 'is a path of one machine. Make it relative, or write /home/user in an example',
  },
  {
    pattern: /\b[A-Z]:\\+Users\\+[\w.-]+/g,
    allowed: [],
    advice: 'is a path of one machine. Make it relative',
  },
  {
    pattern:
      /https?:\/\/[\w.-]*registry[\w.:-]*|\bregistry\.(?:npmjs|yarnpkg)\.\w+|"resolved": "https?:[^"]*|^registry\s*=.*/gm,
    allowed: [],
    advice: 'names a package registry. Each machine configures its own; leave it out',
  },
];

const problems = checkPaths(resolve(process.argv[2] ?? repositoryRoot));
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkPaths(root) {
  return listTracked(root).flatMap((file) => {
    // This file and its test contain the patterns.
    if (/(?:^|\/)check-paths\.(?:mjs|test\.ts)$/.test(file)) return [];
    const content = readTracked(join(root, file));
    return content === undefined ? [] : patterns.flatMap((kind) => checkContent(file, content, kind));
  });
}

function checkContent(file, content, { pattern, allowed, advice }) {
  const found = [...content.matchAll(pattern)].filter(([text]) => !allowed.includes(text));
  return found.map((match) => `${file}:${lineAt(content, match.index)} "${match[0]}" ${advice}.`);
}

/** Tracked and new files. Without git (an unpacked archive) all files. */
function listTracked(root) {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 64 * 1024 * 1024 };
    return execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], options).split('\0').filter(Boolean);
  } catch {
    return listFiles(root);
  }
}

/** Undefined for a file that was deleted without a commit, and for one that is not text. */
function readTracked(path) {
  try {
    const bytes = readFileSync(path);
    return bytes.includes(0) ? undefined : bytes.toString();
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw error;
  }
}
