import type { BootstrapView, SkillPackSummary } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useCapoNames, useMe } from '../me.js';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Loaded, Rows } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { InstallPack, STALE, Whole } from './install-pack.js';

/** The skill packs of the workspace: what each brought, and how it is installed, upgraded and removed. */
export function PacksPage() {
  const me = useMe();
  if (!me) return <p className="empty">Loading.</p>;
  return (
    <div className="page">
      <h1>Skill packs</h1>
      <p>
        A skill pack teaches the capos, the built-in assistants, a kind of work, and suggests the standing
        orders that go with it. A publisher signs it.
      </p>
      <How me={me} />
      <section aria-label="Packs">
        <h2>Packs</h2>
        <Listing<SkillPackSummary>
          queryKey={['skill_pack']}
          list={(page) => client.skillPacks.list(page)}
          empty="No skill pack yet."
          isUnderWay={({ status }) => status === 'installing'}
        >
          {(pack) => <Pack key={pack.packId} me={me} pack={pack} />}
        </Listing>
      </section>
    </div>
  );
}

function How({ me }: { me: BootstrapView }) {
  if (!mayAct(me, 'admin')) return <p className="quiet">Admins install and remove packs.</p>;
  if (me.features.skillPacks) return <InstallPack me={me} />;
  return (
    <p className="warning">
      None can be installed: whose packs are trusted here is not set. Set SKILL_PACK_PUBLISHERS on the server,
      and start the service again.
    </p>
  );
}

const STATES: Record<SkillPackSummary['status'], string> = {
  installing: 'being installed',
  installed: 'installed',
  failed: 'failed: the same file can be installed again',
  uninstalled: 'removed',
  revoked: 'revoked by its publisher',
};

function Pack({ me, pack }: { me: BootstrapView; pack: SkillPackSummary }) {
  const { packId, name, version, publisher, description, status, progress, reason } = pack;
  const { installedBy, installedAt, removedBy, removedAt } = pack;
  const [isOpen, setOpen] = useState(false);
  const isGone = status === 'uninstalled' || status === 'revoked';
  return (
    <li>
      <span className="title">
        {name} {version}
      </span>
      <span>{description}</span>
      <span className="facts">
        <span className={status === 'failed' || status === 'revoked' ? 'urgent' : 'count'}>
          {STATES[status]}
        </span>
        <span>by {publisher}</span>
        <span>
          installed by {installedBy.name} <Time at={installedAt} />
        </span>
        {removedBy !== null && removedAt !== null && (
          <span>
            removed by {removedBy.name} <Time at={removedAt} />
          </span>
        )}
      </span>
      {status === 'installing' && (
        <p role="status">
          {progress.done} of {progress.total} parts have arrived.{' '}
          <progress value={progress.done} max={progress.total} aria-label={`Parts of ${name}`} />
        </p>
      )}
      {reason !== null && <p className="warning">{reason}</p>}
      {status === 'revoked' && (
        <p>
          Its skills reach no further draft, and its orders are archived. Active orders that restrain stay
          until an admin archives them.
        </p>
      )}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>What {name} brought</summary>
        {isOpen && <Contents packId={packId} />}
      </details>
      {!isGone && mayAct(me, 'admin') && (
        <div className="row">
          <Act
            verb="Remove"
            of={name}
            effect="Its standing orders are archived, active ones that restrain capos too. Its skills reach no further draft. An older version cannot be installed later."
            isDanger
            act={() => client.skillPacks.uninstall(packId)}
            stale={STALE}
          />
        </div>
      )}
    </li>
  );
}

const PARTS: Record<string, string> = {
  waiting: 'on its way',
  arrived: 'arrived',
  archived: 'archived by now',
  kept: 'left out: somebody had archived it',
  refused: 'refused',
  leaving: 'on its way out',
  dropped: 'no longer in this version',
};

/** Its skills and standing orders, each with what became of it. */
function Contents({ packId }: { packId: string }) {
  const capoName = useCapoNames();
  const pack = useQuery({ queryKey: ['skill_pack', packId], queryFn: () => client.skillPacks.get(packId) });
  return (
    <Loaded query={pack}>
      {({ skills, standingOrders }) => (
        <>
          <h3>Standing orders</h3>
          <Rows items={standingOrders} empty="None.">
            {({ key, status, reason, standingOrderId }) => (
              <li key={key}>
                <span className="title">
                  {standingOrderId === null ? (
                    key
                  ) : (
                    <Link to="/orders/$standingOrderId" params={{ standingOrderId }}>
                      {key}
                    </Link>
                  )}
                </span>
                <span className="facts">
                  <span>{status === 'arrived' ? 'arrived as a draft' : (PARTS[status] ?? status)}</span>
                  {reason !== null && <span>{reason}</span>}
                </span>
              </li>
            )}
          </Rows>
          <h3>Skills</h3>
          <Rows items={skills} empty="None.">
            {({ name, capo, status, reason, score, definition }) => (
              <li key={name}>
                <span className="title">{name}</span>
                <span className="facts">
                  <span>{capoName(capo)}</span>
                  <span>{PARTS[status] ?? status}</span>
                  {score !== null && <span>evals {Math.round(score * 100)} %</span>}
                  {reason !== null && <span>{reason}</span>}
                </span>
                {definition !== null && <Whole name={name} of={definition} />}
              </li>
            )}
          </Rows>
        </>
      )}
    </Loaded>
  );
}
