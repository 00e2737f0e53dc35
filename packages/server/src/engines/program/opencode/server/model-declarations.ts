import type { OpencodeModel } from '../launch/model-choice.ts';
import { toProviders } from '../launch/to-config.ts';
import type { OpencodeServer } from './opencode-server.ts';

/** Which models opencode knows. */
export interface ModelDeclarations {
  /** Makes a model known, if it is not. False if opencode refused it. */
  declare(
    model: OpencodeModel,
    server: Pick<OpencodeServer, 'send'>,
    isConnected: () => Promise<void>,
  ): Promise<boolean>;
}

/** Opencode uses only models of its configuration. A change of that makes it load everything again, and ends its stream of events. */
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
