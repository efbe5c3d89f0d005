import { createHash } from 'node:crypto';
import { type APIError, type Consigliere, RateLimitError, UnprocessableError } from '@consigliere/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from './proxy-server.js';

type Json = Record<string, unknown>;

/** One text for one value, whatever the order of its members. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What starts other programs, or is called the same everywhere, and is no name for a server. */
const NO_NAME =
  /^(npx|npm|pnpm|pnpx|yarn|bunx|bun|deno|node|tsx|uvx?|pipx?|python[\d.]*|docker|podman|run|exec|dlx|x|env|cmd|c|sh|bash|index|main|server|cli|mcp|dist|build|src|lib|bin|out|)$/i;

/** A name for the server from its command: `npx -y @modelcontextprotocol/server-memory` is `server-memory`. */
export function serverNameOf(command: string, args: readonly string[] = []): string {
  const words = [command, ...args].filter((word) => !word.startsWith('-'));
  const partsOf = (word: string) =>
    word
      .replace(/(?<=.)@[^/@]*$/, '')
      .split(/[\\/]/)
      .map((part) => part.replace(/\.(exe|cmd|[cm]?[jt]s|py|sh)$/i, ''));
  const names = words.map((word) => partsOf(word).findLast((part) => !NO_NAME.test(part)) ?? '');
  // The program that starts the server stands before it, in a folder of some name.
  const isLauncher = NO_NAME.test(partsOf(command).at(-1)!);
  const name = names.slice(isLauncher ? 1 : 0).find((each) => each !== '') ?? 'server';
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64);
}

/** A server is one segment, so that no name of a tool can look like that of another server's. */
export function assertServerName(name: string): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new TypeError(
      `The name of the server must be 1 to 64 letters, digits, "-" or "_", and not ${JSON.stringify(name)}: give --name.`,
    );
  }
}

/** The methods that are asked for like tools; a tool of such a name is another thing. */
export const READ = 'resources/read';
export const SUBSCRIBE = 'resources/subscribe';

const PLAIN = /^[A-Za-z0-9_/-]{1,128}(\.[A-Za-z0-9_/-]{1,128}){0,5}$/;
const MADE = /-[0-9a-f]{16}$/;

/**
 * The name of a tool as a part of its name at Consigliere. What that cannot hold is replaced, and a hash added; what looks like such
 * a name by itself gets a hash too, so that no two tools have one name.
 */
export function segmentOf(tool: string): string {
  const isPlain = tool.length <= 180 && PLAIN.test(tool) && !MADE.test(tool);
  if (isPlain && tool !== READ && tool !== SUBSCRIBE) return tool;
  const shown = tool.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
  return `${shown}-${sha256(tool).slice(0, 16)}`;
}

/** The name under which a tool is asked for. */
export function toolNameOf(server: string, tool: string): string {
  return `mcp.${server}.${segmentOf(tool)}`;
}

/** A method that is asked for as if it were a tool. */
export function methodNameOf(server: string, method: typeof READ | typeof SUBSCRIBE): string {
  return `mcp.${server}.${method}`;
}

/** What a tool is proposed as. */
interface Proposal {
  name: string;
  title: string;
  description: string | null;
  reversibility: 'read_only' | 'reversible' | 'irreversible';
  risk: 'low' | 'medium' | 'high';
  paramsSchema: Json;
}

const KEYWORDS = new Set(
  (
    '$anchor $comment $defs $ref additionalProperties allOf anyOf const contains default definitions dependentRequired ' +
    'dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum format if items maxContains ' +
    'maximum maxItems maxLength maxProperties minContains minimum minItems minLength minProperties multipleOf not oneOf pattern ' +
    'patternProperties prefixItems properties propertyNames readOnly required then title type unevaluatedItems ' +
    'unevaluatedProperties uniqueItems writeOnly'
  ).split(' '),
);
const FORMATS = new Set(
  'date time date-time duration email hostname ipv4 ipv6 uri uri-reference uuid json-pointer'.split(' '),
);
const NAMED = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);
const NOT_SCHEMAS = new Set(['const', 'default', 'enum', 'examples', 'required', 'dependentRequired']);

/** Leaves out of a schema what Consigliere does not take: the server itself still checks all of it. */
function cleanSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cleanSchema);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      KEYWORDS.has(key) &&
      !(key === '$ref' && !String(value).startsWith('#')) &&
      !(key === 'format' && !FORMATS.has(String(value))),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (NOT_SCHEMAS.has(key)) return [key, value];
      if (key === 'description' || key === 'title') return [key, textOf(value, 2_000)];
      if (NAMED.has(key) && isObject(value)) {
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cleanSchema(one)])),
        ];
      }
      return [key, cleanSchema(value)];
    }),
  );
}

/** The names of the parameters, and nothing else of a schema. */
function namesOnly(schema: Json): Json {
  const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {});
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

/** Plain text that can be seen, cut to so many characters. */
function textOf(value: unknown, max: number, isLine = false): string {
  const text = (typeof value === 'string' ? value : '')
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, (each) =>
      each === '\n' || each === '\t' ? (isLine ? ' ' : each) : '',
    )
    .trim();
  return [...text].slice(0, max).join('').trim();
}

/**
 * The tools of a server as its lists have shown them. Each is proposed to Consigliere once; what is asked for carries the
 * fingerprint of the registered tool as long as the server lists it unchanged, and otherwise one that no tool has, which asks a person.
 */
