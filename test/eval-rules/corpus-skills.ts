import type { SkillTarget } from '../../src/features/evals/skill-rules.js';
import type { Cases } from './corpus-orders.js';

export const SKILL = {
  name: 'price-quote',
  schemaVersion: 1,
  capo: 'capo_revenue',
  inputs: {
    type: 'object',
    required: ['customer'],
    properties: {
      customer: { type: 'string', description: 'Who asks.', maxLength: 200 },
      items: {
        type: 'array',
        description: 'What is asked for.',
        maxItems: 20,
        items: { type: 'object', properties: { sku: { type: 'string', description: 'Its number.' } } },
      },
    },
  },
  outputs: { type: 'object', properties: { quote: { type: 'string', description: 'The quote, Markdown.' } } },
} as const;

const skill = (changes: object = {}): SkillTarget => ({ ...SKILL, ...changes });
const value = (definition: object): SkillTarget =>
  skill({ inputs: { type: 'object', properties: { size: { description: 'How large.', ...definition } } } });

export const SKILLS: Record<string, Cases<SkillTarget>> = {
  'skill.schema': {
    found: {
      'a property that there is not': skill({ secret: 'x' }),
      'no capo': skill({ capo: 'capo_nobody' }),
      'another version': skill({ schemaVersion: 2 }),
      'a name that is no name': skill({ name: 'Price Quote' }),
      'a keyword that nobody reads': value({ type: 'string', pattern: '(a+)+$' }),
      'a reference to elsewhere': value({ type: 'string', $ref: 'https://other.example/schema.json' }),
      nothing: {},
    },
    missed: { 'a description': skill({ description: 'Writes a quote.' }) },
  },
  'skill.required_undeclared': {
    found: {
      'a name that is described nowhere': skill({
        inputs: { ...SKILL.inputs, required: ['customer', 'budget'] },
      }),
    },
    missed: {
      'all that is described': skill({ inputs: { ...SKILL.inputs, required: ['customer', 'items'] } }),
    },
  },
  'skill.empty_range': {
    found: {
      'more at least than at most': value({ type: 'number', minimum: 2, maximum: 1 }),
      'longer at least than at most': value({ type: 'string', minLength: 9, maxLength: 8 }),
    },
    missed: { 'exactly one value': value({ type: 'number', minimum: 2, maximum: 2 }) },
  },
  'skill.unfit_choice': {
    found: {
      'a choice of another type': value({ type: 'integer', enum: [1, 2.5] }),
      'a default that is no choice': value({ type: 'string', enum: ['a', 'b'], default: 'c' }),
    },
    missed: { 'a default among the choices': value({ type: 'string', enum: ['a', 'b'], default: 'b' }) },
  },
  'skill.no_outputs': {
    found: { nothing: skill({ outputs: { type: 'object', properties: {} } }) },
    missed: { 'no inputs': skill({ inputs: { type: 'object', properties: {} } }) },
  },
  'skill.undescribed': {
    found: {
      'a value without a description': skill({
        outputs: { type: 'object', properties: { quote: { type: 'string' } } },
      }),
    },
    missed: { 'elements of a list': value({ type: 'array', items: { type: 'string' } }) },
  },
};
