import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './support/root.mjs';

// Writes the table of capabilities in docs/engines.md from the code of the engines. The packages have to be built.
// Usage: engine-table.mjs [--check]. With --check it writes nothing and fails where the committed table differs.
const { acpCapabilities, capabilityWords, claudeCodeCapabilities, codexCapabilities, opencodeCapabilities } =
  await import('../packages/server/dist/index.js');

const engines = {
  'Claude Code': claudeCodeCapabilities,
  Codex: codexCapabilities,
  opencode: opencodeCapabilities,
  'ACP agents': acpCapabilities,
};
const path = join(repositoryRoot, 'docs', 'engines.md');
const page = readFileSync(path, 'utf8');
const [before, , after] = page.split(/(<!-- capabilities -->[\s\S]*<!-- end of capabilities -->)/);
const next = `${before}<!-- capabilities -->\n${toTable()}\n<!-- end of capabilities -->${after}`;
if (!process.argv.includes('--check')) writeFileSync(path, next);
else if (next !== page) {
  console.log('docs/engines.md differs from the capabilities in the code: run node scripts/engine-table.mjs');
  process.exitCode = 1;
}

function toTable() {
  const names = Object.keys(engines);
  const rows = Object.entries(capabilityWords).map(([capability, words]) => {
    const cells = names.map((name) => toCell(engines[name][capability], words));
    return `| ${words.title} | \`${toWireName(capability)}\` | ${cells.join(' | ')} |`;
  });
  return [
    `| capability | in the API | ${names.join(' | ')} |`,
    `|---|---|${names.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n');
}

function toCell(value, { best, without, others = {} }) {
  return value === best ? 'yes' : `no: ${others[value] ?? without}`;
}

function toWireName(capability) {
  return capability.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
