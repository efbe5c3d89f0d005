/**
 * Writes dist/audit: the service's own verifier of exports as one file for Node.js, with what it needs, so that there is one
 * verifier and not two (docs/decisions/0053).
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import ts from 'typescript';

const SOURCE = new URL('../../src/features/tenancy/verify-audit.ts', import.meta.url);
const TARGET = new URL('dist/audit/', import.meta.url);

const bundle = await rolldown({ input: SOURCE.pathname, platform: 'node', logLevel: 'warn' });
const { output } = await bundle.write({ file: new URL('index.js', TARGET).pathname, format: 'esm' });

// What is bundled with it has licences that go where it goes.
const packages = new Set(
  output[0].moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []),
);
const licences = [...packages].toSorted().map(async (folder) => {
  const name = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
  const { name: of, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
  return `${of} (${license})\n\n${name ? await readFile(`${folder}/${name}`, 'utf8') : ''}`;
});
await writeFile(new URL('LICENSES', TARGET), (await Promise.all(licences)).join('\n----\n\n'));

// Its types stand in that file alone, so they need no other.
const { outputText, diagnostics } = ts.transpileDeclaration(await readFile(SOURCE, 'utf8'), {
  fileName: 'index.ts',
  reportDiagnostics: true,
});
const [fault] = diagnostics ?? [];
if (fault || outputText.includes('import '))
  throw new Error(`${SOURCE.pathname} needs the types of other files`);
await mkdir(TARGET, { recursive: true });
await writeFile(new URL('index.d.ts', TARGET), outputText);
