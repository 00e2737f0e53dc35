/** Numbers that bound sign-ins at OpenID providers. Each has a test at its edge. */
export const signOnLimits = {
  /** The file of the configuration. */
  configBytesMax: 256 * 1024,
  issuersMax: 20,
  grantsMax: 200,
  /** Values of one list of a grant. */
  grantValuesMax: 1_000,
  /** How long a person stays signed in, unless the configuration says otherwise, and at most. */
  sessionHours: 8,
  sessionHoursMax: 30 * 24,
  /** How far the clocks of a provider and of this server may be apart, unless the configuration says otherwise, and at most. */
  clockSkewSeconds: 30,
  clockSkewSecondsMax: 300,
  /** How long a person may take at the provider. */
  flowMs: 10 * 60_000,
  /** How long the metadata of a provider is used. Its keys are read again when a token has an unknown one. */
  metadataMs: 60 * 60_000,
  /** How long one request to a provider may take. */
  requestSeconds: 10,
  /** A response of a provider. */
  responseBytesMax: 1024 * 1024,
  /** The query with which a browser comes back from a provider. */
  callbackCharsMax: 8 * 1024,
  /** Groups of one person that are compared. */
  groupsMax: 5_000,
  /** The subject and the issuer of a person as OpenID Connect bounds them, and the email and name for people. */
  subjectCharsMax: 255,
  emailCharsMax: 320,
  nameCharsMax: 200,
  /** A larger id token is not kept: then the provider asks the person whether to sign out. */
  idTokenCharsMax: 16 * 1024,
  /** Refusals of browsers that no provider has identified, which one node records in a minute. */
  strangerEntriesPerMinute: 60,
  /** A back-channel logout. */
  logoutTokenBytesMax: 16 * 1024,
  /** How old the token of a back-channel logout may be. */
  logoutTokenMs: 5 * 60_000,
} as const;
