import type { ConnectorsFile } from '../../platform/config/connectors-file.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import { type ConnectorFault, faultsOf } from './connector-faults.js';
import { type ConnectorContent, connectorsFile, type OperationContent } from './connectors-schema.js';
import type { Operation } from './operation.js';

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
