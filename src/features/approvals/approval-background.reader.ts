import { Injectable } from '@nestjs/common';
import {
  type Actor,
  type Caller,
  hasRole,
  peopleBehind,
  roleIn,
  scopeOf,
} from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import {
  type Evidence,
  evidenceIn,
  factsOf,
  holds,
  type PacketFact,
  PausedCapos,
  stringsIn,
} from '../capos/index.js';
import { type GuardianEntity, Guardians } from '../guardian/index.js';
import { canonicalDomain, domainsIn, type FieldCondition } from '../standing-orders/index.js';
import type { CapoRole } from '../terms/index.js';
import type { ApprovalEntity, ApprovalPacket } from './approval.entity.js';
import { assertApprover, assertOtherEyes, packetsOf } from './approval.js';
import type { ApprovalApprover, ApprovalBackground, ApprovalSource, Origin } from './approvals.dto.js';
import type { Holdups } from './waiting.js';

/** What keeps the approvals of a workspace waiting just now. */
@Injectable()
export class HoldupsReader {
  constructor(
    private readonly db: Db,
    private readonly guardians: Guardians,
    private readonly paused: PausedCapos,
  ) {}

  async read(scope: Scope): Promise<Holdups> {
    const [[guardian], paused] = (await this.db.readAll(scope, [
      this.guardians.readStatement(scope.workspaceId),
      this.paused.statement(scope.workspaceId),
    ])) as [[GuardianEntity], { capo: CapoRole; pausedBy: Actor }[]];
    return {
      mode: guardian.mode,
      paused: new Map(paused.map(({ capo, pausedBy }) => [capo, pausedBy.name])),
    };
  }
}

interface Row {
  directive: {
    text: string;
    context: unknown;
    wishes: string[] | null;
    by: { type: string; name: string };
  } | null;
  orders: NamedInOrder[];
  sender: unknown;
  approvers: ApprovalApprover[];
}

/** An order that allows or denies, with the conditions on its fields. */
interface NamedInOrder {
  name: string;
  effect: 'allow' | 'deny';
  fields: Readonly<Record<string, FieldCondition>>;
}

const MOST_APPROVERS = 50;
/** A person reads no more; what is unverified comes first. */
const MOST_SOURCES = 200;

const BACKGROUND = /* sql */ `
select
  (select json_build_object('text', d.text, 'context', d.context, 'by', d.created_by,
      'wishes', (select json_agg(f->>'text') from jsonb_array_elements(d.feedback) f))
    from directives d where d.workspace_id = w.workspace_id and d.directive_id = $2) as directive,
  (select coalesce(json_agg(o), '[]') from (
    select name, effect, match->'fields' as fields from standing_orders
    where workspace_id = w.workspace_id and status = 'active' and effect in ('allow', 'deny') and jsonb_typeof(match->'fields') = 'object'
      and (team_id is null or team_id = $3) and (expires_at is null or expires_at > now())
    order by created_at desc limit 50) o) as orders,
  json_build_array(w.name, w.sender_name, w.sender_signature, w.sender_reply_to) as sender,
  (select coalesce(json_agg(a), '[]') from (
    select m.member_id as "memberId", u.display_name as name
    from unnest(app.approvers_of(w.workspace_id, $3, 'operator', $4)) may
    join members m on m.member_id = may join users u on u.user_id = m.user_id
    where m.member_id <> all($5::text[]) order by u.display_name limit ${MOST_APPROVERS}) a) as approvers
from workspaces w where w.workspace_id = $1`;

/** What a person should know of an approval that waits: where its facts come from, who may approve it, and why the caller may not. */
@Injectable()
export class ApprovalBackgroundReader {
  constructor(private readonly db: Db) {}

  async read(caller: Caller, approval: ApprovalEntity): Promise<ApprovalBackground> {
    if (approval.status !== 'pending' || !approval.ready)
      return { sources: [], mayApprove: [], refusal: null };
    const { directiveId, teamId, approvers, selfApproval, requesterIds, votes } = approval;
    const [row] = await this.db.read<Row>(scopeOf(caller), BACKGROUND, [
      caller.workspaceId,
      directiveId,
      teamId,
      JSON.stringify(approvers),
      [...Object.keys(votes), ...(selfApproval ? [] : requesterIds)],
    ]);
    return {
      sources: sourcesOf(approval, row!),
      mayApprove: row!.approvers,
      refusal: refusalOf(caller, approval),
    };
  }
}

