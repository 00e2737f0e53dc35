/** The formats of `fleetloom serve --log`. */
export const logForms = ['json', 'text', 'off'] as const;

/** A format of the request log. */
export type LogForm = (typeof logForms)[number];
