/** A key with its newly created secret. */
export interface KeySecret {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}
