import { pathToFileURL } from 'node:url';
import { claudeCodeVersions, ensureClaudeCode } from './support/claude-code.mjs';
import { say } from './support/say.mjs';

// Installs the real claude programs that the tests talk to, into .cache/claude-code, and prints where they are: one JSON
// line each, `{"version":"2.1.325","path":"…"}` or `{"version":"2.1.325","reason":"…"}`.
// Usage: claude-code.mjs [version…]
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));

async function main(asked) {
  const versions = asked.length === 0 ? claudeCodeVersions : asked;
  for (const version of versions) {
    const found = await ensureClaudeCode(version);
    console.log(JSON.stringify({ version, ...found }));
    if (found.reason === undefined) continue;
    say(`\nTHERE IS NO CLAUDE CODE ${version} HERE: ${found.reason}\n`);
    process.exitCode = 1;
  }
}
