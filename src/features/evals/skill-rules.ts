import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Breach, Rule } from './rule.js';
import { SKILL_SCHEMA } from './skill-schema.js';

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
