import type { ModelInfo } from '@fleetloom/protocol/managed-agents';
import type { KnownModel } from '../../engines/model/known-models.ts';
import { requestError } from '../../base/request-error.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { idPage, modelInfo, modelListQuery } from '../schemas/model-info.ts';
import { toIdPage } from '../paging/to-id-page.ts';

/** The sources of models. */
export interface ModelRoutesOptions {
  /** The names of the scripts that exist now. */
  readonly listScripts: () => Promise<readonly string[]>;
  /** Models of the configured endpoint. */
  readonly known: readonly KnownModel[];
}

/** `/v1/models`: the models that agents of this server can use. */
export function createModelRoutes({ listScripts, known }: ModelRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'models.list',
      summary: 'List models, by their ids',
      method: 'get',
      path: '/v1/models',
      accepts: ['api'],
      query: modelListQuery,
      gives: idPage(modelInfo),
      handle: async ({ query }) => {
        const { lifecycle } = query;
        const models = (await listAll()).filter((model) => lifecycle?.includes(model.lifecycle) ?? true);
        return toIdPage(models, query);
      },
    }),
    defineRoute({
      name: 'models.retrieve',
      summary: 'Read a model',
      method: 'get',
      path: '/v1/models/{model_id}',
      accepts: ['api'],
      gives: modelInfo,
      handle: ({ params }) => find(params.model_id),
    }),
    defineRoute({
      name: 'models.retrieve_scripted',
      summary: 'Read a model whose id contains a slash',
      method: 'get',
      path: '/v1/models/{family}/{name}',
      accepts: ['api'],
      gives: modelInfo,
      handle: ({ params }) => find(`${params.family}/${params.name}`),
    }),
  ];

  async function find(id: string): Promise<ModelInfo> {
    const model = (await listAll()).find((each) => each.id === id);
    if (model === undefined) throw requestError('unknown_id', `there is no model ${id}`);
    return model;
  }

  async function listAll(): Promise<readonly ModelInfo[]> {
    const scripted = (await listScripts()).map((name) => toModel(`scripted/${name}`, `Scripted: ${name}`, null));
    const others = known.map(({ id, contextTokens }) => toModel(id, toTitle(id), contextTokens));
    // Sorted by id, so that a cursor keeps its position after its model was removed.
    return [...scripted, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

function toModel(id: string, title: string, contextTokens: number | null): ModelInfo {
  return {
    type: 'model',
    id,
    display_name: title,
    // The value that the API uses for an unknown date.
    created_at: '1970-01-01T00:00:00Z',
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: lines.find((line) => id.startsWith(`claude-${line}-`)) ?? null,
    max_input_tokens: contextTokens,
    max_tokens: null,
    allowed_fallback_models: null,
    capabilities: null,
  };
}

const lines = ['haiku', 'sonnet', 'opus', 'fable', 'mythos'] as const;

/** The display name of a model: `claude-opus-4-5` becomes `Claude Opus 4.5`. */
function toTitle(id: string): string {
  const [family, line, ...version] = id.split('-');
  return [capital(family), capital(line), version.join('.')].filter((part) => part !== '').join(' ');
}

function capital(word = ''): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
