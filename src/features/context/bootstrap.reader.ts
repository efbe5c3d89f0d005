import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { SUPPORTED_VERSIONS } from '../../platform/http/api-version.js';
import { Clock } from '../../platform/kernel/clock.js';
import { tierLimitsOf } from '../../platform/rate-limit/limits.js';
import { type AgentFacts, AgentsReader } from '../agents/index.js';
import { CAPOS } from '../capos/index.js';
import { licenceStatus } from '../subscription/index.js';
import { lostStatement } from '../webhooks/index.js';
import type { BootstrapView } from './context.dto.js';

const BOOTSTRAP = /* sql */ `
select
  json_build_object('workspaceId', w.workspace_id, 'name', w.name, 'tier', w.tier, 'timezone', w.timezone,
    'locale', w.locale, 'currency', w.currency, 'presence', w.presence) as workspace,
  (select app.ms(expires_at) from licences where workspace_id = w.workspace_id) as licence_expires_at,
  (select coalesce(json_agg(json_build_object('teamId', t.team_id, 'name', t.name, 'slug', t.slug, 'role', m.role)
      order by t.name, t.team_id), '[]')
    from teams t left join team_members m
      on m.workspace_id = t.workspace_id and m.team_id = t.team_id and m.member_id = $2
    where t.workspace_id = w.workspace_id and t.archived_at is null and ($3 or m.member_id is not null)) as teams,
  json_build_object('mode', g.mode, 'epoch', g.epoch, 'pending', (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
    where split_part(key, ' ', 1) in ('pending', 'ready'))) as guardian,
  (select coalesce(json_agg(json_build_object('packId', p.pack_id, 'name', p.name, 'publisher', p.publisher,
      'version', p.version, 'status', p.status) order by p.name, p.pack_id), '[]')
    from skill_packs p where p.workspace_id = w.workspace_id and p.status in ('installing', 'installed', 'failed')) as packs,
  json_build_object(
    'directives', (select coalesce(sum(n), 0) from app.tally_of($1, 'directives') where split_part(key, ' ', 1)
      in ('pending_approval', 'queued', 'executing', 'sending', 'halted')),
    'approvals', (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
      where split_part(key, ' ', 1) in ('pending', 'ready')),
    'signals', coalesce((select n from app.tally_of($1, 'signals') where key = 'open'), 0)
      - (select count(*) from signals where workspace_id = w.workspace_id and withdrawn_at is null
        and acknowledged_at is null and snoozed_until > $4)) as counts
from workspaces w join guardians g using (workspace_id)
where w.workspace_id = $1`;

type Row = Pick<BootstrapView, 'teams' | 'guardian' | 'packs'> & {
  counts: Omit<BootstrapView['counts'], 'lostDeliveries'>;
  workspace: Omit<BootstrapView['workspace'], 'subscription'>;
  licenceExpiresAt: number | null;
};

/** `GET /bootstrap`: what a client needs to begin, in one round trip. */
@Injectable()
export class BootstrapReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly agents: AgentsReader,
  ) {}

  async read(caller: Caller): Promise<BootstrapView> {
    const { workspaceId, memberId, userId, name, email, role, scopes, tier } = caller;
    const scope = scopeOf(caller);
    const now = this.clock.now();
    const isAdmin = hasRole(role, 'admin');
    const [[row], facts, [counted] = []] = (await this.db.readAll(scope, [
      { text: BOOTSTRAP, values: [workspaceId, memberId, isAdmin, new Date(now)] },
      this.agents.statement(scope),
      ...(isAdmin ? [lostStatement(scope)] : []),
    ])) as [[Row], AgentFacts[], [{ lost: number }]?];
    const { workspace, licenceExpiresAt: expiresAt, counts, ...shared } = row;
    const licence = expiresAt === null ? 'none' : licenceStatus({ expiresAt }, now);
    return {
      workspace: { ...workspace, subscription: { status: licence, expiresAt } },
      ...shared,
      counts: { ...counts, lostDeliveries: counted?.lost ?? null },
      operator: { memberId, userId, handle: name, email },
      role,
      scopes: scopes && [...scopes],
      capos: this.agents.agentsOf(facts).map(({ role: capo, status }) => {
        const { name: called, engine, domain } = CAPOS[capo];
        return { role: capo, name: called, engine, domain: [...domain], status };
      }),
      limits: tierLimitsOf(tier),
      features: {
        model: this.config.modelProvider !== 'builtin',
        mailServer: this.config.mailTransport === 'smtp',
        licences: this.config.licencePublicKeys.length > 0,
        skillPacks: this.config.skillPackPublishers.length > 0,
        oidc: this.config.oidcIssuer !== undefined,
      },
      apiVersions: [...SUPPORTED_VERSIONS],
      serverTime: now,
    };
  }
}
