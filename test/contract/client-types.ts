import { join } from 'node:path';
import ts from 'typescript';
import type { Schema } from './operations.js';

/** What a generator of clients makes of a document: a type for each schema, and of each operation what it answers, by status. */
export function typesOf({ components, paths }: Record<string, any>): string {
  const responseOf = (response: Schema) =>
    response['$ref'] === undefined
      ? response
      : components.responses[response['$ref'].replace('#/components/responses/', '')];
  const schemas = Object.entries<Schema>(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.values<Schema>(paths)
    .flatMap((item) => Object.values<Schema>(item))
    .map(({ operationId, responses }) => {
      const answers = Object.entries<Schema>(responses).map(([status, response]) => {
        const schema = responseOf(response).content?.['application/json']?.schema;
        return `${status}: ${schema === undefined ? 'unknown' : typeOf(schema)};`;
      });
      return `${JSON.stringify(operationId)}: { ${answers.join(' ')} };`;
    });
  return [...schemas, `export interface Answers { ${operations.join('\n')} }`].join('\n');
}

function typeOf(schema: Schema): string {
  const { $ref, type, properties, required = [], items, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '');
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (schema['enum']) return unionOf(schema['enum'].map((value: unknown) => JSON.stringify(value)));
  const choices: Schema[] | undefined = schema['oneOf'] ?? schema['anyOf'];
  if (choices) return unionOf(choices.map(typeOf));
  if (schema['allOf']) return schema['allOf'].map(typeOf).join(' & ');
  if (Array.isArray(type)) return unionOf(type.map((one) => typeOf({ ...schema, type: one })));
  if (type === 'array') return `(${items ? typeOf(items) : 'unknown'})[]`;
  if (type === 'integer') return 'number';
  if (properties) {
    const fields = Object.entries<Schema>(properties).map(
      ([name, property]) =>
        `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(property)};`,
    );
    return `{ ${fields.join(' ')} }`;
  }
  if (type === 'object' || additionalProperties !== undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    return `{ [name: string]: ${values} }`;
  }
  return type ?? 'unknown';
}

const unionOf = (types: string[]) => [...new Set(types)].map((type) => `(${type})`).join(' | ');

/** What the compiler has against this module. */
export function compilerFaults(text: string): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const getSourceFile: typeof host.getSourceFile = (file, target) =>
    file === MODULE ? ts.createSourceFile(file, text, target) : host.getSourceFile(file, target);
  const program = ts.createProgram([MODULE], options, { ...host, getSourceFile });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = start === undefined ? undefined : file?.getLineAndCharacterOfPosition(start).line;
    const source = line === undefined ? '' : text.split('\n')[line]!.trim();
    return `${ts.flattenDiagnosticMessageText(messageText, '\n')} ${source.slice(0, 200)}`;
  });
}

/** Where the module seems to be; it is not written. */
const MODULE = join(import.meta.dirname, 'client-in-memory.ts');