/** Each fact of the work packets with the first place that holds it. */
function sourcesOf(approval: ApprovalEntity, { directive, orders, sender }: Row): ApprovalSource[] {
  const isDelegated = directive !== null && directive.by.type !== 'member';
  const handedIn: Place[] = directive
    ? [
        placeOf(isDelegated ? 'delegation' : 'directive', directive.by.name, directive.text),
        placeOf('directive', null, directive.wishes),
        placeOf('context', null, directive.context),
      ]
    : [];
  const ours = [
    placeOf('workspace', null, sender),
    ...placesOf('standing_order', orders, 'allow'),
    ...placesOf('forbidden', orders, 'deny'),
  ];
  // What an agent hands in does not outweigh an order that forbids it.
  const places = isDelegated ? [...ours, ...handedIn] : [...handedIn, ...ours];
  const sources = packetsOf(approval).flatMap((packet) => {
    const { workPacketId, action } = packet;
    const writerOf = writersOf(packet, approval);
    const facts = factsOf(action).map((fact) => [`${fact.path} ${fact.text}`, fact] as const);
    // A recipient may be taken for an address or a link as well.
    return [...new Map(facts.toReversed()).values()].toReversed().map((fact): ApprovalSource => {
      const { path, kind, text } = fact;
      const { origin, name } = places.find((place) => place.holds(fact)) ?? writerOf(fact);
      return { workPacketId, path, kind, text, origin, name };
    });
  });
  const isUnverified = ({ origin }: ApprovalSource) => origin === 'unverified' || origin === 'forbidden';
  return sources.toSorted((a, b) => Number(isUnverified(b)) - Number(isUnverified(a))).slice(0, MOST_SOURCES);
}

interface Place {
  origin: Origin;
  name: string | null;
  holds: (fact: PacketFact) => boolean;
}

function placeOf(origin: Origin, name: string | null, holding: unknown): Place {
  const evidence = evidenceOf(holding);
  return { origin, name, holds: (fact) => holds(evidence, fact) };
}

/**
 * What the orders of an effect name in their fields. Their text decides nothing, and a number in a condition is a bound: neither
 * says where a fact comes from.
 */
function placesOf(origin: Origin, orders: readonly NamedInOrder[], effect: NamedInOrder['effect']): Place[] {
  return orders
    .filter((order) => order.effect === effect)
    .map(({ name, fields }) => {
      const conditions = Object.values(fields);
      const named = placeOf(
        origin,
        name,
        conditions.flatMap(({ $eq, $in = [] }) => [$eq, ...$in].filter((one) => typeof one === 'string')),
      );
      const domains = conditions.flatMap(({ $domainIn = [] }) => $domainIn.map(canonicalDomain));
      const isNamed = (domain?: string) => domain !== undefined && domains.includes(domain);
      // A text may hold several addresses: one that is forbidden is enough, and all have to be allowed.
      const isAtDomain = (reached: (string | undefined)[]) =>
        effect === 'deny' ? reached.some(isNamed) : reached.length > 0 && reached.every(isNamed);
      return {
        ...named,
        holds: (fact) => fact.kind !== 'amount' && (named.holds(fact) || isAtDomain(domainsOf(fact))),
      };
    });
}

function domainsOf({ kind, text }: PacketFact): (string | undefined)[] {
  return kind === 'recipient' || kind === 'mail address' ? domainsIn(text) : [];
}

function evidenceOf(holding: unknown): Evidence {
  return evidenceIn(stringsIn(holding).join('\n'));
}

/** Of a fact that stands nowhere: a person has written it into the draft, the service has counted it, or nobody knows. */
function writersOf(
  { workPacketId, edits, writtenBy }: ApprovalPacket,
  { revisions }: ApprovalEntity,
): (fact: PacketFact) => Pick<Place, 'origin' | 'name'> {
  const changes = revisions.flatMap(({ by, changes: all }) =>
    all.filter((change) => change.workPacketId === workPacketId).map((change) => ({ ...change, by })),
  );
  const added = changes.find(({ change }) => change === 'added');
  if (added) return () => ({ origin: 'person', name: added.by.name });
  const edited = edits.map(({ path, by }) => {
    const drafted = changes.map(({ before }) => before[path]).find((value) => value !== undefined);
    return { path, name: by.name, drafted: evidenceOf(drafted) };
  });
  return (fact) => {
    const edit = edited.find(({ path }) => path === fact.path);
    if (edit && !holds(edit.drafted, fact)) return { origin: 'person', name: edit.name };
    // The built-in runner makes nothing up: a figure that nobody gave it is one of the workspace.
    const isCounted = writtenBy === 'capo' && fact.kind === 'amount';
    return { origin: isCounted ? 'workspace' : 'unverified', name: null };
  };
}

/** Why the caller may not approve it; null: they may. */
function refusalOf(caller: Caller, approval: ApprovalEntity): string | null {
  const { memberId } = caller;
  const role = roleIn(caller, approval.teamId);
  if (!hasRole(role, 'operator')) return 'You may read this. Deciding needs the role operator.';
  if (Object.hasOwn(approval.votes, memberId)) {
    return 'You have approved this. Somebody else has to approve it too.';
  }
  const people = peopleBehind(caller);
  try {
    assertOtherEyes(approval, people);
    assertApprover(approval, { memberId, role, people });
    return null;
  } catch (error) {
    if (error instanceof Forbidden) return error.message;
    throw error;
  }
}
