import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { demoDirectory } from './demo-files.ts';
import { describeDemo } from './describe-demo.ts';
import { toLeadScript } from './lead-script.ts';

it('[Y96] the demo of the pages is that of the command: its agents with their scripts, its task and the files of its project', async () => {
  const { lead, members, files, title, task } = await describeDemo(25);
  const names = readdirSync(join(demoDirectory, 'agents')).map((name) => name.replace(/\.md$/, ''));
  expect([lead, ...members].map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  expect([title, lead.model]).toEqual(['Demo: 25 agents prepare a release of ferry', 'scripted/demo-lead-25']);
  expect(scriptOf(lead)).toEqual(toLeadScript(25));
  for (const member of members) {
    const path = join(demoDirectory, 'scripts', `demo-${member.name}.yaml`);
    expect(scriptOf(member)).toEqual(parse(readFileSync(path, 'utf8')));
    expect(member.tools).not.toEqual([]);
  }
  expect(task).toContain('ferry');
  expect(files['src/retry.js']).toBe(readFileSync(join(demoDirectory, 'project', 'src', 'retry.js'), 'utf8'));
});

function scriptOf({ system }: { readonly system?: string | null }): unknown {
  return JSON.parse(/<script>(.*)<\/script>$/s.exec(system ?? '')![1]!);
}
