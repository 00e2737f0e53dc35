/** The first names of a list, and the number of the others: `a, b and 3 more`. */
export function listNames(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${names.slice(0, NAMED_MAX).join(', ')}${more}`;
}

const NAMED_MAX = 20;
