// What the bundler makes of imports that are no modules.

declare module '*.css';

/** The address of the worker's file. */
declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
