import { UnseenWarning } from '../ui/unseen.js';

/** The forms of MCP elicitation: an object of texts, numbers, yes or no, and choices. */
export interface AnswerSchema {
  properties: Record<string, FieldSchema>;
  required?: string[];
}

interface Choice {
  const: string;
  title: string;
}

interface FieldSchema {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: string | number | boolean | string[];
  minLength?: number;
  maxLength?: number;
  format?: 'email' | 'uri' | 'date' | 'date-time';
  minimum?: number;
  maximum?: number;
  enum?: string[];
  enumNames?: string[];
  oneOf?: Choice[];
  items?: { enum?: string[]; anyOf?: Choice[] };
}

interface Given {
  name: string;
  field: FieldSchema;
  isRequired: boolean;
  isFirst: boolean;
  typed: string | undefined;
  onType: (value: string) => void;
}

const INPUTS = { email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const;
/** From this length on a text has several lines. */
const LONG = 200;

/** One field of an answer. */
export function AnswerField({ name, field, isRequired, isFirst, typed, onType }: Given) {
  const value = typed ?? defaultOf(field);
  const keys = isFirst ? 'e' : undefined;
  const label = (
    <>
      {field.title ?? name}
      {field.description && <span className="quiet"> {field.description}</span>}
    </>
  );
  const given = {
    value,
    required: isRequired,
    'aria-keyshortcuts': keys,
    onChange: ({ target }: { target: { value: string } }) => onType(target.value),
  };
  if (field.type === 'boolean') {
    return (
      <label className="check">
        <input
          type="checkbox"
          aria-keyshortcuts={keys}
          checked={value === 'true'}
          onChange={({ target }) => onType(String(target.checked))}
        />
        {label}
      </label>
    );
  }
  if (field.type === 'array') return <Several {...{ field, label: field.title ?? name, value, onType }} />;
  const choices = choicesOf(field);
  return (
    <label>
      {label}
      {choices ? (
        <select {...given}>
          <option value="">Choose</option>
          {choices.map((choice) => (
            <option key={choice.const} value={choice.const}>
              {titleOf(choice)}
            </option>
          ))}
        </select>
      ) : field.type !== 'string' ? (
        <input
          {...given}
          type="number"
          step={field.type === 'integer' ? 1 : 'any'}
          min={field.minimum}
          max={field.maximum}
        />
      ) : field.format === undefined && (field.maxLength ?? LONG) >= LONG ? (
        <textarea {...given} minLength={field.minLength} maxLength={field.maxLength} />
      ) : (
        <input
          {...given}
          type={field.format ? INPUTS[field.format] : 'text'}
          minLength={field.minLength}
          maxLength={field.maxLength}
        />
      )}
      <UnseenWarning text={value} />
    </label>
  );
}

function Several({
  field,
  label,
  value,
  onType,
}: {
  field: FieldSchema;
  label: string;
  value: string;
  onType: (value: string) => void;
}) {
  const chosen = JSON.parse(value || '[]') as string[];
  return (
    <fieldset>
      <legend>{label}</legend>
      {choicesOf(field.items ?? {})?.map((choice) => (
        <label key={choice.const} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(choice.const)}
            onChange={({ target }) =>
              onType(
                JSON.stringify(
                  target.checked ? [...chosen, choice.const] : chosen.filter((one) => one !== choice.const),
                ),
              )
            }
          />
          {titleOf(choice)}
        </label>
      ))}
    </fieldset>
  );
}

/** The answer as the schema wants it; what was left empty is left out. */
export function answerOf(
  { properties }: AnswerSchema,
  typed: Record<string, string>,
): Record<string, unknown> {
  const given = Object.entries(properties).flatMap(([name, field]) => {
    const value = typed[name] ?? defaultOf(field);
    if (field.type === 'boolean') return [[name, value === 'true']];
    if (value === '') return [];
    if (field.type === 'array') return [[name, JSON.parse(value)]];
    return [[name, field.type === 'string' ? value : Number(value)]];
  });
  return Object.fromEntries(given) as Record<string, unknown>;
}

function defaultOf({ default: given }: FieldSchema): string {
  if (given === undefined) return '';
  return Array.isArray(given) ? JSON.stringify(given) : String(given);
}

/** The agent reads the value, so a title alone could mislead. */
function titleOf({ const: value, title }: Choice): string {
  return title === value ? title : `${title} (answers “${value}”)`;
}

function choicesOf(field: {
  enum?: string[];
  enumNames?: string[];
  oneOf?: Choice[];
  anyOf?: Choice[];
}): Choice[] | undefined {
  return (
    field.oneOf ??
    field.anyOf ??
    field.enum?.map((value, at) => ({ const: value, title: field.enumNames?.[at] ?? value }))
  );
}
