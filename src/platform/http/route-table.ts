import { Injectable, RequestMethod, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { hasRole, type Role, ROLES } from '../auth/caller.js';
import { scopesWith, TOKEN_SCOPES, type TokenScope } from '../auth/token-scopes.js';
import { MUTATIONS, READS, type RouteLimit } from '../rate-limit/limits.js';
import { ROUTE, type RoutePolicy } from './route.js';

/** One handler with everything that admission needs to know about it. */
export interface RouteEntry {
  method: string;
  /** Every spelling, starting with `/`. */
  paths: string[];
  policy: RoutePolicy;
  role: Role;
  /** The roles that may call. */
  roles: Role[];
  /** What a limited token needs, and the scopes that include it. */
  scope: TokenScope;
  scopes: TokenScope[];
  limit: RouteLimit & { bucket: string };
  /** Wrapped in a transaction, with idempotency. */
  transactional: boolean;
  /** Whether the handler has a body of its own; any other takes none. */
  takesBody: boolean;
  handler: (...args: never[]) => unknown;
}

/** Every route of the program, read from its decorators when it starts. */
@Injectable()
export class RouteTable implements OnModuleInit {
  #entries: RouteEntry[] = [];
  readonly #byHandler = new Map<unknown, RouteEntry>();
  readonly #patterns: { pattern: RegExp; methods: Set<string> }[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const undeclared: string[] = [];
    for (const { instance, metatype } of this.discovery.getControllers()) {
      if (!instance || !metatype) continue;
      const prototype = Object.getPrototypeOf(instance);
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const handler = prototype[name];
        if (!Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
        const policy: RoutePolicy | undefined = Reflect.getMetadata(ROUTE, handler);
        if (!policy) undeclared.push(`${metatype.name}.${name}`);
        else this.add(entryOf(metatype, name, handler, policy));
      }
    }
    if (undeclared.length > 0) throw new Error(`handlers without @Route: ${undeclared.join(', ')}`);
  }

  /** All routes, by path and method. */
  get entries(): readonly RouteEntry[] {
    return this.#entries;
  }

  of(handler: unknown): RouteEntry {
    const entry = this.#byHandler.get(handler);
    if (!entry) throw new Error('a handler that is not in the route table');
    return entry;
  }

  /** The methods that this path takes; none when no route has the path. */
  methodsOf(path: string): string[] {
    const methods = new Set<string>();
    for (const route of this.#patterns) {
      if (route.pattern.test(path)) for (const method of route.methods) methods.add(method);
    }
    return [...methods].toSorted();
  }

  private add(entry: RouteEntry): void {
    this.#byHandler.set(entry.handler, entry);
    this.#entries = [...this.#entries, entry].toSorted(
      (a, b) => a.paths[0]!.localeCompare(b.paths[0]!) || a.method.localeCompare(b.method),
    );
    const methods = new Set(entry.method === 'GET' ? ['GET', 'HEAD'] : [entry.method]);
    for (const path of entry.paths) {
      this.#patterns.push({ pattern: new RegExp(`^${path.replace(/:[^/]+/g, '[^/]+')}/?$`), methods });
    }
  }
}

function entryOf(
  controller: { name: string },
  name: string,
  handler: RouteEntry['handler'],
  policy: RoutePolicy,
): RouteEntry {
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod]!;
  const reads = method === 'GET';
  const role = policy.role ?? 'viewer';
  const scope = policy.scope ?? (reads ? 'read' : hasRole(role, 'admin') ? 'admin' : 'operate');
  const limit = policy.limit ?? (reads ? READS : MUTATIONS);
  const bases = [Reflect.getMetadata(PATH_METADATA, controller)].flat() as string[];
  const own = [Reflect.getMetadata(PATH_METADATA, handler)].flat() as string[];
  return {
    method,
    paths: bases.flatMap((base) => own.map((path) => join(base, path))),
    policy,
    role,
    roles: ROLES.filter((candidate) => hasRole(candidate, role)),
    scope,
    scopes: policy.carries ? [...TOKEN_SCOPES] : scopesWith(reads ? [scope, 'read'] : [scope]),
    limit: { bucket: `${controller.name}.${name}`, ...limit },
    transactional: policy.transaction ?? (policy.auth === 'member' && !reads),
    takesBody: hasBody(controller, name),
    handler,
  };
}

function hasBody(controller: object, name: string): boolean {
  const parameters: object = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
  return Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.BODY}:`));
}

function join(base: string, path: string): string {
  return `/${[base, path]
    .map((part) => part.replace(/^\/|\/$/g, ''))
    .filter(Boolean)
    .join('/')}`;
}
