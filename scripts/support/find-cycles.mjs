/**
 * Groups of nodes that reach each other, each with two nodes or more. `graph` maps a node to the nodes it points to.
 * Tarjan's algorithm: one depth-first walk.
 */
export function findCycles(graph) {
  const order = new Map();
  const lowest = new Map();
  const stack = [];
  const onStack = new Set();
  const cycles = [];
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;

  function visit(node) {
    order.set(node, order.size);
    lowest.set(node, order.get(node));
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) {
        visit(next);
        lowest.set(node, Math.min(lowest.get(node), lowest.get(next)));
      } else if (onStack.has(next)) {
        lowest.set(node, Math.min(lowest.get(node), order.get(next)));
      }
    }
    if (lowest.get(node) === order.get(node)) takeCycle(node);
  }

  function takeCycle(first) {
    const cycle = stack.splice(stack.indexOf(first));
    for (const node of cycle) onStack.delete(node);
    if (cycle.length > 1) cycles.push(cycle);
  }
}
