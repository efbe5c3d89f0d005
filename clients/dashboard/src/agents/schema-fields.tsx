/** A parameter of a tool, as its JSON Schema describes it. */
interface Parameter {
  path: string;
  type: string;
  isRequired: boolean;
  said: string[];
}

/** Deeper ones are read in the JSON. */
const DEEPEST = 3;
const MOST = 100;

const LIMITS: Record<string, string> = {
  format: 'format',
  pattern: 'pattern',
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'above',
  exclusiveMaximum: 'below',
  minLength: 'characters at least',
  maxLength: 'characters at most',
  minItems: 'items at least',
  maxItems: 'items at most',
  const: 'always',
  default: 'left out',
};

/** Keywords that are shown, or say nothing about what is taken. */
const SHOWN = new Set([
  ...Object.keys(LIMITS),
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'title', 'description'],
  ...['$schema', '$id', '$comment', 'examples', 'x-fingerprint'],
]);
const MORE = 'It has more rules: see the JSON.';

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Alternatives, references and the like are read in the JSON. */
const saysMore = (schema: Schema) => Object.keys(schema).some((keyword) => !SHOWN.has(keyword));
const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The parameters of a schema, with those within objects and lists. */
function parametersOf(schema: Schema, prefix = '', depth = 1): Parameter[] {
  const { properties, required } = schema;
  if (!isSchema(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, given]) => {
    const property = isSchema(given) ? given : {};
    const items = isSchema(property['items']) ? property['items'] : undefined;
    const path = `${prefix}${name}`;
    const own = {
      path,
      type: typeOf(property, items),
      isRequired: needed.includes(name),
      said: [...saidOf(property), ...(saysMore(property) || (items && saysMore(items)) ? [MORE] : [])],
    };
    if (depth === DEEPEST) return [own];
    return [own, ...parametersOf(items ?? property, items ? `${path}[].` : `${path}.`, depth + 1)];
  });
}

function typeOf({ type, enum: values }: Schema, items: Schema | undefined): string {
  if (Array.isArray(values)) return `one of ${values.map(shown).join(', ')}`;
  if (items) return `list of ${typeOf(items, undefined)}`;
  return Array.isArray(type) ? type.map(shown).join(' or ') : type === undefined ? 'anything' : shown(type);
}

function saidOf(property: Schema): string[] {
  const { title, description } = property;
  const limits = Object.entries(LIMITS).flatMap(([keyword, words]) =>
    property[keyword] === undefined ? [] : [`${words} ${shown(property[keyword])}`],
  );
  return [...[title, description].filter((text) => typeof text === 'string'), ...limits];
}

/** What a tool takes, parameter by parameter, beside the JSON that says all of it. */
export function SchemaFields({ schema }: { schema: Schema }) {
  const parameters = parametersOf(schema);
  const isClosed = schema['additionalProperties'] === false;
  return (
    <>
      <h3>What it takes</h3>
      {parameters.length === 0 ? (
        !saysMore(schema) && (
          <p>{isClosed ? 'Nothing.' : 'The schema names no parameter: it takes whatever is given.'}</p>
        )
      ) : (
        <dl className="figures">
          {parameters.slice(0, MOST).map(({ path, type, isRequired, said }) => (
            <div key={path}>
              <dt>
                <code>{path}</code> {isRequired && <span className="count">required</span>}
              </dt>
              <dd>
                <span className="quiet">{type}</span>
                {said.map((text) => (
                  <p key={text}>{text}</p>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {parameters.length > MOST && <p>And {parameters.length - MOST} more, in the JSON.</p>}
      {saysMore(schema) && <p className="warning">{MORE}</p>}
      {parameters.length > 0 && !isClosed && (
        <p className="quiet">Parameters that are not named here are taken as well.</p>
      )}
    </>
  );
}
