/** The name of a model without its date: `claude-opus-4-5-20251101` becomes `claude-opus-4-5`. */
export function toModelName(modelId: string): string {
  return modelId.replace(/-\d{8}$/, '');
}
