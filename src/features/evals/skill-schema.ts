import { CAPO_ROLES } from '../terms/index.js';

/** The version of the schema below; a skill says by which one it is written. */
const SKILL_SCHEMA_VERSION = 1;

const described = { type: 'string', minLength: 1, maxLength: 1_000 };
const count = { type: 'integer', minimum: 0, maximum: 1_000_000 };
const scalar = { type: ['string', 'number', 'boolean'] };
const named = {
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
          propertyNames: named,
          additionalProperties: { $ref: '#/$defs/value' },
        },
        required: { type: 'array', maxItems: 50, uniqueItems: true, items: named },
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
          propertyNames: named,
          additionalProperties: { $ref: '#/$defs/value' },
        },
        required: { type: 'array', maxItems: 50, uniqueItems: true, items: named },
      },
    },
  },
} as const;
