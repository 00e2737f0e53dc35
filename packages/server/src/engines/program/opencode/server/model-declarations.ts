import type { OpencodeModel } from '../launch/model-choice.ts';
import { toProviders } from '../launch/to-config.ts';
import type { OpencodeServer } from './opencode-server.ts';

/** The models that opencode knows. */
export interface ModelDeclarations {
  /** Declares a model, unless opencode knows it. False if opencode rejected it. */
  declare(
    model: OpencodeModel,
    server: Pick<OpencodeServer, 'send'>,
    isConnected: () => Promise<void>,
  ): Promise<boolean>;
}

/** opencode uses only models of its configuration. A change of the configuration makes it reload everything, which ends its stream of events. */
export function createDeclarations(known: readonly OpencodeModel[], baseURL: string): ModelDeclarations {
  const models = [...known];
  return {
    declare: async (model, server, isConnected) => {
      const isKnown = models.some(
        ({ providerID, modelID }) => providerID === model.providerID && modelID === model.modelID,
      );
      if (isKnown) return true;
      models.push(model);
      const again = isConnected();
      const { status } = await server.send('PATCH', '/global/config', { provider: toProviders(models, baseURL) });
      if (status !== 200) return false;
      await again;
      return true;
    },
  };
}
