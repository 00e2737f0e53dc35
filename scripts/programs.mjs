import { pathToFileURL } from 'node:url';
import { ensureProgram, programNames, versionsOf } from './support/programs.mjs';
import { giveUp, say } from './support/say.mjs';

// Installs the real agent programs that the tests use, into .cache/<program>, and prints where they are: one JSON line each,
// `{"program":"codex","version":"0.166.0","path":"…"}` or `{"program":"codex","version":"0.166.0","reason":"…"}`.
// Usage: programs.mjs [program [version…]]
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));

async function main([asked, ...versions]) {
  if (asked !== undefined && !programNames.includes(asked)) {
    giveUp(`Usage: programs.mjs [program [version…]]; the programs are ${programNames.join(', ')}, not ${asked}.`);
  }
  for (const program of asked === undefined ? programNames : [asked]) {
    for (const version of versions.length === 0 ? versionsOf(program) : versions) await print(program, version);
  }
}

async function print(program, version) {
  const found = await ensureProgram(program, version);
  console.log(JSON.stringify({ program, version, ...found }));
  if (found.reason === undefined) return;
  say(`\n${program} ${version} was not installed: ${found.reason}\n`);
  process.exitCode = 1;
}
