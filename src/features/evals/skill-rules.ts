import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { CAPO_ROLES } from '../terms/index.js';
import type { Breach, Rule } from './rule.js';

/** The version of the schema below; a skill says by which one it is written. */
const SKILL_SCHEMA_VERSION = 1;

const described = { type: 'string', minLength: 1, maxLength: 1_000 };
const count = { type: 'integer', minimum: 0, maximum: 1_000_000 };
const scalar = { type: ['string', 'number', 'boolean'] };
const propertyName = {
  type: 'string',
  pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$',
  description: 'Begins with a letter; letters, digits and _, at most 64.',
};

/**
 * The shared schema of skills, published as docs/reference/skill.schema.json. Inputs and outputs are described in a part of
 * JSON Schema that forms, models and validators read alike: no references, no conditions, no patterns.
 */
export const SKILL_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'skill.schema.json',
  title: 'Skill',
  description: 'A skill of a skill pack: what a capo takes in, and what it hands out.',
  type: 'object',
  required: ['name', 'schemaVersion', 'capo', 'inputs', 'outputs'],
  additionalProperties: false,
  properties: {
    name: {
      description: 'In lower case letters, digits and hyphens, at most 64.',
      type: 'string',
      pattern: '^[a-z][a-z0-9-]{0,63}$',
    },
    description: { ...described, description: 'What it is for, for a person.' },
    instructions: {
      type: 'string',
      minLength: 1,
      maxLength: 4_000,
      description: 'What its capo is told whenever it drafts, at most 4,000 characters.',
    },
    schemaVersion: {
      description: 'The version of this schema that the skill is written by.',
      const: SKILL_SCHEMA_VERSION,
    },
    capo: { description: 'The capo that has the skill.', enum: [...CAPO_ROLES] },
    inputs: { description: 'What the skill is given.', $ref: '#/$defs/values' },
    outputs: { description: 'What the skill hands out.', $ref: '#/$defs/values' },
  },
  $defs: {
    values: {
      description: 'Values by name.',
      type: 'object',
      required: ['type', 'properties'],
      additionalProperties: false,
      properties: {
        type: { const: 'object' },
        description: described,
        properties: {
          type: 'object',
          maxProperties: 50,
          propertyNames: propertyName,
          additionalProperties: { $ref: '#/$defs/value' },
        },
        required: { type: 'array', maxItems: 50, uniqueItems: true, items: propertyName },
      },
    },
    value: {
      description: 'One value.',
      type: 'object',
      required: ['type'],
      additionalProperties: false,
      properties: {
        type: { enum: ['string', 'number', 'integer', 'boolean', 'array', 'object'] },
        description: described,
        enum: { type: 'array', minItems: 1, maxItems: 100, uniqueItems: true, items: scalar },
        default: scalar,
        format: { enum: ['email', 'uri', 'date', 'date-time'] },
        minimum: { type: 'number' },
        maximum: { type: 'number' },
        minLength: count,
        maxLength: count,
        minItems: count,
        maxItems: count,
        items: { $ref: '#/$defs/value' },
        properties: {
          type: 'object',
          maxProperties: 50,
          propertyNames: propertyName,
          additionalProperties: { $ref: '#/$defs/value' },
        },
        required: { type: 'array', maxItems: 50, uniqueItems: true, items: propertyName },
      },
    },
  },
} as const;

/** A definition as it came, of which nothing is known. */
export type SkillTarget = Readonly<Record<string, unknown>>;

/** A value that a definition describes, wherever it stands. */
interface Described {
  path: string;
  /** False for inputs and outputs themselves, and for the elements of a list. */
  isNamed: boolean;
  value: Record<string, unknown>;
}

