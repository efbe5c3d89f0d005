import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import {
  computeBeforehand,
  computedBeforehand,
  NeededBeforehand,
} from '../../platform/database/beforehand.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { defineError, type Fault } from '../../platform/kernel/define-error.js';
import { count, LIMIT } from '../../platform/kernel/error-details.js';
import {
  AlreadyExists,
  ContentChanged,
  InvalidTransition,
  NotFound,
  PreconditionRequired,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertTokenNames, isReservedToolName, isToolName, paramsHashOf } from '../terms/index.js';
import { contentOf, faultsOfContent, fingerprintOf, type ToolContent } from './tool.js';
import type { ToolEntity, ToolStatus } from './tool.entity.js';
import { faultsOfAnyParams, ToolParams, type ParamsVerdict } from './tool-params.js';
import type {
  ChangeToolBody,
  RegisterToolBody,
  ToolPage,
  ToolSummary,
  ToolsQuery,
  ToolView,
} from './tools.dto.js';
import { Tools } from './tools.repository.js';

const MAX_TOOLS = 500;
/** So that agents cannot fill the registry with what nobody has read. */
const MAX_PROPOSED = 100;

export const TooManyTools = defineError(
  'TOO_MANY_TOOLS',
  409,
  `A workspace has at most ${MAX_TOOLS} tools, of which ${MAX_PROPOSED} may be proposed; delete one first.`,
  { details: LIMIT.extend({ proposedLimit: count('How many of them may be proposed.', MAX_PROPOSED) }) },
);

type ToolAct = 'created' | 'proposed' | 'updated' | 'activated' | 'paused' | 'deleted';
const IN_A_SENTENCE: Record<ToolAct, string> = {
  created: 'registered',
  proposed: 'proposed',
  updated: 'changed',
  activated: 'activated',
  paused: 'paused',
  deleted: 'deleted',
};

/** The tools of agents that people have described, so that requests for them can be decided (CONTRACT section 7). */
@Injectable()
export class ToolsService {
  constructor(
    private readonly tools: Tools,
    private readonly params: ToolParams,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether the tool takes these parameters, computed with no transaction open; a tool that nobody has registered takes any.
   * @throws ValidationFailed for parameters that no tool may have, or not this one
   * @throws NeededBeforehand where it is not known yet
   */
  checkParams(
    tool: ToolEntity | undefined,
    params: Record<string, unknown>,
    by: Pick<Actor, 'id'>,
  ): 'fit' | 'timeout' {
    const faults = faultsOfAnyParams(params);
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    if (!tool) return 'fit';
    const { key, compute } = this.verdictOf(tool, params, by);
    const verdict: ParamsVerdict = computedBeforehand(key, compute);
    if (verdict.ok) return 'fit';
    if (verdict.timeout) return 'timeout';
    throw new ValidationFailed({ details: verdict.faults });
  }

  /** Computes what {@link checkParams} will ask for, unless the tool changes until then. */
  async checkParamsBeforehand(caller: Caller, name: unknown, params: unknown): Promise<void> {
    if (typeof name !== 'string' || faultsOfAnyParams(params).length > 0) return;
    const tool = await this.tools.find({ workspaceId: caller.workspaceId, teamIds: 'all' }, name);
    if (!tool) return;
    const { key, compute } = this.verdictOf(tool, params, actorOf(caller));
    await computeBeforehand(new NeededBeforehand(key, compute));
  }

  async list(caller: Caller, query: ToolsQuery): Promise<ToolPage> {
    const page = await this.tools.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(summaryOf) };
  }

  /** @throws NotFound */
  async get(caller: Caller, name: string): Promise<ToolView> {
    const tool = isToolName(name) ? await this.tools.find(scopeOf(caller), name) : undefined;
    if (!tool) throw new NotFound();
    return viewOf(tool);
  }

  /**
   * An admin's tool is active; anybody else's waits until an admin has read it. The same content again changes nothing, except that
   * an admin who registers what was proposed activates it.
   * @throws Forbidden, ValidationFailed, AlreadyExists, TooManyTools
   */
  async register(caller: Caller, body: RegisterToolBody): Promise<{ tool: ToolView; isNew: boolean }> {
    const { role, scopes } = caller;
    assertTokenNames(caller, body.name);
    const proposes = !hasRole(role, 'admin') || !(scopes?.includes('admin') ?? true);
    const content = contentOf(body.name, body);
    this.assertValid(caller, content);
    const { existing, total, proposed } = await this.tools.lockForAdding(body.name);
    const fingerprint = fingerprintOf(content);
    if (existing) {
      if (existing.fingerprint !== fingerprint) throw alreadyExists(existing);
      if (proposes || existing.status !== 'proposed') return { tool: viewOf(existing), isNew: false };
      const tool: ToolEntity = { ...existing, status: 'active', updatedAt: this.clock.now() };
      this.tools.update(tool);
      this.record(caller, 'activated', tool);
      return { tool: viewOf(tool), isNew: false };
    }
    if (total >= MAX_TOOLS || (proposes && proposed >= MAX_PROPOSED))
      throw new TooManyTools({ details: { limit: MAX_TOOLS, proposedLimit: MAX_PROPOSED } });
    const tool: ToolEntity = {
      ...content,
      workspaceId: caller.workspaceId,
      fingerprint,
      status: proposes ? 'proposed' : 'active',
      createdBy: actorOf(caller),
      updatedAt: this.clock.now(),
    };
    this.tools.add(tool);
    this.record(caller, proposes ? 'proposed' : 'created', tool);
    return { tool: viewOf(tool), isNew: true };
  }

