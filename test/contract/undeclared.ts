import type { Answer } from '../support/client.js';
import { type Operation, resolved, type Schema } from './operations.js';

/** The properties of an answer that the document does not name; a validator passes over them. */
export function undeclared({ responses }: Operation, { status, headers, body }: Answer): string[] {
  const type = headers.get('content-type')?.split(';')[0];
  const schema = type === undefined ? undefined : responses[status]?.content?.[type]?.schema;
  return schema === undefined ? [] : within(schema, body, '');
}

function within(schema: Schema, value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { oneOf, anyOf, items, properties, additionalProperties } = resolved(schema);
  const choices: Schema[] | undefined = oneOf ?? anyOf;
  if (choices) {
    const faults = choices
      .filter((choice) => resolved(choice).type !== 'null')
      .map((choice) => within(choice, value, path));
    return faults.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  if (Array.isArray(value)) {
    return items ? value.flatMap((item, index) => within(items, item, `${path}[${index}]`)) : [];
  }
  // An object of any content declares nothing.
  if (properties === undefined || additionalProperties === true) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    properties[name] === undefined ? [`${path}.${name}`] : within(properties[name], inner, `${path}.${name}`),
  );
}