export class ListedTools {
  readonly #client: Consigliere;
  readonly #server: string;
  readonly #log: (line: string) => void;
  /** No more proposals are taken, of this server or any other. */
  #isFull = false;
  readonly #listed = new Map<string, { listing: string; fingerprint: () => Promise<string> }>();

  constructor(client: Consigliere, server: string, log: (line: string) => void) {
    this.#client = client;
    this.#server = server;
    this.#log = log;
  }

  /** Takes a page of a list, and proposes what is new in it, one after the other. */
  list(tools: readonly unknown[]): void {
    const added = tools.filter((tool) => isObject(tool) && typeof tool['name'] === 'string');
    void this.#proposeEach(added.map((tool) => this.#add(proposalOfTool(this.#server, tool as Json))));
  }

  /** The methods of resources are asked for like tools, so they are proposed like tools. */
  listResources(canSubscribe: boolean): void {
    const methods = canSubscribe ? ([READ, SUBSCRIBE] as const) : ([READ] as const);
    void this.#proposeEach(methods.map((method) => this.#add(proposalOfMethod(this.#server, method))));
  }

  /** What a request for this tool carries as its fingerprint. */
  async fingerprintOf(name: string): Promise<string> {
    return (await this.#listed.get(name)?.fingerprint()) ?? UNKNOWN;
  }

  #add(made: { proposal: Proposal; listing: string }): () => Promise<string> {
    const { name } = made.proposal;
    const former = this.#listed.get(name);
    if (former?.listing === made.listing) return former.fingerprint;
    let proposed: Promise<string> | undefined;
    const fingerprint = () =>
      (proposed ??= this.#propose(made).catch((error: Error) => {
        const { status = 500, code } = error as Partial<APIError>;
        // What may be better by the next call is tried again by it.
        if (status >= 500 || status === 429) proposed = undefined;
        this.#isFull ||= code === 'TOO_MANY_TOOLS';
        this.#log(`The tool ${name} could not be proposed, so a call asks a person. ${error.message}`);
        return made.listing;
      }));
    this.#listed.set(name, { listing: made.listing, fingerprint });
    return fingerprint;
  }

  async #proposeEach(fingerprints: (() => Promise<string>)[]): Promise<void> {
    for (const fingerprint of fingerprints) if (!this.#isFull) await fingerprint();
  }

  /** @throws APIError, ConnectionError */
  async #propose({ proposal, listing }: { proposal: Proposal; listing: string }): Promise<string> {
    const schema = cleanSchema(proposal.paramsSchema) as Json;
    // The listing stands in the schema, so that it is known again where an admin has changed the rest.
    const made = (paramsSchema: Json) => ({
      ...proposal,
      paramsSchema: { ...paramsSchema, 'x-fingerprint': listing },
    });
    try {
      return await this.#post(made(schema)).catch((error: unknown) => {
        // A schema that Consigliere does not take, because of its size or a pattern, say.
        if (error instanceof UnprocessableError) return this.#post(made(namesOnly(schema)));
        throw error;
      });
    } catch (error) {
      const { code, details } = error as Partial<APIError>;
      if (code !== 'ALREADY_EXISTS' || !isObject(details)) throw error;
      if (details['listing'] === listing) return String(details['fingerprint']);
      this.#log(
        `The tool ${proposal.name} is registered otherwise than the server lists it: each call asks a person.`,
      );
      return listing;
    }
  }

  /** Waits once where too many were proposed a moment ago. @throws APIError, ConnectionError */
  async #post(proposal: Proposal): Promise<string> {
    const post = async () => (await this.#client.tools.create(proposal)).fingerprint;
    return post().catch(async (error: unknown) => {
      const seconds = error instanceof RateLimitError ? error.retryAfter : null;
      if (seconds === null || seconds > 60) throw error;
      await sleep(seconds * 1_000, undefined, { ref: false });
      return post();
    });
  }
}

/** The fingerprint of no tool. */
const UNKNOWN = sha256('A tool that the server has not listed.');

function proposalOfTool(server: string, tool: Json): { proposal: Proposal; listing: string } {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const hints = isObject(annotations) ? annotations : {};
  const isHarmless = hints['destructiveHint'] === false;
  const line = textOf(title ?? hints['title'] ?? name, 120, true);
  const proposal: Proposal = {
    name: toolNameOf(server, String(name)),
    title: line || toolNameOf(server, String(name)).slice(0, 120),
    description: textOf(description, 4_000) || null,
    // What the server says of itself counts for nothing until an admin has read it.
    ...(hints['readOnlyHint'] === true
      ? { reversibility: 'read_only', risk: 'low' }
      : isHarmless
        ? { reversibility: 'reversible', risk: 'medium' }
        : { reversibility: 'irreversible', risk: 'high' }),
    paramsSchema: { ...(isObject(inputSchema) ? inputSchema : {}), type: 'object' },
  };
  const listed = { name, title, description, inputSchema, outputSchema, annotations };
  return { proposal, listing: sha256(canonical(listed)) };
}

function proposalOfMethod(server: string, method: typeof READ | typeof SUBSCRIBE) {
  const proposal: Proposal = {
    name: methodNameOf(server, method),
    title: method === READ ? `Read a resource of ${server}` : `Subscribe to a resource of ${server}`,
    description: null,
    reversibility: 'read_only',
    risk: 'low',
    paramsSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
  };
  return { proposal, listing: sha256(canonical(proposal)) };
}
