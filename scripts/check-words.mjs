import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './support/root.mjs';
import { listFiles } from './support/source-files.mjs';

// Reports wording that makes code, messages or docs hard to read. Usage: check-words.mjs [root] [--only=path prefix] [--count]
// With --count it prints the number of findings per folder instead of the findings.

/** Phrases that do not appear in comments, strings, test titles or docs, each with what to write instead. */
const phrases = [
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|matter\b|worse\b|better\b)[a-z]/i,
    '"is not a …"',
  ],
  [/\bthat (?:is|are) none\b/i, '"an invalid …", "is not a …"'],
  [/\banew\b/i, '"again"'],
  [/\bmend(?:s|ed|ing)?\b/i, '"fix"'],
  [/\b(?:tell|tells|told)\b/i, 'the exact verb: report, emit, send, show, notify'],
  [/\b(?:hears?|heard) (?:of|how|when)\b|\b(?:is|are|was|were) heard\b/i, '"receives", "is notified"'],
  [/\bgiv(?:e|es|en|ing) leave\b|\bwaits? for leave\b/i, '"permit"'],
  [/\b(?:whoever|whomever|whom)\b/i, 'the noun: the caller, the reader, the process'],
  [/\b(?:some|no|any|every)body\b|\b(?:someone|anyone|everyone)\b/i, 'the noun: a client, no reader, every node'],
  [/(?:\/\*\* |\/\/ |\* |\] |[.;:] )who [a-z]/i, 'a sentence whose subject is a noun: the caller, the reader'],
  [/['`]\[[A-Z]+\d+(?:, ?[A-Z]+\d+)*\] (?:who|what) /i, 'a title that begins with a noun'],
  [/\bby itself\b/i, '"on its own"'],
  [/\btogether with it\b/i, '"at the same time"'],
  [/\bmeanwhile\b/i, '"in the meantime"'],
  [/\bfor ever\b/i, '"forever"'],
  [/\b(?:at|to) rest\b|\b(?:session|thread|child|agent)s? rests?\b/i, '"idle"'],
  [/\bcarr(?:y|ies|ied) (?:it |them |this )?out\b/i, '"run", "apply", "execute"'],
  [/\bwithout a word\b/i, '"silently", "without a message"'],
  [/\bin vain\b/i, '"timed out", "without effect"'],
  [/\bas ever\b/i, '"as usual"'],
  [/\bunharmed\b/i, '"unchanged"'],
  [/\b(?:at|of|behind) the door\b|\bfleet door\b/i, '"route"'],
];

/** Words that are not part of a name in code. */
const nameWords = new Set([
  'told',
  'tell',
  'shelf',
  'crew',
  'mail',
  'mails',
  'anew',
  'mend',
  'mishap',
  'whoever',
  'whom',
  'somebody',
  'nobody',
  'anybody',
  'everybody',
  'meanwhile',
]);

/** Path prefixes that are not checked, each with its reason. */
const exceptions = {
  'scripts/check-words.mjs': 'lists the words',
  'test/scripts/check-words': 'tests the list',
};

/** Texts that are not checked, each with its reason. */
const fixedTexts = new Map([
  [/'somebody'|\bsomebody:/g, 'stored logs have this value of `closed_by`'],
  [/This call was not carried out/g, 'stored logs have this text'],
]);

const args = process.argv.slice(2);
const root = args.find((arg) => !arg.startsWith('--')) ?? repositoryRoot;
const prefix = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length) ?? '';
const findings = wordedFiles().flatMap(checkFile);
if (args.includes('--count')) printCounts(findings);
else for (const { file, line, found, advice } of findings) console.log(`${file}:${line} "${found}": write ${advice}`);
process.exitCode = findings.length === 0 ? 0 : 1;

function wordedFiles() {
  const files = ['packages', 'test', 'bench', 'scripts', 'examples', 'docs'].flatMap((folder) =>
    listFiles(root, folder),
  );
  const top = listFiles(root).filter((file) => !file.includes('/') && file.endsWith('.md'));
  return [...files, ...top]
    .filter((file) => /\.(?:ts|tsx|mjs|md|css|html)$/.test(file) && !file.includes('/demo/'))
    .filter((file) => file.startsWith(prefix))
    .filter((file) => !Object.keys(exceptions).some((exception) => file.startsWith(exception)));
}

function checkFile(file) {
  const isCode = /\.(?:ts|tsx|mjs)$/.test(file);
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      const worded = [...fixedTexts.keys()].reduce((rest, fixed) => rest.replace(fixed, ''), text);
      const found = [...findPhrases(worded), ...(isCode ? findNames(worded) : [])];
      return found.map((finding) => ({ file, line: index + 1, ...finding }));
    });
}

function findPhrases(text) {
  return phrases.flatMap(([pattern, advice]) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ found: match[0], advice }];
  });
}

/** Finds names of several words: a single word is found as a phrase. */
function findNames(text) {
  const names = text.match(/\b[A-Za-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+(?:-[a-z]+)+\b/g) ?? [];
  return names
    .filter((name) => name.split(/(?=[A-Z])|-/).some((word) => nameWords.has(word.toLowerCase())))
    .map((name) => ({ found: name, advice: 'a name of the field (see the glossary)' }));
}

function printCounts(all) {
  const counts = new Map();
  for (const { file } of all) {
    const folder = file.split('/').slice(0, 5).slice(0, -1).join('/') || file;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(`${String(count).padStart(5)} ${folder}`);
  console.log(`${String(all.length).padStart(5)} in all`);
}
