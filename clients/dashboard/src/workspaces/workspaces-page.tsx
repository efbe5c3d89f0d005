import type { BootstrapView, ListedWorkspace, NewWorkspaceBody } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { Outcome } from '../people/invite.js';
import { admin } from '../session.js';
import { Options } from '../setup/workspace.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Listing } from '../ui/listing.js';
import { Loaded } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { ZoneField } from '../ui/zone-field.js';
import { ThisWorkspace } from './this-workspace.js';

/** The export and the end of a workspace; and for the owners of the first one, the others. */
export function WorkspacesPage() {
  const me = useMe();
  const isOwner = mayAct(me, 'owner');
  const workspace = useQuery({
    queryKey: ['workspace', 'own'],
    queryFn: () => admin.workspace.get(),
    enabled: isOwner,
  });
  if (!me) return <p className="empty">Loading.</p>;
  return (
    <div className="page">
      <h1>Workspaces</h1>
      {isOwner ? (
        <Loaded query={workspace}>
          {(data) => (
            <>
              <ThisWorkspace workspace={data} />
              {data.isFirst && <Others me={me} />}
            </>
          )}
        </Loaded>
      ) : (
        <p className="empty">Owners export and delete a workspace. Ask one of them.</p>
      )}
    </div>
  );
}

function Others({ me }: { me: BootstrapView }) {
  return (
    <>
      <Make me={me} />
      <section aria-label="All workspaces">
        <h2>All workspaces of this service</h2>
        <Listing<ListedWorkspace>
          queryKey={['workspace', 'all']}
          list={(page) => admin.workspaces.list(page)}
          empty="None."
        >
          {(workspace) => <Listed key={workspace.workspaceId} me={me} workspace={workspace} />}
        </Listing>
      </section>
    </>
  );
}

type Texts = Record<string, string>;

function ownerOf({ ownerEmail, ownerName }: Texts) {
  return { ownerEmail: ownerEmail!, ...(ownerName && { ownerName }) };
}

function OwnerFields() {
  return (
    <>
      <Field label="Email address of its owner">
        <input name="ownerEmail" type="email" required maxLength={254} autoComplete="off" />
      </Field>
      <Field label="Name of its owner" hint="optional">
        <input name="ownerName" maxLength={80} autoComplete="off" />
      </Field>
    </>
  );
}

/** Where licences are issued, the tier of a workspace comes from its licence. */
function Make({ me }: { me: BootstrapView }) {
  const [invite, setInvite] = useState<Parameters<typeof Outcome>[0]['done']>();
  return (
    <section aria-label="Make a workspace">
      <h2>Make a workspace</h2>
      <Form
        about="new workspace"
        verb="Make the workspace"
        act={({ name, tier, timezone, currency, ...owner }) =>
          admin.workspaces.create({
            name: name!,
            ...ownerOf(owner),
            ...(tier && { tier: tier as NonNullable<NewWorkspaceBody['tier']> }),
            timezone: timezone!,
            currency: currency!,
          })
        }
        stale={['workspace']}
        onDone={(made) => setInvite({ invite: made.invite })}
      >
        <p className="quiet">
          Its owner is invited by mail. You do not become a member and see nothing in it.
        </p>
        <Field label="Name of the new workspace">
          <input name="name" required maxLength={60} autoComplete="off" />
        </Field>
        <OwnerFields />
        {!me.features.licences && (
          <Field label="Tier">
            <Options
              name="tier"
              chosen={me.workspace.tier}
              options={new Set(['free', 'pro', 'enterprise'])}
            />
          </Field>
        )}
        <ZoneField label="Time zone" zone={me.workspace.timezone} isRequired />
        <Field label="Currency">
          <Options
            name="currency"
            chosen={me.workspace.currency}
            options={new Set(Intl.supportedValuesOf('currency'))}
          />
        </Field>
      </Form>
      {invite && <Outcome done={invite} hasMailServer={me.features.mailServer} />}
    </section>
  );
}

const STATES: Record<ListedWorkspace['state'], string> = {
  active: 'active',
  invited: 'nobody has joined yet',
  deleting: 'going to be deleted',
};

function Listed({ me, workspace }: { me: BootstrapView; workspace: ListedWorkspace }) {
  const { workspaceId, name, tier, state, members, createdAt, deleteAt } = workspace;
  return (
    <li>
      <span className="title">
        {name} {workspaceId === me.workspace.workspaceId && '(this one)'}
      </span>
      <span className="facts">
        <span className={state === 'deleting' ? 'urgent' : 'count'}>{STATES[state]}</span>
        <span>{tier}</span>
        <span>{members === 1 ? '1 member' : `${members} members`}</span>
        <span>
          made <Time at={createdAt} />
        </span>
        {deleteAt !== null && (
          <span>
            deleted <Time at={deleteAt} />
          </span>
        )}
        <code>{workspaceId}</code>
      </span>
      {state === 'invited' && (
        <Act
          verb="Invite an owner again"
          of={`for ${name}`}
          id={workspaceId}
          effect="A mail with a new link goes out, to the same person or another. Earlier links no longer work."
          act={(texts) => admin.workspaces.invite(workspaceId, ownerOf(texts))}
          stale={['workspace']}
        >
          <OwnerFields />
        </Act>
      )}
    </li>
  );
}
