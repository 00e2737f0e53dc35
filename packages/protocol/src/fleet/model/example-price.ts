/**
 * Whether the cost of a model is an example: the scripted models of the demo cost nothing, and have a price so that the figures of
 * the demo can be understood. User interfaces mark such a cost.
 */
export function hasExamplePrice(model: string): boolean {
  return model.startsWith('scripted/demo-');
}
