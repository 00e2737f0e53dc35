import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { findImports } from './find-imports.mjs';
import { readJson } from './root.mjs';
import { listFiles } from './source-files.mjs';

/** Reads the declarations of the package.json files. */
export function readWorkspace(root) {
  const folders = new Set(listFiles(root, 'packages').map((file) => file.split('/')[1]));
  const manifests = {};
  for (const folder of folders) {
    const path = join(root, 'packages', folder, 'package.json');
    if (existsSync(path)) manifests[folder] = readJson(path);
  }
  return { manifests, root: existsSync(join(root, 'package.json')) ? readJson(join(root, 'package.json')) : {} };
}

/** The imports of a file, each with its origin and target. */
export function readImports(root, workspace, file) {
  const from = locate(file);
  return findImports(readFileSync(join(root, file), 'utf8')).map(({ specifier, line, isStatic }) => {
    return { from, specifier, line, isStatic, target: toTarget(workspace, from, specifier) };
  });
}

/** packages/server/src/views/fleet/x.ts is in the directory views/fleet of the package server. */
export function locate(file) {
  const [top, name, ...rest] = file.split('/');
  if (top !== 'packages') return { file, package: undefined, directory: top, isTest: true };
  const isInSrc = rest[0] === 'src';
  // Configuration beside src is a tool of the package, not a part of it.
  const isTest = !isInSrc || /\.(?:test|test-d|suite)\.[cm]?tsx?$/.test(file);
  const directory = isInSrc && rest.length > 2 ? rest.slice(1, -1).join('/') : undefined;
  return { file, package: name, directory, isTest };
}

function toTarget(workspace, from, specifier) {
  if (specifier.startsWith('.')) return toTargetByPath(posix.join(posix.dirname(from.file), specifier));
  if (specifier.startsWith('node:')) return { type: 'node', name: specifier };
  if (builtinModules.includes(specifier)) return { type: 'node', name: `node:${specifier}` };
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  const found = Object.entries(workspace.manifests).find(([, manifest]) => manifest.name === name);
  if (found === undefined) return { type: 'external', name };
  const directory = parts[name.split('/').length];
  return { type: 'package', name, package: found[0], directory, isSource: true, isByPath: false };
}

function toTargetByPath(path) {
  const [top, name, src, ...rest] = path.split('/');
  if (top !== 'packages') return { type: 'outside', name: path };
  const directory = src === 'src' && rest.length > 1 ? rest.slice(0, -1).join('/') : undefined;
  return { type: 'package', name: path, package: name, directory, isSource: src === 'src', isByPath: true };
}
