/** The part of the package `oidc-provider` that tests use: it has no types of its own. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (incoming: object, outgoing: object) => void;
    interactionFinished(incoming: object, outgoing: object, result: object): Promise<void>;
    on(event: string, listener: (...values: readonly unknown[]) => void): this;
    readonly Grant: new (
      fields: object,
    ) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  }
}
