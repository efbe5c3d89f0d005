/** The program cannot start as it is set up. The message alone is for the person who started it: what is wrong, and the remedy. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
