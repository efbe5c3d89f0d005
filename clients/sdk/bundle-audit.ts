/**
 * Writes dist/audit: the service's own verifier of exports as one file for Node.js, with what it needs, so that there is one
 * verifier and not two (docs/decisions/0053).
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import ts from 'typescript';

const SOURCE = new URL('../../src/features/tenancy/verify-audit.ts', import.meta.url);
const TARGET = new URL('dist/audit/', import.meta.url);

const bundle = await rolldown({ input: SOURCE.pathname, platform: 'node', logLevel: 'warn' });
await bundle.write({ file: new URL('index.js', TARGET).pathname, format: 'esm' });

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
