/** The first that fits: each of them claims to be some of those below it. */
const BROWSERS: readonly [mark: RegExp, name: string][] = [
  [/Edg/, 'Edge'],
  [/OPR/, 'Opera'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'],
  [/Safari/, 'Safari'],
];
const SYSTEMS: readonly [mark: RegExp, name: string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];
const MOST_SHOWN = 80;

/** How a person knows the program that a session is open in: its browser and system, as it says itself. */
export function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return 'an unknown program';
  const nameIn = (known: typeof BROWSERS) => known.find(([mark]) => mark.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (!browser) return userAgent.slice(0, MOST_SHOWN);
  return system ? `${browser} on ${system}` : browser;
}
