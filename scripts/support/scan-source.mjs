/**
 * Separates the code of JavaScript or TypeScript from text that looks like code. Comments, the inside of strings,
 * template text and regular expressions become spaces; every other character, quote marks included, keeps its place.
 * So a search in `code` finds real calls and imports, and the same position in the source holds the text.
 *
 * `literals` maps the position of an opening quote to that of its closing one. It is a scanner, not a parser: where
 * a quote or a slash has no partner on its line (JSX text, a division) it is taken for an ordinary character.
 */
export function scanSource(source) {
  const code = source.split('');
  const literals = new Map();
  let position = 0;
  scanCode(false);
  return { code: code.join(''), literals };

  function scanCode(isInsideTemplate) {
    let depth = 0;
    while (position < source.length) {
      const character = source[position];
      const two = source.slice(position, position + 2);
      if (two === '//') position = blank(position, endOf('\n', position));
      else if (two === '/*') position = blank(position, endOf('*/', position + 2));
      else if (character === '`') scanTemplate();
      else if (character === "'" || character === '"') scanLine(stringPattern[character]);
      else if (character === '/' && mayStartRegex(code, position)) scanLine(regexPattern);
      else {
        if (character === '{') depth += 1;
        if (character === '}') depth -= 1;
        position += 1;
        if (isInsideTemplate && depth < 0) return;
      }
    }
  }

  function scanTemplate() {
    const start = position;
    let textStart = start + 1;
    position += 1;
    while (position < source.length && source[position] !== '`') {
      if (source[position] === '\\') position += 2;
      else if (source.startsWith('${', position)) {
        position = blank(textStart, position) + 2;
        scanCode(true);
        textStart = position;
      } else position += 1;
    }
    literals.set(start, position);
    position = blank(textStart, position) + 1;
  }

  function scanLine(pattern) {
    pattern.lastIndex = position;
    const match = pattern.exec(source);
    if (match === null) {
      position += 1;
      return;
    }
    const end = position + match[0].length - 1;
    literals.set(position, end);
    position = blank(position + 1, end) + 1;
  }

  /** Replaces by spaces, except line ends: lines must keep their numbers. */
  function blank(from, to) {
    for (let index = from; index < to; index += 1) if (source[index] !== '\n') code[index] = ' ';
    return to;
  }

  function endOf(text, from) {
    const index = source.indexOf(text, from);
    return index === -1 ? source.length : index + text.length;
  }
}

export function lineAt(source, position) {
  return source.slice(0, position).split('\n').length;
}

const stringPattern = {
  "'": /'(?:[^'\\\n]|\\[\s\S])*'/y,
  '"': /"(?:[^"\\\n]|\\[\s\S])*"/y,
};

const regexPattern = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;

/** A slash divides when it follows a value, and starts a regular expression when it follows an operator. */
function mayStartRegex(code, position) {
  let index = position - 1;
  while (index >= 0 && /\s/.test(code[index])) index -= 1;
  if (index < 0 || '(,=:[!&|?{;+-*%~^>'.includes(code[index])) return true;
  const word = code.slice(Math.max(0, index - 10), index + 1).join('');
  return /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield|new)$/.test(word);
}
