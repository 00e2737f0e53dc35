import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findCycles } from './support/find-cycles.mjs';
import { readImports, readWorkspace } from './support/locate-imports.mjs';
import { repositoryRoot } from './support/root.mjs';
import { isSource, listFiles } from './support/source-files.mjs';

// Measures the shape of the sources and fails when a number is over its limit. Usage: check-shape.mjs [root]

const root = process.argv[2] ?? repositoryRoot;
const sources = listFiles(root, 'packages').filter(
  (file) => isSource(file) && file.includes('/src/') && !/\.(?:test|test-d|suite)\.[cm]?tsx?$|\/suite\//.test(file),
);
const texts = new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const graph = readGraph();

const rows = [
  row('source lines', countLines(), { most: 166_000, goal: 70_000 }),
  row('source files', sources.length),
  row('largest folder, files', largestFolder(), { most: 25 }),
  row('folders that import each other', twoWayFolders(), { most: 0 }),
  row('import cycles, types included', { value: findCycles(graph).length }, { most: 0 }),
  row('longest file, lines', longestFile(), { most: 400 }),
  row('median file, lines', { value: medianFile() }, { most: 130 }),
  row('exported names with a doc comment, %', documented(), { least: 90 }),
  row('source files that name a built-in tool, most', toolLiterals(), { most: 3 }),
];

for (const { name, value, where, goal, isMet } of rows) {
  const mark = isMet ? '✓' : '✗';
  console.log(
    `${mark} ${name.padEnd(46)} ${String(value).padStart(7)}  ${goal}${where === undefined ? '' : `  ${where}`}`,
  );
}
process.exitCode = rows.every(({ isMet }) => isMet) ? 0 : 1;

/** `most` and `least` fail the check; `goal` is a later target. */
function row(name, measured, { most, least, goal: wanted } = {}) {
  const { value, where } = typeof measured === 'number' ? { value: measured } : measured;
  const limit = most !== undefined ? `≤ ${most}` : least !== undefined ? `≥ ${least}` : '';
  const goal = wanted === undefined ? limit : `${limit} (goal ${wanted})`;
  const isMet = (most === undefined || value <= most) && (least === undefined || value >= least);
  return { name, value, where, goal, isMet };
}

function readGraph() {
  const workspace = readWorkspace(root);
  return new Map(
    sources.map((file) => {
      const targets = readImports(root, workspace, file)
        .filter(({ target }) => target.type === 'package' && target.isByPath)
        .map(({ target }) => target.name);
      return [file, targets.filter((target) => texts.has(target))];
    }),
  );
}

function linesOf(file) {
  return texts.get(file).split('\n').length - 1;
}

function countLines() {
  return sources.reduce((sum, file) => sum + linesOf(file), 0);
}

function largestFolder() {
  const counts = new Map();
  for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  const [where, value] = [...counts].sort((a, b) => b[1] - a[1])[0];
  return { value, where };
}

/** Pairs of sibling folders that import each other. */
function twoWayFolders() {
  const arrows = new Set();
  for (const [file, targets] of graph) {
    for (const target of targets) {
      const pair = siblings(file, target);
      if (pair !== undefined) arrows.add(pair.join(' → '));
    }
  }
  const pairs = [...arrows].filter((arrow) => {
    const [from, to] = arrow.split(' → ');
    return from < to && arrows.has(`${to} → ${from}`);
  });
  return { value: pairs.length, where: pairs.slice(0, 3).join('; ') || undefined };
}

/** The sibling folders in which two paths diverge, if both continue in a folder. */
function siblings(file, target) {
  const a = file.split('/');
  const b = target.split('/');
  let at = 0;
  while (a[at] === b[at]) at++;
  if (at >= a.length - 1 || at >= b.length - 1) return undefined;
  return [a.slice(0, at + 1).join('/'), b.slice(0, at + 1).join('/')];
}

function longestFile() {
  const where = [...sources].sort((a, b) => linesOf(b) - linesOf(a))[0];
  return { value: linesOf(where), where };
}

function medianFile() {
  const lengths = sources.map(linesOf).sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length / 2)];
}

/** Re-exports are not counted: the name is documented where it is defined. */
function documented() {
  let all = 0;
  let described = 0;
  for (const text of texts.values()) {
    for (const match of text.matchAll(
      /(\*\/\n)?^export (?:default )?(?:async )?(?:abstract )?(?:function|class|interface|type|const) (?![{*])/gm,
    )) {
      all++;
      if (match[1] !== undefined) described++;
    }
  }
  return { value: Math.floor((100 * described) / all), where: `${described} of ${all}` };
}

/**
 * How many source files of the server name the most widespread built-in tool: as a key of an object, or as a literal that
 * is compared, listed, passed on or set as a name. Scripts of the scripted engine play agents, and agents name tools. `read`,
 * `write` and `edit` are ordinary words (`Pick<Store, 'read'>`, `'write' in pipe`), so for them only files that name one of
 * the other tools too, or that compare a name with them, are counted. `bash` is also a program that is looked up on PATH.
 */
function toolLiterals() {
  const files = sources.filter((file) => file.startsWith('packages/server/') && !/\/(?:scripted|demo)\//.test(file));
  const counts = ['bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_fetch', 'web_search'].map((tool) => {
    const naming = files.filter((file) => namesTool(texts.get(file), tool));
    return { value: naming.length, where: `${tool}: ${naming.map((file) => file.split('/src/')[1]).join(', ')}` };
  });
  return counts.sort((a, b) => b.value - a.value)[0];
}

function namesTool(text, tool) {
  const isCompared = new RegExp(`(?:[!=]== |case |name: |[tT]ool\\()'${tool}'`).test(text);
  const isListed = new RegExp(`^ +(?:'${tool}'|${tool}): `, 'm').test(text) && /^ +(?:glob|web_fetch): /m.test(text);
  const isLiteral = ['glob', 'grep', 'web_fetch', 'web_search'].includes(tool) && text.includes(`'${tool}'`);
  return isCompared || isListed || isLiteral;
}
