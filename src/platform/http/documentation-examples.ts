import type { OpenAPIObject } from '@nestjs/swagger';

export type SchemaObject = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
export type Schemas = Record<string, SchemaObject>;
/** The keywords that examples are found by; the types of the library know JSON Schema less well than it writes it. */
interface Keywords {
  $ref?: string;
  type?: string | string[];
  example?: unknown;
  properties?: Schemas;
  required?: string[];
  items?: SchemaObject;
  anyOf?: SchemaObject[];
  oneOf?: SchemaObject[];
  allOf?: SchemaObject[];
}

/**
 * A value that fits the schema, put together from the examples that its properties declare beside themselves; what is
 * optional and declares none is left out, what may be null and declares none is null. Undefined when an example of
 * something required is missing.
 */
export function exampleOf(schema: SchemaObject, schemas: Schemas): unknown {
  const keywords = schema as Keywords;
  if (keywords.example !== undefined) return keywords.example;
  if (keywords.$ref !== undefined) return exampleOf(targetOf(keywords.$ref, schemas), schemas);
  const choices = keywords.anyOf ?? keywords.oneOf ?? keywords.allOf;
  if (choices)
    return choices.map((choice) => exampleOf(choice, schemas)).find((example) => example !== undefined);
  const types = [keywords.type ?? []].flat();
  if (keywords.properties) return objectOf(keywords, schemas);
  if (types.includes('null')) return null;
  if (types.includes('array') && keywords.items) {
    const item = exampleOf(keywords.items, schemas);
    return item === undefined ? undefined : [item];
  }
  return undefined;
}

function objectOf({ properties = {}, required = [] }: Keywords, schemas: Schemas): object | undefined {
  const example: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = exampleOf(property, schemas);
    const isRequired = required.includes(name);
    if (value === undefined && isRequired) return undefined;
    // An optional property that shows null would only say that it can be left out.
    if (value !== undefined && (isRequired || value !== null)) example[name] = value;
  }
  return example;
}

/** Whether a schema takes `{}`. */
export function isAllOptional(schema: SchemaObject, schemas: Schemas): boolean {
  const { $ref, required = [], oneOf, anyOf } = schema as Keywords;
  if ($ref !== undefined) return isAllOptional(targetOf($ref, schemas), schemas);
  const choices = oneOf ?? anyOf;
  if (choices) return choices.some((choice) => isAllOptional(choice, schemas));
  return required.length === 0;
}

function targetOf($ref: string, schemas: Schemas): SchemaObject {
  return schemas[$ref.replace('#/components/schemas/', '')] ?? {};
}
