/** A key with the secret that was made just now. */
export interface KeySecret {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}
