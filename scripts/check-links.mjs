import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { listHeadings, listLinks } from './support/markdown.mjs';
import { repositoryRoot } from './support/root.mjs';
import { listFiles } from './support/source-files.mjs';

// Checks that every link of every page leads to an existing file and heading. Links to other sites are not requested.

const root = resolve(process.argv[2] ?? repositoryRoot);
const pages = listFiles(root).filter((file) => file.endsWith('.md') && !file.startsWith('fixtures/'));
const complaints = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8');
  return listLinks(text).flatMap(({ target, line }) => {
    const problem = judge(join(root, page), target);
    return problem === undefined ? [] : [`${page}:${line} links to ${target}, ${problem}`];
  });
});
for (const complaint of complaints) console.log(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;

function judge(page, target) {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined;
  const [path = '', heading] = decodeURIComponent(target).split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (relative(root, file).startsWith('..')) return 'which is outside of the repository';
  if (!existsSync(file)) return 'which is not there';
  if (heading === undefined || !file.endsWith('.md')) return undefined;
  return listHeadings(readFileSync(file, 'utf8')).includes(heading) ? undefined : 'which has no such heading';
}
