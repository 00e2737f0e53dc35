/** A trusted URL of a script of this server. The page's content security policy accepts script URLs only from this Trusted Types policy. */
export function trustScript(href: string): string {
  policy ??= createPolicy();
  // The cast is safe: browsers accept a TrustedScriptURL where the DOM types still require a string.
  return policy === undefined ? href : (policy.createScriptURL(href) as string);
}

/** A second policy of the same name would be rejected. */
let policy: Policy | undefined;

function createPolicy(): Policy | undefined {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  return trustedTypes?.createPolicy('fleetloom', {
    createScriptURL: (url) => {
      if (new URL(url).origin !== location.origin) throw new TypeError(`Script from another origin: ${url}`);
      return url;
    },
  });
}

interface Policy {
  createScriptURL(url: string): unknown;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy;
}
