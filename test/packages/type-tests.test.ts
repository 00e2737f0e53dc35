import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../support/root.ts';

const packages = readdirSync(join(repositoryRoot, 'packages')).map((name) => `packages/${name}`);

it.each(packages.flatMap(readEntries))(
  '[G10] every public export of %s has a type test',
  (specifier, folder, source) => {
    const exported = exportedNames(source);
    const tested = new Set(listTypeTests(folder).flatMap((file) => importedNames(file, specifier)));
    expect(exported).not.toEqual([]);
    expect(exported.filter((name) => !tested.has(name))).toEqual([]);
  },
);

it('[G10] every type test is compiled by `npm run check`', () => {
  const tsc = join(repositoryRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', 'tsconfig.tests.json', '--showConfig'];
  const { files } = JSON.parse(execFileSync(process.execPath, args, { cwd: repositoryRoot, encoding: 'utf8' }));
  const typeTests = packages.flatMap(listTypeTests);
  expect(typeTests).not.toEqual([]);
  expect(files).toEqual(expect.arrayContaining(typeTests.map((file) => `./${file}`)));
});

/** The entry points of a package: specifier, folder and source file. */
function readEntries(folder: string): [specifier: string, folder: string, source: string][] {
  const { name, exports = {} } = JSON.parse(read(`${folder}/package.json`));
  return Object.entries<string | Record<string, string>>(exports).flatMap(([key, target]) => {
    if (typeof target === 'string') return [];
    return [[`${name}${key.slice(1)}`, folder, join(folder, String(target['fleetloom-source']))]];
  });
}

function listTypeTests(folder: string): string[] {
  const files = readdirSync(join(repositoryRoot, folder, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.test-d.ts'))
    .map((file) => `${folder}/src/${file.replaceAll('\\', '/')}`);
}

/** Types included. What is passed on from other files is followed there. */
function exportedNames(file: string): string[] {
  return statementsOf(file).flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration') return exportedNames(join(dirname(file), statement.source.value));
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration, specifiers } = statement;
    const declared =
      declaration === null ? [] : 'declarations' in declaration ? declaration.declarations : [declaration];
    return [...specifiers.map(({ exported }) => nameOf(exported)), ...declared.map((one) => nameOf(one.id))];
  });
}

function importedNames(file: string, specifier: string): string[] {
  return statementsOf(file).flatMap((statement) => {
    if (statement.type !== 'ImportDeclaration' || statement.source.value !== specifier) return [];
    return statement.specifiers.flatMap((one) => {
      if (one.type === 'ImportSpecifier') return [nameOf(one.imported)];
      // Of everything under one name, what is used of it.
      const used = read(file).matchAll(new RegExp(`\\b${one.local.name}\\.(\\w+)`, 'g'));
      return [...used].map(([, name]) => String(name));
    });
  });
}

function nameOf(node: object | null): string {
  if (node !== null && 'name' in node && typeof node.name === 'string') return node.name;
  throw new Error(`this export has no plain name: ${JSON.stringify(node)}`);
}

function statementsOf(file: string) {
  return parseAst(read(file), { lang: 'ts' }).body;
}

function read(file: string): string {
  return readFileSync(join(repositoryRoot, file), 'utf8');
}
