// Draws docs/demo.svg: what `fleetloom demo` really prints, in its colours. Run it after a change of the terminal view.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setUp } from './setup.mjs';

const COLUMNS = 100;
const COLORS = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff', 35: '#d2a8ff', 36: '#76e3ea' };

await setUp({ build: true });
const output = execFileSync(process.execPath, ['packages/cli/dist/main.js', 'demo', '--speed', '50'], {
  encoding: 'utf8',
  env: { ...process.env, FORCE_COLOR: '1', COLUMNS: String(COLUMNS), LANG: 'C.UTF-8', NO_COLOR: undefined },
});
writeFileSync('docs/demo.svg', toSvg(output.trimEnd().split('\n')));
console.error('wrote docs/demo.svg');

function toSvg(lines) {
  const width = COLUMNS * 8.43 + 40;
  const height = lines.length * 19 + 40;
  const rows = lines.map((line, i) => `<text x="20" y="${i * 19 + 34}">${spans(line)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="fleetloom demo in a terminal">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}.b{font-weight:700}.d{opacity:.6}.i{font-style:italic}</style>
<rect width="100%" height="100%" rx="10" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`;
}

/** ANSI colours to spans. The program writes only the codes that are known here. */
function spans(line) {
  let codes = [];
  let result = '';
  // oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
  for (const [, sequence, text] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (text === undefined) codes = sequence === '0' || sequence === '' ? [] : [...codes, ...sequence.split(';')];
    else result += `<tspan${attributes(codes)}>${escape(text)}</tspan>`;
  }
  return result;
}

function attributes(codes) {
  const names = { 1: 'b', 2: 'd', 3: 'i' };
  const classes = codes.map((code) => names[code]).filter(Boolean);
  const color = codes.map((code) => COLORS[code]).find(Boolean);
  return (classes.length > 0 ? ` class="${classes.join(' ')}"` : '') + (color ? ` fill="${color}"` : '');
}

function escape(text) {
  return text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
}