export const SKILL_RULES: readonly Rule<SkillTarget>[] = [
  {
    id: 'skill.schema',
    severity: 'critical',
    reason: 'Neither a capo nor a person can read a skill that breaks the shared schema.',
    suggestion: 'Follow docs/reference/skill.schema.json.',
    check: (skill) => {
      const validate = validator();
      return validate(skill) ? [] : (validate.errors ?? []).map(breachOf);
    },
  },
  {
    id: 'skill.required_undeclared',
    severity: 'critical',
    reason: 'A value that is required and described nowhere can never be given.',
    suggestion: 'Describe the value in `properties`, or take it out of `required`.',
    check: (skill) =>
      everyValue(skill).flatMap(({ path, value }) => {
        const { required, properties } = value;
        if (!Array.isArray(required)) return [];
        return required
          .filter((name) => !isRecord(properties) || !Object.hasOwn(properties, String(name)))
          .map((name) => ({
            path: `${path}.required`,
            message: `"${String(name)}" is required and described nowhere.`,
            evidence: String(name),
          }));
      }),
  },
  {
    id: 'skill.empty_range',
    severity: 'critical',
    reason: 'Where the least is more than the most, no value fits.',
    suggestion: 'Correct the two bounds.',
    check: (skill) =>
      everyValue(skill).flatMap(({ path, value }) =>
        (
          [
            ['minimum', 'maximum'],
            ['minLength', 'maxLength'],
            ['minItems', 'maxItems'],
          ] as const
        ).flatMap(([least, most]) => {
          const [low, high] = [value[least], value[most]];
          if (typeof low !== 'number' || typeof high !== 'number' || low <= high) return [];
          return [
            { path: `${path}.${least}`, message: `${least} is more than ${most}.`, evidence: [low, high] },
          ];
        }),
      ),
  },
  {
    id: 'skill.unfit_choice',
    severity: 'critical',
    reason: 'A choice or default of another type than the value itself can never be given.',
    suggestion: 'Give `enum` and `default` values of the declared type, and the default one of the choices.',
    check: (skill) => everyValue(skill).flatMap(unfitChoices),
  },
  {
    id: 'skill.no_outputs',
    severity: 'warning',
    reason: 'A skill that hands out nothing leaves nobody anything to look at.',
    suggestion: 'Describe in `outputs.properties` what the skill hands out.',
    check: ({ outputs }) =>
      isRecord(outputs) && isRecord(outputs['properties']) && Object.keys(outputs['properties']).length === 0
        ? [{ path: 'outputs.properties', message: 'The skill hands out nothing.' }]
        : [],
  },
  {
    id: 'skill.undescribed',
    severity: 'info',
    reason: 'The people and programs that use a value must know its meaning.',
    suggestion: 'Add a `description`.',
    check: (skill) =>
      everyValue(skill)
        .filter(({ isNamed, value }) => isNamed && value['description'] === undefined)
        .map(({ path }) => ({ path, message: 'The value has no description.' })),
  },
];

let compiled: ValidateFunction | undefined;

/** Compiled when it is first needed, so that a start does not wait for it. Definitions are never compiled. */
function validator(): ValidateFunction {
  compiled ??= new Ajv2020({ allErrors: true, allowUnionTypes: true, verbose: true }).compile(SKILL_SCHEMA);
  return compiled;
}

function breachOf({ instancePath, message, params, keyword, parentSchema }: ErrorObject): Breach {
  const path = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const where = path === '' ? 'The skill' : `"${path}"`;
  // A person reads the rule in words.
  if (keyword === 'pattern') {
    const rule = String(parentSchema?.['description']);
    return { path, message: `${where} has a name that is not allowed. ${rule}` };
  }
  const named = keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : '';
  return { path, message: `${where} ${message ?? 'does not fit the schema'}${named}.`, evidence: params };
}

/** Bounds that no schema of ours comes near; a definition that does is refused by the schema. */
const MAX_DEPTH = 16;

/** The inputs, the outputs, and every value within them. */
function everyValue({ inputs, outputs }: SkillTarget): Described[] {
  return [...within('inputs', inputs), ...within('outputs', outputs)];
}

function within(path: string, value: unknown, isNamed = false, depth = 0): Described[] {
  if (!isRecord(value) || depth > MAX_DEPTH) return [];
  const { properties, items } = value;
  return [
    { path, isNamed, value },
    ...Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, each]) =>
      within(`${path}.properties.${name}`, each, true, depth + 1),
    ),
    ...within(`${path}.items`, items, false, depth + 1),
  ];
}

function unfitChoices({ path, value }: Described): Breach[] {
  const { type, enum: choices, default: preset } = value;
  const list: unknown[] = Array.isArray(choices) ? choices : [];
  const unfit = (name: string, each: unknown): Breach => ({
    path: `${path}.${name}`,
    message: `It is no ${String(type)}, or none of the choices.`,
    evidence: each,
  });
  return [
    ...list.filter((each) => !isOfType(each, type)).map((each) => unfit('enum', each)),
    ...(preset !== undefined && (!isOfType(preset, type) || (list.length > 0 && !list.includes(preset)))
      ? [unfit('default', preset)]
      : []),
  ];
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
