/**
 * How large the run is: `npm run bench -- --quick` shows in a few minutes that everything works; its figures say little.
 * Names of parts (`npm run bench -- drafts work`) run those alone.
 */
export const isQuick = process.argv.includes('--quick');

const named = process.argv
  .slice(2)
  .filter((argument) => /^[a-z-]+$/.test(argument) && !argument.startsWith('-'));

export function wants(part: string): boolean {
  return named.length === 0 || named.includes(part);
}
