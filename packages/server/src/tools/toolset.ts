import { isObject, type Json, type JsonObject } from '../base/json/json.ts';

/** What a toolset of an agent says about one tool. */
export interface ToolChoice {
  readonly isEnabled: boolean;
  readonly permission: 'allow' | 'ask';
  /** The entry of the tool itself, with fields that only this tool knows; empty if there is none. */
  readonly config: JsonObject;
}

/**
 * Reads a toolset: the settings of its entry for the tool, else its default settings, else the defaults of the kind of toolset.
 * The route has checked the toolset, so unknown values come from a newer version, and are treated as absent.
 */
export function chooseTool(toolset: JsonObject, name: string, unsaid: 'allow' | 'ask'): ToolChoice {
  const config = toObjects(toolset['configs']).findLast((entry) => entry['name'] === name) ?? {};
  const sources = [config, toObject(toolset['default_config'])];
  const enabled = sources.map((source) => source['enabled']).find((value) => typeof value === 'boolean');
  const permission = sources
    .map((source) => toPermission(source['permission_policy']))
    .find((each) => each !== undefined);
  return { isEnabled: enabled ?? true, permission: permission ?? unsaid, config };
}

/** The permission of a policy. `auto` and unknown policies ask a person. */
function toPermission(policy: Json | undefined): 'allow' | 'ask' | undefined {
  const type = toObject(policy)['type'];
  if (type === undefined) return undefined;
  return type === 'always_allow' ? 'allow' : 'ask';
}

/** The value if it is an object, otherwise an empty one. */
export function toObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list; other values are dropped. */
export function toObjects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item: Json) => isObject(item)) : [];
}

/** The strings of a list; other values are dropped. */
export function toStrings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: Json) => typeof item === 'string') : [];
}

/** The value if it is a string, otherwise an empty one. */
export function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
