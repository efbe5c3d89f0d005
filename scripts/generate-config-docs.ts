/**
 * Writes docs/reference/configuration.md and `.env.example` from src/platform/config/environment.ts. With --check it
 * writes nothing and exits 1 when either would change.
 *
 * Built with the service, run from the project's folder: node dist/scripts/generate-config-docs.js [--check]
 */
import { readFile, writeFile } from 'node:fs/promises';
import { environment, notes } from '../src/platform/config/environment.js';

const variables = Object.entries(environment.shape).map(([name, schema]) => {
  const about = notes.get(schema);
  if (!about) throw new Error(`${name} has no notes in environment.ts`);
  const unset = schema.safeParse(undefined).data;
  return { name, ...about, fallback: unset === undefined ? undefined : String(unset) };
});

const code = (text: string) => `\`${text}\``;

/** `.env.example` says what each means; here its name can be found. */
function reference(): string {
  const named = (ones: typeof variables) => ones.map(({ name }) => code(name)).join(', ');
  return `# Environment variables

[.env.example](../../.env.example) has each variable with its meaning, its default and an example. Copy it to \`.env\` beside
\`package.json\`, or set the variables in the environment.

A secret can be given as a file instead: \`SECRETS_KEY_FILE=/run/secrets/secrets_key\`. Secrets: ${named(variables.filter(({ secret }) => secret))}.

The others: ${named(variables.filter(({ secret }) => !secret))}.
`;
}

function envExample(): string {
  const entries = variables.map(({ name, description, example, fallback, whenUnset, secret }) => {
    const unset = fallback === undefined ? [`# Unset: ${whenUnset ?? 'nothing'}.`] : [];
    const sample = secret ? [`# Example: ${example}`, `# Or, to read it from a file: ${name}_FILE.`] : [];
    const value = fallback ?? (secret ? '' : example);
    return [
      `# ${description}`,
      ...unset,
      ...sample,
      `#${name}=${/[\s<>#"']/.test(value) ? `"${value}"` : value}`,
    ].join('\n');
  });
  const head =
    '# Copy to .env and uncomment what you change. Generated from src/platform/config/environment.ts.';
  return `${[head, ...entries].join('\n\n')}\n`;
}

const files = {
  'docs/reference/configuration.md': reference(),
  '.env.example': envExample(),
};
const check = process.argv.includes('--check');
for (const [file, wanted] of Object.entries(files)) {
  const current = await readFile(file, 'utf8').catch(() => '');
  if (wanted === current) continue;
  if (check) {
    console.error(`${file} is not what environment.ts says: npm run generate`);
    process.exitCode = 1;
  } else {
    await writeFile(file, wanted);
    console.log(`wrote ${file}`);
  }
}
