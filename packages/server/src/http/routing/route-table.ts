/** A handler, with the method and path of its requests. */
export interface TableEntry<Handler> {
  readonly method: string;
  /** `/v1/agents/{agent_id}`; `/assets/*` stands for `/assets` and every path below it. */
  readonly path: string;
  readonly handler: Handler;
}

/** The handler of a request, with the parameters that its path contains. */
export interface Match<Handler> {
  readonly handler: Handler;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Finds handlers by method and path. Patterns are kept as a tree of path segments; a literal segment wins over a parameter,
 * and both win over `*`. HEAD finds the handler of GET.
 */
export class RouteTable<Handler> {
  readonly #root: Node<Handler> = createNode();

  constructor(entries: readonly TableEntry<Handler>[]) {
    for (const entry of entries) this.#add(entry);
  }

  /** `path` begins with a slash, and its segments may be percent-encoded. */
  find(method: string, path: string): Match<Handler> | undefined {
    const segments = path.split('/');
    if (path.includes('%')) for (const [index, segment] of segments.entries()) segments[index] = decodeSegment(segment);
    const values: string[] = [];
    const endpoint = findEndpoint(this.#root, method === 'HEAD' ? 'GET' : method, { segments, values }, 1);
    return endpoint === undefined ? undefined : { handler: endpoint.handler, params: toParams(endpoint.names, values) };
  }

  #add({ method, path, handler }: TableEntry<Handler>): void {
    const isPrefix = path.endsWith('/*');
    const names: string[] = [];
    let node = this.#root;
    for (const segment of (isPrefix ? path.slice(0, -2) : path).split('/').slice(1)) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name === undefined) node = childOf(node.literals, segment);
      else {
        names.push(name);
        node = node.parameter ??= createNode();
      }
    }
    const endpoints = isPrefix ? node.prefixes : node.endpoints;
    if (endpoints.has(method)) throw new TypeError(`${method} ${path} has two handlers`);
    endpoints.set(method, { handler, names });
  }
}

interface Node<Handler> {
  readonly literals: Map<string, Node<Handler>>;
  parameter: Node<Handler> | undefined;
  /** Handlers of paths that end at this segment, by method. */
  readonly endpoints: Map<string, Endpoint<Handler>>;
  /** Handlers of paths that end at this segment or continue below it, by method. */
  readonly prefixes: Map<string, Endpoint<Handler>>;
}

interface Endpoint<Handler> {
  readonly handler: Handler;
  readonly names: readonly string[];
}

interface Walk {
  readonly segments: readonly string[];
  /** The values of the parameters on the path. */
  readonly values: string[];
}

function findEndpoint<Handler>(
  node: Node<Handler>,
  method: string,
  walk: Walk,
  depth: number,
): Endpoint<Handler> | undefined {
  const { segments, values } = walk;
  if (depth === segments.length) return node.endpoints.get(method) ?? node.prefixes.get(method);
  const segment = segments[depth]!;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : findEndpoint(literal, method, walk, depth + 1);
  if (found !== undefined) return found;
  if (node.parameter !== undefined && segment !== '') {
    const count = values.push(segment);
    const below = findEndpoint(node.parameter, method, walk, depth + 1);
    if (below !== undefined) return below;
    values.length = count - 1;
  }
  return node.prefixes.get(method);
}

function createNode<Handler>(): Node<Handler> {
  return { literals: new Map(), parameter: undefined, endpoints: new Map(), prefixes: new Map() };
}

function childOf<Handler>(nodes: Map<string, Node<Handler>>, segment: string): Node<Handler> {
  const known = nodes.get(segment);
  if (known !== undefined) return known;
  const node = createNode<Handler>();
  nodes.set(segment, node);
  return node;
}

function toParams(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMS;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) params[name] = values[index]!;
  return params;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Escapes that are not valid UTF-8 stay as they are. */
function decodeSegment(segment: string): string {
  return segment.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