  /**
   * An admin changes and activates what they have read; operators may pause it.
   * @throws Forbidden, NotFound, ValidationFailed, InvalidTransition, ContentChanged, PreconditionRequired
   */
  async change(
    caller: Caller,
    name: string,
    body: ChangeToolBody,
    ifMatch: string | null,
  ): Promise<ToolView> {
    const onlyPauses = isPause({ ...body });
    const before = await this.lock(name);
    if (!onlyPauses) requireRole(caller, null, 'admin', 'Only an admin may do more than pause a tool.');
    if (!onlyPauses && ifMatch === null) throw new PreconditionRequired({ message: NOT_NAMED });
    if (ifMatch !== null && ifMatch !== before.fingerprint)
      throw new ContentChanged({ details: { fingerprint: before.fingerprint } });
    const status = statusAfter(before.status, body.status);
    const content = contentOf(name, body, before);
    const fingerprint = fingerprintOf(content);
    const changed = fingerprint !== before.fingerprint;
    if (changed) this.assertValid(caller, content);
    if (!changed && status === before.status) return viewOf(before);
    const tool: ToolEntity = { ...before, ...content, fingerprint, status, updatedAt: this.clock.now() };
    this.tools.update(tool);
    if (changed) this.record(caller, 'updated', tool, { changed: changesOf(before, tool) });
    if (status !== before.status) this.record(caller, status === 'paused' ? 'paused' : 'activated', tool);
    return viewOf(tool);
  }

  /** Requests keep its name; the next one is for a tool that is not registered. @throws NotFound */
  async delete(caller: Caller, name: string): Promise<ToolView> {
    const tool = await this.lock(name);
    this.tools.remove(tool);
    this.record(caller, 'deleted', tool);
    return viewOf(tool);
  }

  private verdictOf(tool: ToolEntity, params: unknown, by: Pick<Actor, 'id'>) {
    const { name, fingerprint } = tool;
    const key = `tool params ${fingerprint} ${paramsHashOf(name, params)}`;
    return { key, compute: () => this.params.validate(tool, params, by.id) };
  }

  private async lock(name: string): Promise<ToolEntity> {
    const tool = isToolName(name) ? await this.tools.lock(name) : undefined;
    if (!tool) throw new NotFound();
    return tool;
  }

  /** The schema is checked in a process apart, for which no transaction waits. @throws ValidationFailed */
  private assertValid(caller: Caller, content: ToolContent): void {
    const { name, paramsSchema } = content;
    const faults: Fault[] = faultsOfContent(content);
    if (isReservedToolName(name)) {
      const message = `names that begin with ${name.split('.', 1)[0]} belong to our own action types`;
      faults.push({ path: 'name', rule: 'reserved', message });
    }
    const verdict: ParamsVerdict = computedBeforehand(
      `tool schema ${sha256(canonicalJson(paramsSchema))}`,
      () => this.params.checkSchema(paramsSchema, caller.workspaceId, actorOf(caller).id),
    );
    if (!verdict.ok) faults.push(...(verdict.faults ?? [TOO_SLOW]));
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
  }

  private record(caller: Caller, act: ToolAct, tool: ToolEntity, more: Record<string, unknown> = {}): void {
    this.receipts.append({
      actor: actorOf(caller),
      action: `tool.${act}`,
      entity: { type: 'tool', id: tool.name },
      summary: `${caller.name} ${IN_A_SENTENCE[act]} the tool ${tool.name}.`,
      details: { fingerprint: tool.fingerprint, status: tool.status, ...more },
    });
  }
}

const NOT_NAMED = 'If-Match must name the fingerprint of the tool as it was read.';
const TOO_SLOW: Fault = {
  path: 'paramsSchema',
  rule: 'timeout',
  message: 'paramsSchema takes too long to check; make it simpler',
};

/** A change that only stops: it takes no admin, and the tier never refuses it. */
export function isPause(body: Record<string, unknown>): boolean {
  const said = Object.entries(body).filter(([, value]) => value !== undefined);
  return said.length === 1 && body['status'] === 'paused';
}

/** What is only proposed always asks, so there is nothing to pause. @throws InvalidTransition */
function statusAfter(before: ToolStatus, wanted: ToolStatus | undefined): ToolStatus {
  if (before === 'proposed' && wanted === 'paused')
    throw new InvalidTransition({
      message: 'A proposed tool is not in use yet; an admin activates or deletes it.',
    });
  return wanted ?? before;
}

/** By the listing in its schema, a proxy knows a tool again whose texts or risk an admin has changed. */
function alreadyExists({ fingerprint, status, paramsSchema }: ToolEntity) {
  const message = 'A tool with this name and other content is registered already.';
  const listing = paramsSchema['x-fingerprint'];
  const details = { fingerprint, status, ...(typeof listing === 'string' && { listing }) };
  return new AlreadyExists({ message, details });
}

function changesOf(before: ToolContent, after: ToolContent): string[] {
  return Object.entries(after)
    .filter(([key, value]) => canonicalJson(value) !== canonicalJson(before[key as keyof ToolContent]))
    .map(([key]) => key)
    .filter((key) => !['fingerprint', 'status', 'updatedAt'].includes(key));
}

function summaryOf(tool: ToolEntity): ToolSummary {
  const { workspaceId: _workspaceId, description: _description, paramsSchema: _schema, ...summary } = tool;
  return summary;
}

function viewOf(tool: ToolEntity): ToolView {
  const { workspaceId: _workspaceId, ...view } = tool;
  return view;
}
