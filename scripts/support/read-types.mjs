/**
 * Reads the interfaces and type aliases of a TypeScript source, with their doc comments. It knows the form that our
 * formatter writes, not the language: TypeScript 7 has no compiler API to ask.
 *
 * @typedef {{ name: string, isOptional: boolean, type: string, doc: string }} Field
 * @typedef {{ name: string, doc: string, extends: string[], fields: Field[] }} Interface
 * @typedef {{ name: string, doc: string, type: string }} Alias
 * @returns {{ interfaces: Map<string, Interface>, aliases: Map<string, Alias> }}
 */
export function readTypes(source) {
  const interfaces = new Map();
  const aliases = new Map();
  const start = /^(?:export )?(interface|type) (\w+)(?:<\w+>)?(?: extends ([^{]+?))? (?=[{=])/gm;
  for (const match of source.matchAll(start)) {
    const [whole, kind, name, bases = ''] = match;
    const doc = docBefore(source, match.index);
    const at = match.index + whole.length;
    if (kind === 'type') {
      const end = endOf(source, at, ';');
      aliases.set(name, { name, doc, type: source.slice(at + 1, end).trim() });
    } else {
      const fields = readFields(source.slice(at + 1, endOf(source, at + 1, '}')));
      interfaces.set(name, { name, doc, extends: splitTop(bases, ','), fields });
    }
  }
  return { interfaces, aliases };
}

/** The members of a union, or the one type that it is. */
export function unionMembers(type) {
  return splitTop(withoutComments(type), '|');
}

function readFields(body) {
  const fields = [];
  for (let at = 0; at < body.length; ) {
    const gap = /(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*)*/y;
    gap.lastIndex = at;
    gap.exec(body);
    const from = gap.lastIndex;
    const end = endOf(body, from, ';');
    const field = /^(?:readonly )?(\w+|'[^']+')(\??):\s*([\s\S]+)$/.exec(body.slice(from, end));
    if (field !== null) {
      const [, name, optional, type] = field;
      fields.push({
        name: name.replaceAll("'", ''),
        isOptional: optional === '?',
        type: oneLine(type.replace(/^\s*\|/, '')),
        doc: docBefore(body, from),
      });
    }
    at = end + 1;
  }
  return fields;
}

/** The doc comment that ends directly in front of a position, as plain text. */
function docBefore(source, at) {
  const before = source.slice(0, at).trimEnd();
  if (!before.endsWith('*/')) return '';
  const comment = before.slice(before.lastIndexOf('/*'));
  if (!comment.startsWith('/**')) return '';
  const text = comment
    .slice(3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n');
  return oneLine(text.split('@example')[0].replace(/\{@link (\w+)\}/g, '`$1`'));
}

/** The first position of a character outside of brackets, strings and comments; the end of the text if there is none. */
function endOf(text, from, wanted) {
  let depth = 0;
  const token = /'(?:[^'\\]|\\.)*'|`[^`]*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*|=>|[{}()[\]<>;|,]/g;
  token.lastIndex = from;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match;
    if (found === wanted && depth === 0) return match.index;
    if ('{([<'.includes(found)) depth++;
    else if ('})]>'.includes(found)) depth--;
  }
  return text.length;
}

function splitTop(text, separator) {
  const parts = [];
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, at, separator);
    const part = oneLine(text.slice(at, end));
    if (part !== '') parts.push(part);
    at = end + 1;
  }
  return parts;
}

function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '');
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}
