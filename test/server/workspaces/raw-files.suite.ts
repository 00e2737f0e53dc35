import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files below a directory whose name or raw bytes have a text, whatever the program that wrote them thinks of it. */
export function filesWith(root: string, text: string): string[] {
  const found: string[] = [];
  const look = (path: string) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (stats.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
    const hasName = relative(root, path).includes(text);
    if (hasName || (stats.isFile() && readFileSync(path).includes(text))) found.push(relative(root, path));
  };
  look(root);
  return found;
}
