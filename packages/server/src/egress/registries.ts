/**
 * The registries that `allow_package_managers` opens: those that pip, npm, yarn, cargo, gem, go and apt use unless they are
 * configured otherwise. No hosts of source code: a push would be a way out.
 */
export const publicRegistries: readonly string[] = [
  'pypi.org',
  'files.pythonhosted.org',
  ...['npmjs.org', 'yarnpkg.com'].map((domain) => `registry.${domain}`),
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'rubygems.org',
  'index.rubygems.org',
  'proxy.golang.org',
  'sum.golang.org',
  'deb.debian.org',
  'security.debian.org',
  'archive.ubuntu.com',
  'security.ubuntu.com',
  'ports.ubuntu.com',
];
