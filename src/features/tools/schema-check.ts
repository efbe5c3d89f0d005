import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats, { type FormatName } from 'ajv-formats';
import { RE2JS } from 're2js';
import { type Fault, MAX_DETAILS } from '../../platform/kernel/define-error.js';
import { cutText } from '../../platform/kernel/text.js';

/**
 * Checks a stranger's schema, and parameters against it. It runs in a process apart and never in the event loop (tool-params.ts):
 * a schema is turned into a program, and there is always one more that takes too long.
 */

type Schema = Record<string, unknown>;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const FORMATS: FormatName[] = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
];

/** Where the schemas within a schema are. */
const ONE =
  'additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties';
const LISTED = 'allOf anyOf oneOf prefixItems';
const NAMED = '$defs definitions dependentSchemas patternProperties properties';
const PLAIN =
  '$anchor $comment $ref $schema const contentEncoding contentMediaType default dependentRequired deprecated description ' +
  'enum examples exclusiveMaximum exclusiveMinimum format maxContains maximum maxItems maxLength maxProperties minContains ' +
  'minimum minItems minLength minProperties multipleOf pattern readOnly required title type uniqueItems writeOnly';
const [one, listed, named, plain] = [ONE, LISTED, NAMED, PLAIN].map((words) => new Set(words.split(' '))) as [
  Set<string>,
  Set<string>,
  Set<string>,
  Set<string>,
];
/** They change what another `$ref` means, or name a schema somewhere else. */
const REFUSED = new Set(['$id', '$dynamicRef', '$dynamicAnchor', '$vocabulary', '$recursiveRef']);

const meta = new Ajv2020({ strict: false, allErrors: true });

/** Every fault of a schema; none when parameters can be checked against it. */
export function faultsOfSchema(schema: Schema): Fault[] {
  const faults = [...rootFaults(schema), ...keywordFaults(schema, 'paramsSchema')];
  if (faults.length > 0) return faults.slice(0, MAX_DETAILS);
  if (meta.validateSchema(schema) !== true) return faultsOf(meta.errors, 'paramsSchema');
  try {
    // A schema that refers to itself without end, or takes exponential time, is only found by using it.
    const validate = compiled(schema);
    const names = Object.keys(schema['properties'] ?? {});
    for (const value of [null, '', 1, [], {}])
      validate(Object.fromEntries(names.map((name) => [name, value])));
    return [];
  } catch (error) {
    const endless = error instanceof RangeError;
    const message = endless
      ? 'paramsSchema refers to itself without end'
      : `paramsSchema: ${messageOf(error)}`;
    return [{ path: 'paramsSchema', rule: endless ? 'endless' : 'schema', message }];
  }
}

/** Every fault of the parameters, under paths such as `params.customer.email`. */
export function faultsOfParams(schema: Schema, params: unknown): Fault[] {
  const validate = validatorOf(schema);
  return validate(params) ? [] : faultsOf(validate.errors, 'params');
}

/** Schemas are few and used often; a compiled one is kept by its text. */
const kept = new Map<string, ValidateFunction>();
const KEPT = 200;

function validatorOf(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = kept.get(text) ?? compiled(schema);
  kept.delete(text);
  kept.set(text, validate);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return validate;
}

function compiled(schema: Schema): ValidateFunction {
  // One for each schema, so that none can refer to another.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    ownProperties: true,
    messages: true,
    logger: false,
    code: { regExp: Object.assign(linear, { code: 'linear' }) },
  });
  addFormats.default(ajv, { mode: 'fast', formats: FORMATS });
  return ajv.compile(closed(schema));
}

/**
 * What a tool does not declare is refused, though its schema forgets to say so, or says that anything goes: that declares
 * nothing that a person could have read.
 */
function closed(schema: Schema): Schema {
  const said = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === 'additionalProperties' || key === 'unevaluatedProperties') ||
      !(value === true || JSON.stringify(value) === '{}'),
  );
  return { unevaluatedProperties: false, ...Object.fromEntries(said) };
}

/** An engine whose time grows with the text alone; those of JavaScript can take for ever. */
function linear(pattern: string) {
  const expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text: string) => expression.matcher(text).find(), toString: () => pattern };
}

function rootFaults({ $schema, type }: Schema): Fault[] {
  const faults: Fault[] = [];
  if ($schema !== undefined && $schema !== DIALECT) {
    const message = `paramsSchema must be JSON Schema 2020-12: leave $schema out, or say ${DIALECT}`;
    faults.push({ path: 'paramsSchema.$schema', rule: 'dialect', message });
  }
  if (type !== 'object') {
    const message = 'paramsSchema must have the type "object": parameters are named';
    faults.push({ path: 'paramsSchema.type', rule: 'type', message });
  }
  return faults;
}

/** A misspelled keyword would restrict nothing, in silence. */
function keywordFaults(schema: unknown, path: string): Fault[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]): Fault[] => {
    const at = `${path}.${key}`;
    if (one.has(key)) return keywordFaults(value, at);
    if (listed.has(key) && Array.isArray(value))
      return value.flatMap((each, index) => keywordFaults(each, `${at}.${index}`));
    if (named.has(key) && typeof value === 'object' && value !== null)
      return Object.entries(value).flatMap(([name, each]) => [
        ...(key === 'patternProperties' ? patternFault(name, `${at}.${name}`) : []),
        ...keywordFaults(each, `${at}.${name}`),
      ]);
    if (REFUSED.has(key))
      return [{ path: at, rule: 'refused', message: `${key} is not allowed in the schema of a tool` }];
    if (key === '$ref' && typeof value === 'string' && !value.startsWith('#'))
      return [
        { path: at, rule: 'localRef', message: '$ref must refer to this schema, as #/$defs/address does' },
      ];
    if (key === 'pattern' && typeof value === 'string') return patternFault(value, at);
    if (key === 'format' && typeof value === 'string' && !(FORMATS as string[]).includes(value))
      return [{ path: at, rule: 'format', message: `format must be one of ${FORMATS.join(', ')}` }];
    if (plain.has(key) || listed.has(key) || named.has(key) || key.startsWith('x-')) return [];
    return [{ path: at, rule: 'keyword', message: `${key} is not a keyword of JSON Schema 2020-12` }];
  });
}

function patternFault(pattern: string, path: string): Fault[] {
  try {
    linear(pattern);
    return [];
  } catch (error) {
    const message = `the pattern must be one that RE2 can match in linear time: ${messageOf(error)}`;
    return [{ path, rule: 'pattern', message }];
  }
}

function faultsOf(errors: readonly ErrorObject[] | null | undefined, root: string): Fault[] {
  return (errors ?? []).slice(0, MAX_DETAILS).map((error) => faultOf(error, root));
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject, root: string): Fault {
  const steps = instancePath.split('/').slice(1);
  const name: unknown =
    params['unevaluatedProperty'] ?? params['additionalProperty'] ?? params['missingProperty'];
  if (typeof name === 'string') steps.push(name);
  const path = [root, ...steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))].join('.');
  if (params['missingProperty'] !== undefined) return { path, rule: keyword, message: `${path} is missing` };
  if (typeof name === 'string')
    return { path, rule: 'unknownProperty', message: `${path} is not declared by the tool` };
  const allowed: unknown = params['allowedValues'] ?? params['allowedValue'];
  const values = allowed === undefined ? '' : `: ${cutText(JSON.stringify(allowed), 300)}`;
  return { path, rule: keyword, message: `${path} ${message ?? 'is not valid'}${values}` };
}

function messageOf(error: unknown): string {
  return cutText(error instanceof Error ? error.message : String(error), 300);
}
