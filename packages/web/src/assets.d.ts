// Imports that are not modules, as the bundler resolves them.

declare module '*.css';

/** The URL of the worker's script. */
declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
