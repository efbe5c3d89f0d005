import { type ConnectorsFile, isOwnVariable } from '../../platform/config/connectors-file.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import { checkDestination } from '../../platform/outbound/destination-rules.js';
import {
  type ConnectorContent,
  type OperationContent,
  type UndoContent,
  connectorsFile,
} from './connectors-schema.js';
import { placesIn, type Operation } from './operation.js';
import { checkOf, type ParamSchema } from './param-schema.js';

export interface ConnectorFault {
  path: string;
  message: string;
}

/** Names that a header of ours has, or that belong to the connection. */
const RESERVED_HEADERS =
  /^(host|connection|content-length|content-type|transfer-encoding|accept-encoding|idempotency-key|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** A shorter one would be found, and blotted out, in ordinary words. */
const MIN_SECRET_LENGTH = 8;

/** Every fault that the form of the file does not show, at its path. No value of a secret is repeated. */
function faultsOf(
  connectors: readonly ConnectorContent[],
  file: ConnectorsFile,
  outboundAllow: readonly string[],
): ConnectorFault[] {
  return [
    ...repeated(connectors, 'connectors'),
    ...connectors.flatMap((connector, index) =>
      new ConnectorCheck(connector, `connectors.${index}`, file, outboundAllow).faults(),
    ),
  ];
}

function repeated(named: readonly { name: string }[], at: string): ConnectorFault[] {
  return named.flatMap(({ name }, index) =>
    named.findIndex((other) => other.name === name) < index
      ? [{ path: `${at}.${index}.name`, message: `"${name}" is there twice` }]
      : [],
  );
}

/** What one part of a connector says about another, and about the world outside of the file. */
class ConnectorCheck {
  constructor(
    private readonly connector: ConnectorContent,
    private readonly at: string,
    private readonly file: ConnectorsFile,
    private readonly outboundAllow: readonly string[],
  ) {}

  faults(): ConnectorFault[] {
    const { operations } = this.connector;
    return [
      ...this.address(),
      ...this.headers(),
      ...this.check(),
      ...repeated(operations, `${this.at}.operations`),
      ...operations.flatMap((operation, index) =>
        this.operation(operation, `${this.at}.operations.${index}`),
      ),
    ];
  }

  private address(): ConnectorFault[] {
    const { baseUrl } = this.connector;
    const path = `${this.at}.baseUrl`;
    const verdict = checkDestination(baseUrl, { allow: this.outboundAllow, own: [] });
    if (!verdict.ok) return [{ path, message: verdict.message }];
    return /[?#{}]/.test(baseUrl) ? [{ path, message: 'must have no query, fragment or braces' }] : [];
  }

  /** What is called again and again, unasked, may change nothing. */
  private check(): ConnectorFault[] {
    const { check, operations } = this.connector;
    if (check === undefined) return [];
    const path = `${this.at}.check`;
    const operation = operations.find(({ name }) => name === check);
    if (!operation) return [{ path, message: `"${check}" is not an operation of this connector` }];
    if (!operation.readOnly)
      return [{ path, message: `"${check}" is not readOnly, and a check must change nothing` }];
    return operation.params.required?.length
      ? [{ path, message: `"${check}" requires parameters, and a check has none to give` }]
      : [];
  }

  private headers(): ConnectorFault[] {
    const { headers } = this.connector;
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    return Object.entries(headers).flatMap(([name, value], index): ConnectorFault[] => {
      const path = `${this.at}.headers.${name}`;
      if (!HEADER_NAME.test(name)) return [{ path, message: 'is not the name of a header' }];
      if (RESERVED_HEADERS.test(name)) return [{ path, message: 'is a header that the service sets itself' }];
      if (names.indexOf(name.toLowerCase()) < index) return [{ path, message: 'is there twice' }];
      return typeof value === 'string' ? [] : this.secret(value.env, `${path}.env`);
    });
  }

  private secret(variable: string, path: string): ConnectorFault[] {
    if (isOwnVariable(variable)) {
      return [{ path, message: `${variable} belongs to this service and is not sent to others` }];
    }
    const value = this.file.secret(variable);
    if (value === undefined) return [{ path, message: `${variable} is not set` }];
    if (!/^[\x20-\x7e]{1,4096}$/.test(value))
      return [{ path, message: `the value of ${variable} must be at most 4096 visible ASCII characters` }];
    return value.length < MIN_SECRET_LENGTH
      ? [{ path, message: `the value of ${variable} must have at least ${MIN_SECRET_LENGTH} characters` }]
      : [];
  }

  private operation(operation: OperationContent, at: string): ConnectorFault[] {
    return [
      ...this.required(operation, at),
      ...this.path(operation, at),
      ...this.query(operation, at),
      ...this.amount(operation, at),
      ...this.reversal(operation, at),
    ];
  }

  private required({ params }: OperationContent, at: string): ConnectorFault[] {
    return (params.required ?? []).flatMap((name, index) =>
      Object.hasOwn(params.properties, name)
        ? []
        : [{ path: `${at}.params.required.${index}`, message: `"${name}" is not among the properties` }],
    );
  }

  private path({ path, params }: OperationContent, at: string): ConnectorFault[] {
    const rest = path.replace(/\{[^{}]*\}/g, 'x');
    const fault = (message: string) => ({ path: `${at}.path`, message });
    return [
      ...(/[{}?#\\]/.test(rest) ? [fault('must have no query, fragment, backslash or single brace')] : []),
      ...(/(^|\/)\.{1,2}(\/|$)/.test(rest) ? [fault('must have no segment of dots')] : []),
      ...placesIn(path).flatMap((name) => {
        const schema = Object.hasOwn(params.properties, name) ? params.properties[name]! : undefined;
        const isGiven = schema && isScalar(schema) && params.required?.includes(name);
        return isGiven
          ? []
          : [fault(`{${name}} must be a required parameter that is a text, number or boolean`)];
      }),
    ];
  }

  /** A query has no lists or objects that every server reads alike. */
  private query({ method, params }: OperationContent, at: string): ConnectorFault[] {
    if (method !== 'GET' && method !== 'DELETE') return [];
    return Object.entries(params.properties).flatMap(([name, schema]) =>
      isScalar(schema)
        ? []
        : [
            {
              path: `${at}.params.properties.${name}`,
              message: `must be a text, number or boolean: it stands in the query of ${method}`,
            },
          ],
    );
  }

  private amount({ amount, params }: OperationContent, at: string): ConnectorFault[] {
    if (!amount) return [];
    return [amount.value, amount.currency].flatMap((source, index) =>
      source.startsWith('params.') && !schemaAt(params, source)
        ? [
            {
              path: `${at}.amount.${index === 0 ? 'value' : 'currency'}`,
              message: `${source} is not a parameter of this operation`,
            },
          ]
        : [],
    );
  }

  private reversal(operation: OperationContent, at: string): ConnectorFault[] {
    const { readOnly, onlyAsUndo, undo, method, name } = operation;
    if (readOnly) {
      if (undo || onlyAsUndo)
        return [
          { path: `${at}.readOnly`, message: 'an operation that changes nothing has no undo and is none' },
        ];
      return method === 'GET' || method === 'POST'
        ? []
        : [{ path: `${at}.readOnly`, message: `an operation with ${method} changes something` }];
    }
    if (onlyAsUndo) {
      if (undo)
        return [{ path: `${at}.undo`, message: 'an operation that is only called as an undo has none' }];
      const isUsed = this.connector.operations.some((other) => other.undo?.operation === name);
      return isUsed ? [] : [{ path: `${at}.onlyAsUndo`, message: 'it is the undo of no operation' }];
    }
    if (!undo) {
      const message =
        'it declares no undo: name the operation that takes it back, or set readOnly if it changes nothing';
      return [{ path: `${at}.undo`, message }];
    }
    return this.undo(operation, undo, `${at}.undo`);
  }

  private undo({ name, params }: OperationContent, undo: UndoContent, at: string): ConnectorFault[] {
    const other = this.connector.operations.find((each) => each.name === undo.operation);
    const path = `${at}.operation`;
    if (!other) return [{ path, message: `"${undo.operation}" is not an operation of this connector` }];
    if (other.name === name) return [{ path, message: 'an operation cannot undo itself' }];
    if (other.readOnly) return [{ path, message: `"${other.name}" is readOnly, so it undoes nothing` }];
    const missing = (other.params.required ?? []).filter((each) => !Object.hasOwn(undo.params, each));
    return [
      ...missing.map((each) => ({ path: `${at}.params.${each}`, message: `"${other.name}" requires it` })),
      ...Object.entries(undo.params).flatMap(([each, source]): ConnectorFault[] => {
        const taken = Object.hasOwn(other.params.properties, each)
          ? other.params.properties[each]!
          : undefined;
        const place = `${at}.params.${each}`;
        if (!taken) return [{ path: place, message: `is not a parameter of "${other.name}"` }];
        if (typeof source !== 'string')
          return checkOf(taken).safeParse(source.value).success
            ? []
            : [{ path: place, message: `"${other.name}" does not take this value` }];
        return source.startsWith('params.') && !schemaAt(params, source)
          ? [{ path: place, message: `${source} is not a parameter of this operation` }]
          : [];
      }),
    ];
  }
}

function isScalar({ type }: ParamSchema): boolean {
  return type !== 'array' && type !== 'object';
}

/** What the operation says of `params.a.b`; an item of a list counts as what all items are. */
function schemaAt(params: OperationContent['params'], path: string): ParamSchema | undefined {
  const [, ...steps] = path.split('.');
  return steps.reduce<ParamSchema | undefined>((schema, step) => {
    if (schema?.type === 'array') return /^\d+$/.test(step) ? schema.items : undefined;
    if (schema?.type !== 'object' || !Object.hasOwn(schema.properties, step)) return undefined;
    return schema.properties[step];
  }, params as ParamSchema);
}

/** A connector that is ready for use. Its headers hold secrets: they go into requests and nowhere else. */
export interface LoadedConnector {
  name: string;
  baseUrl: string;
  /** What is called to tell whether the service is well; null: nothing may be called for that. */
  check: Operation | null;
  /** `first`: the first workspace of the service. */
  workspaces: 'first' | 'all' | readonly string[];
  headers: Readonly<Record<string, string>>;
  /** What must never be written down. */
  secrets: readonly string[];
  /** What a draft may call. */
  operations: ReadonlyMap<string, Operation>;
  /** What undoes them; a draft cannot call it. */
  undos: ReadonlyMap<string, Operation>;
}

/** The file of connectors cannot be used; names every fault by its path and repeats no value of a secret. */
export class ConnectorsInvalid extends StartRefused {
  constructor(
    readonly file: string,
    readonly faults: readonly ConnectorFault[],
  ) {
    const lines = faults.map(({ path, message }) => `  ${path === '' ? 'the file' : path}: ${message}`);
    super(`The connectors file ${file} cannot be used:\n${lines.join('\n')}`);
  }
}

/**
 * The connectors of the file.
 * @throws ConnectorsInvalid naming every fault at once
 */
export function loadConnectors(
  file: ConnectorsFile,
  { outboundAllow }: { outboundAllow: readonly string[] },
): LoadedConnector[] {
  const parsed = connectorsFile.safeParse(file.content);
  if (!parsed.success) {
    throw new ConnectorsInvalid(
      file.path,
      parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })),
    );
  }
  const { connectors } = parsed.data;
  const faults = faultsOf(connectors, file, outboundAllow);
  if (faults.length > 0) throw new ConnectorsInvalid(file.path, faults);
  return connectors.map((connector) => loaded(connector, file));
}

function loaded(connector: ConnectorContent, file: ConnectorsFile): LoadedConnector {
  const { name, baseUrl, check, workspaces = 'first', headers, operations } = connector;
  const secrets = Object.values(headers).flatMap((value) =>
    typeof value === 'string' ? [] : [file.secret(value.env)!],
  );
  const all = operations.map((content) => ({ content, operation: operationOf(connector, content) }));
  const named = (list: typeof all) =>
    new Map(list.map(({ content, operation }) => [content.name, operation]));
  const isUndo = ({ name: each }: OperationContent) =>
    operations.some(({ undo }) => undo?.operation === each);
  return {
    name,
    baseUrl,
    check: all.find(({ content }) => content.name === check)?.operation ?? null,
    workspaces,
    headers: Object.fromEntries(
      Object.entries(headers).map(([header, value]) => [
        header,
        typeof value === 'string' ? value : (value.prefix ?? '') + file.secret(value.env)!,
      ]),
    ),
    secrets: [...new Set(secrets)],
    operations: named(all.filter(({ content }) => !content.onlyAsUndo)),
    undos: named(all.filter(({ content }) => isUndo(content))),
  };
}

function operationOf(connector: ConnectorContent, content: OperationContent): Operation {
  const { baseUrl } = connector;
  const { method, path, params, timeoutSeconds, idempotent, readOnly } = content;
  return {
    connector: connector.name,
    operation: content.name,
    description: content.description,
    method,
    url: new URL(baseUrl).href.replace(/\/$/, '') + path,
    params,
    timeoutMs: timeoutSeconds * 1_000,
    repeatable: idempotent || readOnly,
    hasKey: idempotent,
    readOnly,
    amount: content.amount ?? null,
    undo: content.undo ?? null,
    definition: definitionOf(connector, content),
  };
}

/** Whom it goes to, what it does and how it is undone; headers by their names and variables, never by their secrets. */
function definitionOf(
  { name, baseUrl, headers, operations }: ConnectorContent,
  content: OperationContent,
): string {
  const undo = operations.find((each) => each.name === content.undo?.operation) ?? null;
  return sha256(canonicalJson({ name, baseUrl, headers, operation: content, undo }));
}
