const FIELDS = ['minute', 'hour', 'day', 'month', 'weekday'];

/** `*\/5 * * * *` as a set of allowed values for each field. */
export function parseCron(text) {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) throw new Error(`expected ${FIELDS.length} fields, got ${parts.length}`);
  return Object.fromEntries(FIELDS.map((name, index) => [name, parsePart(parts[index])]));
}

function parsePart(part) {
  if (part === '*') return null;
  const [, step] = part.split('/');
  // TODO: ranges such as 1-5 are read as NaN.
  return step ? { step: Number(step) } : { values: part.split(',').map(Number) };
}
