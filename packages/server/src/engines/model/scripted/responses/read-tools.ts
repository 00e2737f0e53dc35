import { limits } from '../limits.ts';
import { type Fields, readFields, readList, readOr } from '../script/read-fields.ts';

/** The names of tools as a script spells them, and which of them take a text instead of JSON. */
export interface DeclaredTools {
  readonly names: readonly string[];
  readonly freeform: ReadonlySet<string>;
}

/**
 * Reads the declared tools. A tool of a namespace is named `namespace.tool`, except in `functions`, which is the namespace of
 * tools without one; a tool without a name, such as `web_search`, is named by its type.
 */
export function readTools(tools: readonly unknown[]): DeclaredTools {
  const names: string[] = [];
  const freeform = new Set<string>();
  for (const [index, value] of tools.entries()) {
    const path = `tools[${index}]`;
    const tool = readFields(value, path);
    if (tool['type'] === 'namespace') addNamespace(tool, `${path}.tools`);
    else add(tool, '');
  }
  return { names, freeform };

  function addNamespace(namespace: Fields, path: string): void {
    const prefix = namespace['name'] === 'functions' ? '' : `${nameOf(namespace)}.`;
    const members = readOr(namespace['tools'], [], (value) => readList(value, path, { max: limits.messagesMax }));
    for (const [index, member] of members.entries()) add(readFields(member, `${path}[${index}]`), prefix);
  }

  function add(tool: Fields, prefix: string): void {
    const name = `${prefix}${nameOf(tool)}`;
    names.push(name);
    if (tool['type'] === 'custom') freeform.add(name);
  }
}

function nameOf({ name, type }: Fields): string {
  const found = name ?? type;
  return typeof found === 'string' ? found : '';
}
