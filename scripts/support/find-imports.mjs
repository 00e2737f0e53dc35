import { lineAt, scanSource } from './scan-source.mjs';

/**
 * Everything a source imports by a literal name: import, export from, import(), require() and getBuiltinModule().
 * Types count like values: an arrow that exists only for the compiler still ties two places together.
 */
export function findImports(source) {
  const { code, literals } = scanSource(source);
  const imports = [];
  for (const { pattern, isStatic } of importPatterns) {
    for (const match of code.matchAll(pattern)) {
      const start = match.index + match[0].length;
      const end = literals.get(start);
      if (end === undefined) continue;
      imports.push({ specifier: source.slice(start + 1, end), line: lineAt(source, start), isStatic });
    }
  }
  return imports.sort((a, b) => a.line - b.line);
}

/** Each ends right before the opening quote. `from` followed by a string exists only in imports and exports. */
const importPatterns = [
  { pattern: /(?<![.\w$])from\s*(?=['"])/g, isStatic: true },
  { pattern: /(?<![.\w$])import\s*(?=['"])/g, isStatic: true },
  { pattern: /(?<![.\w$])import\s*\(\s*(?=['"`])/g, isStatic: false },
  { pattern: /(?<![\w$])(?:require|getBuiltinModule)\s*\(\s*(?=['"`])/g, isStatic: false },
];
